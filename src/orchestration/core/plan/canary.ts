import { formatDuration } from "../../../base/pure/duration.ts";
import { formatPercent } from "../../../base/pure/percent.ts";
import type { CanaryPolicy, CanaryStep } from "../workload.ts";

/** How far a canary release is; stored, so that the next server goes on from there. */
export interface CanaryState {
  /** Index of the step; the number of steps once all of them have passed. */
  step: number;
  /** Share of the requests, 0 to 1, that the new replicas get now. */
  share: number;
  /** How long the step has lasted, in milliseconds, with all of its replicas in service. */
  elapsedMs: number;
  /** By a person. */
  isPaused: boolean;
  /** A person wants all requests to go to the new replicas, without further waiting. */
  isPromoted: boolean;
}

export const canaryBegin: CanaryState = { step: 0, share: 0, elapsedMs: 0, isPaused: false, isPromoted: false };

/** The step under way; undefined once all have passed. */
export function stepNow({ steps }: CanaryPolicy, { step, isPromoted }: CanaryState): CanaryStep | undefined {
  const found = steps[step];
  const last = steps.at(-1);
  if (found === undefined || !isPromoted) return found;
  // The old replicas go only after all requests were moved away from them.
  return last?.share === 1 ? { share: 1, pauseMs: 0 } : undefined;
}

/** New replicas that the step needs, of `wanted` ones in all. */
export function freshWanted({ share }: CanaryStep, wanted: number): number {
  // 0.07 · 100 is a little above 7.
  return Math.min(wanted, Math.max(1, Math.ceil(share * wanted - 1e-9)));
}

interface CanaryLook {
  /** All replicas of the step are in service. */
  isUp: boolean;
  /** Milliseconds since the last look at the same step, at which they were as well; 0 at the first. */
  ranMs: number;
}

/** The state after a look. The share moves once the replicas of the step are there; from then on its time counts. */
export function canaryAfter(policy: CanaryPolicy, state: CanaryState, { isUp, ranMs }: CanaryLook): CanaryState {
  const step = stepNow(policy, state);
  if (step === undefined) return passed(policy, state);
  if (!isUp) return state;
  if (state.share !== step.share) return { ...state, share: step.share, elapsedMs: 0 };
  if (state.isPaused) return state;
  const elapsedMs = state.elapsedMs + ranMs;
  if (step.pauseMs === undefined || elapsedMs < step.pauseMs) return { ...state, elapsedMs };
  return state.isPromoted ? passed(policy, state) : { ...state, step: state.step + 1, elapsedMs: 0 };
}

/** Beyond the last step. */
function passed({ steps }: CanaryPolicy, state: CanaryState): CanaryState {
  return state.step >= steps.length && !state.isPaused
    ? state
    : { ...state, step: steps.length, elapsedMs: 0, isPaused: false };
}

/** Milliseconds until the step is over; undefined while it waits for its replicas or for a person, and after the last one. */
export function canaryLeftMs(policy: CanaryPolicy, state: CanaryState): number | undefined {
  const step = stepNow(policy, state);
  if (step?.pauseMs === undefined || state.isPaused || state.share !== step.share) return undefined;
  return Math.max(0, step.pauseMs - state.elapsedMs);
}

/** What the release waits for: its replicas, the time of a step, a person, or for the rest to be replaced. */
type CanaryWait = "replicas" | "time" | "person" | "rest";

export function canaryWait(policy: CanaryPolicy, state: CanaryState): CanaryWait {
  const step = stepNow(policy, state);
  if (step === undefined) return "rest";
  if (state.share !== step.share) return "replicas";
  return state.isPaused || step.pauseMs === undefined ? "person" : "time";
}

/** What people may ask of a canary release. */
export type CanaryCommand = "pause" | "resume" | "promote";

/** The state after a command, or why there is nothing to do. */
export function canaryTold(
  policy: CanaryPolicy,
  state: CanaryState,
  command: CanaryCommand,
): CanaryState | { problem: string } {
  const step = stepNow(policy, state);
  if (step === undefined || state.isPromoted) return { problem: "all of its steps have passed" };
  switch (command) {
    case "pause":
      return state.isPaused ? { problem: "it is paused already" } : { ...state, isPaused: true };
    case "resume":
      if (state.isPaused) return { ...state, isPaused: false };
      if (step.pauseMs !== undefined) return { problem: "it is not paused" };
      if (state.share !== step.share) return { problem: "its new replicas are not ready yet" };
      return { ...state, step: state.step + 1, elapsedMs: 0 };
    case "promote":
      return { ...state, isPromoted: true, isPaused: false };
  }
}

/** `5 % of the requests for 2m, 25 % until resumed, 100 %; the old replicas stay for 10m`, for plans. */
export function canaryPlanText({ steps, keepMs }: CanaryPolicy): string {
  const parts = steps.map(({ share, pauseMs }, index) => {
    const head = index === 0 ? `${formatPercent(share)} of the requests` : formatPercent(share);
    if (pauseMs === undefined) return `${head} until resumed`;
    return pauseMs === 0 ? head : `${head} for ${formatDuration(pauseMs)}`;
  });
  const kept = keepMs === 0 ? "" : `; the old replicas stay for ${formatDuration(keepMs)}`;
  return `${parts.join(", ")}${kept}`;
}

/** `canary step 1 of 3, 5 % of the requests for 2m`. Says nothing that changes by time alone. */
export function canaryText(policy: CanaryPolicy, state: CanaryState): string {
  const step = stepNow(policy, state);
  if (step === undefined) return "the canary steps have passed";
  const share = `${formatPercent(step.share)} of the requests`;
  if (state.isPromoted) return `promoted, ${share}`;
  const head = `canary step ${state.step + 1} of ${policy.steps.length}, ${share}`;
  if (state.isPaused) return `${head}; paused, until: berth rollout resume`;
  if (step.pauseMs === undefined) return `${head}; waits for: berth rollout resume`;
  return step.pauseMs === 0 ? head : `${head} for ${formatDuration(step.pauseMs)}`;
}
