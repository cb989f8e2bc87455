import type { ManifestKey } from "../../api/manifest.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";
import type { Pod } from "./pod.ts";

/** Watches the requests of guarded releases while they are under way; see `rollout.guard`. */
export interface Guards {
  /** For each pod: until when on the steady clock it is watched; undefined for one that is not. */
  watchedUntil(workload: ResolvedWorkload): (pod: Pod) => number | undefined;
  /** Why the release under way has to go back; undefined while it may go on. */
  fault(workload: ResolvedWorkload): string | undefined;
  /** Whether a guarded release is under way, so that its requests are looked at again and again. */
  isWatching(workload: ResolvedWorkload): boolean;
  forget(key: ManifestKey): void;
}
