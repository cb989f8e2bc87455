import type { ManifestKey, StoredManifest } from "../../api/manifest.ts";
import type { CanaryPhase, PlannedPod } from "../../core/plan/pod.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";

/** Canary releases: their steps, the time that each takes, and the old replicas that are kept; see `rollout.canary`. */
export interface Canaries {
  /** What the plan has to know; undefined where replicas are replaced as usual. */
  phaseOf(workload: ResolvedWorkload): CanaryPhase | undefined;
  /** Begins with a release that has just begun, and ends with one that is over. */
  follow(manifest: StoredManifest, workload: ResolvedWorkload): Promise<void>;
  /** Once nothing is left to do for a step: lets its time pass. True when it got further, so that there is more to do. */
  advance(workload: ResolvedWorkload, pods: readonly PlannedPod[]): Promise<boolean>;
  /** Whether the replicas of the step are in service, so that only time or a person is waited for. */
  isWaiting(workload: ResolvedWorkload, pods: readonly PlannedPod[]): boolean;
  /** Whether new replicas need no watch of their own by the guard: their step has one, or a person wanted no more. */
  isWatched(workload: ResolvedWorkload): boolean;
  /** Milliseconds until time moves it; undefined when it does not. */
  lookIn(workload: ResolvedWorkload): number | undefined;
  /** How long the step under way has lasted, in milliseconds. */
  elapsedMs(key: ManifestKey): number;
  forget(key: ManifestKey): void;
}
