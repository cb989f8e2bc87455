import type { PlannedPod, PlanWorkload, WorkloadPlan } from "./pod.ts";
import { isCurrent } from "./classify.ts";

/** How a rollout stands. `going` says nothing yet. */
export type Verdict =
  | { outcome: "done" }
  | { outcome: "going" }
  | { outcome: "failed"; reason: "CrashLoop" | "OutOfMemory" | "ProgressDeadline"; message: string };

export interface VerdictInput {
  plan: WorkloadPlan;
  workload: PlanWorkload;
  pods: readonly PlannedPod[];
  /** When the rollout last got further, or began; on the clock of `now`. */
  movedAt: number;
  lastError: string | undefined;
  now: number;
}

/** Restarts of one new replica that make a crash loop. */
const restartsTolerated = 3;

/**
 * Whether new replicas came up, may yet, or never will. A crash loop or a kill for want of memory ends a rollout at
 * once; everything else, a registry that is away for instance, has until the progress deadline.
 */
export function verdictOf(input: VerdictInput): Verdict {
  const { plan, workload, pods, movedAt, lastError, now } = input;
  if (plan.done) return { outcome: "done" };
  const fresh = pods.filter((pod) => pod.role === undefined && !pod.frozen && isCurrent(pod, workload));
  const starved = fresh.find((pod) => pod.oomKilled && !pod.ready);
  if (starved !== undefined) {
    return { outcome: "failed", reason: "OutOfMemory", message: `${starved.containerName} ran out of memory` };
  }
  const crashing = fresh.find((pod) => pod.restarts >= restartsTolerated && !pod.ready);
  if (crashing !== undefined) {
    const message = `${crashing.containerName} crash-loops: ${crashing.restarts} restarts, ${exitText(crashing)}`;
    return { outcome: "failed", reason: "CrashLoop", message };
  }
  const deadlineMs = workload.rollout.progressDeadlineMs;
  if (now - movedAt < deadlineMs) return { outcome: "going" };
  const why = lastError ?? plan.waitingFor ?? "not settled";
  return {
    outcome: "failed",
    reason: "ProgressDeadline",
    message: `not ready within the progress deadline of ${Math.round(deadlineMs / 1000)} s: ${why}`,
  };
}

function exitText({ exitCode }: PlannedPod): string {
  return exitCode === undefined ? "exit code unknown" : `last exit code ${exitCode}`;
}

/** How far a rollout is; grows with each replica that is made anew, and with each old one that is gone. */
export function reachedBy(pods: readonly PlannedPod[], workload: PlanWorkload): number {
  const replicas = pods.filter((pod) => pod.role === undefined && !pod.frozen);
  const made = replicas.filter((pod) => pod.ready && isCurrent(pod, workload));
  const left = replicas.filter((pod) => !isCurrent(pod, workload));
  return made.length - left.length;
}
