import { rolloutDefaults } from "../../api/kinds/defaults.ts";
import type { PodKind } from "../../api/manifest.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { parsePercent } from "../../../base/pure/percent.ts";
import type { CanaryPolicy, CanaryStep, GuardPolicy, RolloutPolicy } from "../workload.ts";
import { type Fields, fieldsOf, integerOf, msOf, textOf } from "./lenient.ts";

/** How replicas are replaced, as far as the spec alone says it: see `resolve-rollout.ts` for the strategy. */
export interface DecodedRollout extends Omit<RolloutPolicy, "strategy" | "strategyReason"> {
  /** As written; undefined: what the container allows. */
  strategy: "rolling" | "recreate" | undefined;
}

/** An app may exit until its database answers: for less than this nothing is a crash loop. */
export const crashAfterLeastMs = 30_000;

/** The pause of a step that waits for a person. */
export const pauseForever = "forever";

const ms = {
  minReady: parseDuration(rolloutDefaults.minReady) ?? 0,
  progressDeadline: parseDuration(rolloutDefaults.progressDeadline) ?? 0,
  crashAfter: parseDuration(rolloutDefaults.crashAfter) ?? 0,
  drain: {
    deployment: parseDuration(rolloutDefaults.drain) ?? 0,
    statefulset: parseDuration(rolloutDefaults.statefulsetDrain) ?? 0,
  },
  keep: parseDuration(rolloutDefaults.keep) ?? 0,
  guardOver: parseDuration(rolloutDefaults.guardOver) ?? 0,
};

export function decodeRollout(kind: PodKind, written: unknown): DecodedRollout {
  const rollout = fieldsOf(written);
  const guard = guardOf(rollout.guard);
  const { strategy } = rollout;
  return {
    strategy: strategy === "rolling" || strategy === "recreate" ? strategy : undefined,
    maxSurge: integerOf(rollout.max_surge) ?? rolloutDefaults.maxSurge,
    maxUnavailable: integerOf(rollout.max_unavailable) ?? rolloutDefaults.maxUnavailable,
    minReadyMs: msOf(rollout.min_ready) ?? ms.minReady,
    progressDeadlineMs: msOf(rollout.progress_deadline) ?? ms.progressDeadline,
    crashRestarts: Math.max(1, integerOf(rollout.crash_loop_restarts) ?? rolloutDefaults.crashRestarts),
    crashAfterMs: Math.max(crashAfterLeastMs, msOf(rollout.crash_loop_after) ?? ms.crashAfter),
    drainMs: msOf(rollout.drain) ?? ms.drain[kind],
    autoRollback: rollout.auto_rollback !== !rolloutDefaults.autoRollback,
    guard,
    canary: canaryOf(rollout, guard?.overMs ?? 0),
  };
}

function guardOf(written: unknown): GuardPolicy | undefined {
  const { errors, p99, over, min_requests } = fieldsOf(written);
  const failedShareMax = parsePercent(textOf(errors) ?? "");
  const p99MsMax = msOf(p99);
  if (failedShareMax === undefined && p99MsMax === undefined) return undefined;
  const requestsMin = Math.max(1, integerOf(min_requests) ?? rolloutDefaults.guardRequests);
  return { failedShareMax, p99MsMax, overMs: msOf(over) ?? ms.guardOver, requestsMin };
}

/** The steps of a rollout block; a step without a pause lasts `pauseMs`. Undefined: none that can be read is written. */
function canaryOf(rollout: Fields, pauseMs: number): CanaryPolicy | undefined {
  const written: unknown[] = Array.isArray(rollout.canary) ? rollout.canary : [];
  const steps = written.flatMap((step) => stepOf(step, pauseMs));
  const last = steps.at(-1);
  if (last === undefined) return undefined;
  const keepMs = msOf(rollout.keep) ?? ms.keep;
  // Old replicas that stay get no requests: the new ones have to take all of them first.
  return { steps: keepMs > 0 && last.share < 1 ? [...steps, { share: 1, pauseMs }] : steps, keepMs };
}

function stepOf(written: unknown, pauseMs: number): CanaryStep[] {
  const { weight, pause } = typeof written === "string" ? { weight: written, pause: undefined } : fieldsOf(written);
  const share = parsePercent(textOf(weight) ?? "");
  if (share === undefined || share === 0) return [];
  if (pause === pauseForever) return [{ share, pauseMs: undefined }];
  return [{ share, pauseMs: msOf(pause) ?? pauseMs }];
}
