import type { Condition, PodKindStatus } from "../../api/describe.ts";
import { isCurrent } from "./classify.ts";
import { crashText, isCrashLoop, isOver } from "./crash.ts";
import type { PlannedPod, PlanWorkload, WorkloadPlan } from "./pod.ts";

export interface StatusInput {
  plan: WorkloadPlan;
  workload: PlanWorkload;
  pods: PlannedPod[];
  /** The error of the last round, when it failed. */
  lastError?: ReconcileError | undefined;
  /** Epoch ms by which the rollout under way has to be done; undefined when none is. */
  deadlineAt?: number | undefined;
  /** Replica ids that an operator has frozen. */
  frozenIds?: readonly string[];
  /** The release whose commands have to pass before anything is replaced: until then nothing is settled. */
  pendingRelease?: string | undefined;
  /** The app is not used, so no replica is wanted until a request comes. */
  isAsleep?: boolean;
  /** Conditions as last written: what did not change keeps its time. */
  previous?: readonly Condition[] | undefined;
  /** Epoch ms. */
  now: number;
  /** On the clock of the pods' times. */
  steadyNow: number;
}

export interface ReconcileError {
  /** A stable word: see `FailureReason`. */
  reason: string;
  message: string;
  /** Epoch ms. */
  at: number;
  /** Rounds that failed in a row, this one included. */
  attempts: number;
  /** Not retried until the next write: the spec cannot work. */
  terminal?: boolean;
}

interface WorkloadStatus {
  phase: PodKindStatus["phase"];
  /** Ready, Progressing, Degraded; in this order. */
  conditions: Condition[];
}

/** Failed rounds in a row that make a workload failing. */
const attemptsTolerated = 3;

/** Phase and conditions of a deployment or statefulset (`api/orchestration/describe.ts`). */
export function statusOf(input: StatusInput): WorkloadStatus {
  const failure = failureOf(input);
  const trouble = failure ?? troubleOf(input);
  return {
    phase: phaseOf(input, failure, trouble),
    conditions: [
      condition(input, readiness(input)),
      condition(input, progress(input, failure)),
      condition(input, degradation(trouble)),
    ],
  };
}

interface Cause {
  reason: string;
  message: string;
  /** The message without the count of ready replicas. */
  detail?: string | undefined;
}

interface Finding extends Cause {
  type: "Ready" | "Progressing" | "Degraded";
  status: boolean;
}

function phaseOf(input: StatusInput, failure: Cause | undefined, trouble: Cause | undefined): WorkloadStatus["phase"] {
  if (failure !== undefined) return "failed";
  if (trouble !== undefined) return "failing";
  if (input.isAsleep === true) return "asleep";
  if (!input.plan.done || input.pendingRelease !== undefined) return "progressing";
  if (!isAllAside(input)) return "ready";
  return allFrozen(input) ? "stopped" : "progressing";
}

/** Nothing is left to be done, and yet nothing of it is in service. */
function isAllAside({ plan: { done, counts }, workload }: StatusInput): boolean {
  return done && workload.replicas > 0 && counts.ready === 0 && counts.frozen > 0;
}

/** Why nothing of it will come up before somebody starts it. */
function allFrozen(input: StatusInput): Cause | undefined {
  const { workload, frozenIds = [] } = input;
  const { scope, name } = workload;
  if (!isAllAside(input) || frozenIds.length < workload.replicas) return undefined;
  const many = frozenIds.length === 1 ? "the only replica is" : `all ${frozenIds.length} replicas are`;
  return {
    reason: "Frozen",
    message: `${many} frozen; start with: berth start ${scope}/${name}${byHand(input)}`,
  };
}

/** Frozen pods that run all the same. */
function byHand({ pods, frozenIds = [] }: StatusInput): string {
  const names = pods
    .filter((pod) => pod.role === undefined && pod.state === "running" && frozenIds.includes(pod.replicaId))
    .map((pod) => pod.containerName)
    .sort();
  if (names.length === 0) return "";
  const [first] = names;
  const who = names.length === 1 ? `${first} runs` : `${first} and ${names.length - 1} more run`;
  return `; ${who} although frozen, started by hand`;
}

/** Why we no longer expect it to come up by itself. */
function failureOf({ plan, lastError, deadlineAt, now }: StatusInput): Cause | undefined {
  if (lastError?.terminal) return lastError;
  if (plan.done || deadlineAt === undefined || now < deadlineAt) return undefined;
  const why = lastError?.message ?? plan.waitingFor ?? "not settled";
  return { reason: "ProgressDeadline", message: `not ready within the progress deadline: ${why}` };
}

/** What goes wrong again and again, although we go on trying. */
function troubleOf({ workload, pods, lastError, steadyNow }: StatusInput): Cause | undefined {
  if (lastError !== undefined && lastError.attempts >= attemptsTolerated) return lastError;
  const replicas = pods.filter((pod) => pod.role === undefined && !pod.frozen && isCurrent(pod, workload));
  const unwell = replicas.filter((pod) => !isOver(pod, steadyNow));
  // The engine may keep the mark of an old kill.
  const starved = unwell.find((pod) => pod.oomKilled);
  if (starved !== undefined) {
    return { reason: "OutOfMemory", message: `${starved.containerName} ran out of memory` };
  }
  const crashing = unwell.find((pod) => isCrashLoop(pod, workload.rollout, steadyNow));
  if (crashing === undefined) return pauseOf(pods);
  return { reason: "CrashLoop", message: `${crashing.containerName} ${crashText(crashing)}` };
}

/** Paused by hand: left alone for as long as that lasts, so that nothing of it comes up by waiting. */
function pauseOf(pods: readonly PlannedPod[]): Cause | undefined {
  const names = pods
    .filter((pod) => pod.role === undefined && !pod.frozen && pod.state === "paused")
    .map((pod) => pod.containerName)
    .sort();
  const [first] = names;
  if (first === undefined) return undefined;
  const who = names.length === 1 ? `${first} is` : `${first} and ${names.length - 1} more are`;
  return { reason: "Paused", message: `${who} paused and left alone; go on with: docker unpause ${first}` };
}

function readiness(input: StatusInput): Finding {
  const { done, counts } = input.plan;
  if (input.isAsleep === true) return { type: "Ready", status: true, ...asleep };
  const { pods } = input;
  const paused = done ? undefined : pauseOf(pods);
  if (paused !== undefined) return { type: "Ready", status: false, ...paused };
  if (!done) return { type: "Ready", status: false, reason: "ReplicasNotReady", ...waitsFor(input) };
  const stopped = allFrozen(input);
  if (stopped !== undefined) return { type: "Ready", status: false, ...stopped };
  const frozen = counts.frozen > 0 ? `, ${counts.frozen} frozen${byHand(input)}` : "";
  if (isAllAside(input))
    return { type: "Ready", status: false, reason: "ReplicasNotReady", message: `0 ready${frozen}` };
  return { type: "Ready", status: true, reason: "ReplicasReady", message: `${counts.ready} ready${frozen}` };
}

const asleep: Cause = { reason: "Asleep", message: "asleep, the first request starts it" };

function waitsFor({ plan: { waitingFor, waitingDetail } }: StatusInput): Omit<Cause, "reason"> {
  return { message: waitingFor ?? "not settled", detail: waitingDetail };
}

function progress(input: StatusInput, failure: Cause | undefined): Finding {
  const { plan, lastError, pendingRelease } = input;
  const type = "Progressing";
  if (failure !== undefined) return { type, status: false, ...causeOnly(failure) };
  if (pendingRelease !== undefined) {
    const message = `the commands of release ${pendingRelease} have to pass before replicas are replaced`;
    return { type, status: true, reason: "ReleasePhase", message };
  }
  if (plan.done) return { type, status: false, reason: "Settled", message: "nothing to do" };
  if (lastError !== undefined) return { type, status: true, ...causeOnly(lastError) };
  return { type, status: true, reason: "Reconciling", ...waitsFor(input) };
}

function degradation(trouble: Cause | undefined): Finding {
  if (trouble === undefined) return { type: "Degraded", status: false, reason: "Healthy", message: "no fault known" };
  return { type: "Degraded", status: true, ...causeOnly(trouble) };
}

function causeOnly({ reason, message }: Cause): Cause {
  return { reason, message };
}

/** Unchanged means the same status for the same reason; the message may move on. */
function condition({ previous, now }: StatusInput, finding: Finding): Condition {
  const { type, status, reason, message, detail } = finding;
  const before = previous?.find((other) => other.type === type && other.status === status && other.reason === reason);
  const at = before?.at ?? new Date(now).toISOString();
  return { type, status, reason, message, ...(detail === undefined ? {} : { detail }), at };
}
