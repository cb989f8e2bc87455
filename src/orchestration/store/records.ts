import type { Receipt } from "../api/receipt.ts";
import type { ManifestKey, Spec } from "../api/manifest.ts";
import type { CanaryState } from "../core/plan/canary.ts";
import type { ReleaseReason, RunReason } from "../api/reasons.ts";

/** One release of a deployment or statefulset (orchestration details 3.6). Times are epoch milliseconds. */
export interface ReleaseRecord extends ManifestKey {
  /** 9 characters: base36 of unix seconds and two random ones; sorts by time. */
  id: string;
  /** `pending`: waits for its release phase or for the engine. */
  status: "pending" | "running" | "succeeded" | "failed";
  cause: "apply" | "rollback" | "auto_rollback" | "release_run" | "image" | "config";
  /** Who asked for it, and what they wrote about it. */
  actor?: string | undefined;
  message?: string | undefined;
  /** A caller without the rights of the machine asked for it. */
  lesser?: boolean | undefined;
  /** Reached its full ready count once: something a rollback may return to. */
  good: boolean;
  hash: string;
  revision: number;
  image: string;
  imageId: string | undefined;
  rolledBackFrom: string | undefined;
  /** Dotted paths of the fields that a rollback changed back; empty for every other release. */
  takenBack: string[];
  startedAt: number;
  endedAt: number | undefined;
  preExitCode: number | undefined;
  exitCode: number | undefined;
  postExitCode: number | undefined;
  error: string | undefined;
  /** Why it failed, as words, the most general first; left out where it did not, or an older version recorded it. */
  reasons?: readonly ReleaseReason[] | undefined;
  /** The stored spec, secrets sealed at rest. */
  spec: Spec;
  /** Output of the release phase, its last part. */
  log: string;
}

export interface ReceiptReads {
  get(releaseId: string): Receipt | undefined;
}

export interface ReceiptWrites {
  /** Replaces what there was; nothing happens where the release is gone. */
  put(releaseId: string, receipt: Receipt): void;
}

/** A canary release: how far it is, and which replicas are its own. Times are epoch milliseconds. */
export interface CanaryRecord extends ManifestKey, CanaryState {
  releaseId: string;
  /** Hash of its replicas; see `PlanWorkload`. */
  hash: string;
  generation: number;
  /** Spec hash of the old replicas. */
  baseHash: string | undefined;
  mode: CanaryMode;
  /** With mode `kept`. */
  keptUntil?: number | undefined;
}

/**
 * `steps`: new and old replicas share the requests. `passed`: after the last step, while the rest is replaced. `kept`: the
 * old replicas stay without requests. `withdrawn`: it is given up, and its replicas get no requests until they are gone.
 */
type CanaryMode = "steps" | "passed" | "kept" | "withdrawn";

export interface CanaryReads {
  get(key: ManifestKey): CanaryRecord | undefined;
}

export interface CanaryWrites {
  /** Replaces what there was. Anything but the time that has passed moves the key for `subscribe`. */
  put(record: CanaryRecord): void;
  remove(key: ManifestKey): void;
}

export interface FrozenReads {
  list(key: ManifestKey): string[];
  /** Every frozen mark: the identity with the replica id. */
  all(): (ManifestKey & { replicaId: string })[];
}

/** A release without what makes a row long. */
export type ReleaseHead = Omit<ReleaseRecord, "spec" | "log">;

/** Where a release is among all of them: of two that began at the same time, the greater id is the newer one. */
export type ReleasePlace = Pick<ReleaseRecord, "startedAt" | "id">;

/** A page of the releases of many resources. */
export interface ReleasePage {
  /** Only those that are older than this one. */
  before?: ReleasePlace | undefined;
  limit: number;
  isWanted(key: ManifestKey): boolean;
}

export interface ReleaseReads {
  get(id: string): ReleaseRecord | undefined;
  /** A release that was read before, as it is now; undefined once it is gone. */
  now(release: ReleaseRecord): ReleaseRecord | undefined;
  /** Whether a release of any resource has that id. */
  isTaken(id: string): boolean;
  /** Newest first. */
  list(key: ManifestKey): ReleaseRecord[];
  /** Newest first. */
  page(page: ReleasePage): ReleaseHead[];
  /** Every release that is pending or running, oldest first: what a restart has to take up again. */
  unfinished(): ReleaseRecord[];
}

/** One run of a job or cron job. Times are epoch milliseconds. */
export interface RunRecord extends ManifestKey {
  id: string;
  status: "scheduled" | "running" | "succeeded" | "failed" | "timed_out" | "cancelled" | "missed" | "skipped";
  trigger: "manual" | "schedule" | "action";
  /** The instant of the schedule that this run is for; unique per resource. */
  instant: number | undefined;
  /** 1 for the first try. */
  attempt: number;
  startedAt: number | undefined;
  endedAt: number | undefined;
  exitCode: number | undefined;
  error: string | undefined;
  /** Why it failed, as a word; left out where the exit code is the reason. */
  reason?: RunReason | undefined;
  /** Last lines of the output. */
  tail: string[];
}

export interface RunReads {
  get(id: string): RunRecord | undefined;
  /** Newest first. */
  list(key: ManifestKey, limit?: number): RunRecord[];
  /** `scheduled` and `running` ones of all resources, oldest first. */
  unfinished(): RunRecord[];
  /** Those of one resource, newest first. */
  unfinishedOf(key: ManifestKey): RunRecord[];
  /** The newest instant that was ever put, whatever became of its run; forgotten with the manifest. */
  lastInstant(key: ManifestKey): number | undefined;
}

/** What the autoscaler decided, kept outside the manifest. */
export interface AutoscaleState extends ManifestKey {
  replicas: number;
  lastUpAt: number | undefined;
  lastDownAt: number | undefined;
}

export interface AutoscaleReads {
  get(key: ManifestKey): AutoscaleState | undefined;
}

export interface AutoscaleWrites {
  /** A changed count moves the key for `subscribe`. */
  put(state: AutoscaleState): void;
  remove(key: ManifestKey): void;
}

/** Whether an app that requests wake is asleep, kept outside the manifest. */
export interface SleepState extends ManifestKey {
  asleep: boolean;
  /** Epoch milliseconds: when it was put to sleep, or woken. */
  since: number;
}

export interface SleepReads {
  /** Undefined where it never slept and was never woken. */
  get(key: ManifestKey): SleepState | undefined;
}

export interface SleepWrites {
  /** Moves the key for `subscribe` where `asleep` changes. */
  put(state: SleepState): void;
  remove(key: ManifestKey): void;
}

/** How a replica died: enough to tell why after its container is gone. */
export interface DeathRecord extends ManifestKey {
  replicaId: string;
  containerId: string;
  at: number;
  exitCode: number | undefined;
  oomKilled: boolean;
  /** We ended it, because its liveness probe failed. */
  killed?: boolean;
  /** Why it ended, or the engine's own error text. */
  reason: string;
  image: string;
  hash: string;
  releaseId: string | undefined;
  /** Last lines of its output. */
  logs: string[];
  /** Last probe exchanges, newest last. */
  probes: string[];
  /** What to do about it, where the engine showed why a mount refused the program. */
  hint?: string;
}

export interface DeathReads {
  /** Newest first. */
  list(key: ManifestKey): DeathRecord[];
}

/** One webhook call on its way out: the outbox and its record. */
export interface Delivery extends ManifestKey {
  id: string;
  event: string;
  /** What it is about and the origin it goes to; empty: it has no order. */
  subject: string;
  url: string;
  method: string;
  /** Sealed at rest. */
  headers: Record<string, string>;
  body: string;
  status: "waiting" | "delivered" | "dropped";
  attempts: number;
  nextAt: number;
  createdAt: number;
  /** Status code or error text of the last try. */
  lastResult: string | undefined;
}

export interface DeliveryReads {
  /**
   * Waiting ones that are due, those that waited longest first: none for which an older one of the same resource and
   * subject waits, due or not.
   */
  due(now: number, limit: number): Delivery[];
  /** Newest first. */
  list(key: ManifestKey, limit: number): Delivery[];
}

/** A resource uses a volume that its manifest names. The row outlives the manifest, as the volume does. */
export interface NamedVolumeRecord extends ManifestKey {
  /** The scope that the volume belongs to. */
  owner: string;
  volume: string;
  /** In the engine it has this very name, and not one that holds the scope: so do volumes of before. */
  plain: boolean;
  createdAt: number;
}

export interface NamedVolumeReads {
  /** What a resource uses. */
  list(key: ManifestKey): NamedVolumeRecord[];
  /** Who uses the volume of that scope. */
  users(owner: string, volume: string): NamedVolumeRecord[];
  /** Who uses the engine's volume of that very name. */
  plainUsers(volume: string): NamedVolumeRecord[];
  isPlain(owner: string, volume: string): boolean;
  /** Ordered by scope and name. */
  all(): NamedVolumeRecord[];
}

export interface NamedVolumeWrites {
  /** What is there already stays as it is. */
  put(use: NamedVolumeRecord): void;
  remove(key: ManifestKey, volume: { owner: string; volume: string }): void;
}

/** A long change that a caller did not wait for. */
export interface Operation {
  id: string;
  type: "restart";
  kind: string;
  scope: string;
  name: string;
  /** Done when the resource is ready at this generation. */
  generation: number;
  startedAt: number;
}

export interface OperationReads {
  get(id: string): Operation | undefined;
}
