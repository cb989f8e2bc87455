import type { FailureReason } from "../../../base/wire/failure.ts";
import type { ReleaseReason } from "../../api/reasons.ts";
import type { PlannedPod, PlanWorkload, WorkloadPlan } from "./pod.ts";
import { formatDuration } from "../../../base/pure/duration.ts";
import { isCurrent, isReady } from "./classify.ts";
import { crashText, isCrashLoop } from "./crash.ts";

/** How a rollout stands. `going` says nothing yet. `reasons` are words for programs, the most general first. */
export type Verdict =
  | { outcome: "done" }
  | { outcome: "going" }
  | { outcome: "failed"; reasons: [ReleaseReason, ...ReleaseReason[]]; message: string };

export interface VerdictInput {
  plan: WorkloadPlan;
  workload: PlanWorkload;
  pods: readonly PlannedPod[];
  /** When the rollout last got further, or began; on the clock of `now`. */
  movedAt: number;
  /** The error of the last round; `lasting`: its process cannot be started, however often it is tried. */
  lastError: { reason: FailureReason; message: string; attempts: number; lasting: boolean } | undefined;
  /** What the guard found in the requests of the new replicas, see `guardFault`. */
  guardFault?: string | undefined;
  /** Part of an apply that keeps all of its changes or none, and that others wait for. */
  isAtomic?: boolean;
  now: number;
}

/** Tries after which a process that cannot be started is given up. */
const startsTolerated = 2;

/** Tries after which an atomic apply gives up what a person has to fix: when a plain apply ends its wait, too. */
const atomicTolerated = 3;

/** Fixed by a person, in the manifests or on the machine; the others of `FailureReason` may pass by themselves. */
const mendedByHand: readonly FailureReason[] = [
  "ImagePull",
  "ImageMissing",
  "RegistryAuth",
  "VolumeMissing",
  "VolumeForeign",
  "MountMissing",
  "StartFailed",
];

/**
 * Whether new replicas came up, may yet, or never will. What cannot be started at all, and a kill for want of memory,
 * end a rollout at once; a crash loop once it fits the two fields of the rollout block; everything else, a registry
 * that is away for instance, has until the progress deadline, and in an atomic apply a few tries. What visitors saw of
 * replicas that are up ends it as well.
 * The message names the rule.
 */
export function verdictOf(input: VerdictInput): Verdict {
  const { plan, workload, pods, movedAt, lastError, guardFault, isAtomic = false, now } = input;
  if (guardFault !== undefined) return { outcome: "failed", reasons: ["GuardTripped"], message: guardFault };
  if (plan.done) return { outcome: "done" };
  const fresh = freshOf(pods, workload);
  const starved = fresh.find((pod) => pod.oomKilled && !pod.ready);
  if (starved !== undefined) {
    return { outcome: "failed", reasons: ["OutOfMemory"], message: `${starved.containerName} ran out of memory` };
  }
  const crashing = fresh.find((pod) => !pod.ready && isCrashLoop(pod, workload.rollout, now));
  if (crashing !== undefined) {
    return { outcome: "failed", reasons: ["CrashLoop"], message: loopText(crashing, workload.rollout, now) };
  }
  const hopeless = fresh.find((pod) => pod.cannotStart !== undefined && !pod.ready);
  if (hopeless !== undefined) {
    return {
      outcome: "failed",
      reasons: ["StartFailed"],
      message: `${hopeless.containerName}: ${hopeless.cannotStart}`,
    };
  }
  if (lastError?.lasting && lastError.attempts >= startsTolerated) {
    return { outcome: "failed", reasons: ["StartFailed"], message: lastError.message };
  }
  if (isAtomic && lastError !== undefined && isHopeless(lastError)) {
    return { outcome: "failed", reasons: [lastError.reason], message: lastError.message };
  }
  const deadlineMs = workload.rollout.progressDeadlineMs;
  if (now - movedAt < deadlineMs) return { outcome: "going" };
  const why = lastError?.message ?? plan.waitingFor ?? "not settled";
  return {
    outcome: "failed",
    reasons: ["ProgressDeadline", ...beneath(lastError, fresh)],
    message: `not ready within the progress deadline of ${Math.round(deadlineMs / 1000)} s: ${why}`,
  };
}

/** Pods of the wanted spec that are to stay. */
function freshOf(pods: readonly PlannedPod[], workload: PlanWorkload): PlannedPod[] {
  return pods.filter(
    (pod) =>
      pod.role === undefined && !pod.frozen && !pod.departing && pod.held === undefined && isCurrent(pod, workload),
  );
}

/**
 * Whether a rollout waits for nothing but old replicas that are drained and stopped: beside a new one that does not come
 * up, their time does not count.
 */
export function awaitsDepartures(plan: WorkloadPlan, pods: readonly PlannedPod[], workload: PlanWorkload): boolean {
  if (plan.steps.length > 0 || !pods.some(({ departing }) => departing)) return false;
  return freshOf(pods, workload).every(isReady);
}

function isHopeless({ attempts, reason }: NonNullable<VerdictInput["lastError"]>): boolean {
  return attempts >= atomicTolerated && mendedByHand.includes(reason);
}

/** What kept it from being ready until the deadline. */
function beneath(lastError: VerdictInput["lastError"], fresh: readonly PlannedPod[]): ReleaseReason[] {
  if (lastError !== undefined) return [lastError.reason];
  const lacking = fresh.filter((pod) => !pod.ready);
  if (lacking.some(({ probe }) => probe !== undefined)) return ["ProbeFailing"];
  return lacking.some(({ port }) => port !== undefined) ? ["PortClosed"] : [];
}

function loopText(pod: PlannedPod, { crashRestarts, crashAfterMs }: PlanWorkload["rollout"], now: number): string {
  const seconds = Math.round((now - pod.crashes.since) / 1000);
  const rule = `crash_loop_restarts ${crashRestarts}, crash_loop_after ${formatDuration(crashAfterMs)}`;
  return `${pod.containerName} crash-loops: ${crashText(pod)}, in ${seconds} s; rule: ${rule}`;
}

/**
 * How far a rollout is; grows with each replica that is recreated, and with each old one that is gone. A new one counts
 * from when it serves, while its guard still watches it.
 */
export function reachedBy(pods: readonly PlannedPod[], workload: PlanWorkload): number {
  const replicas = pods.filter((pod) => pod.role === undefined && !pod.frozen);
  const made = replicas.filter((pod) => (isReady(pod) || pod.watchedUntil !== undefined) && isCurrent(pod, workload));
  const left = replicas.filter((pod) => !isCurrent(pod, workload));
  return made.length - left.length;
}
