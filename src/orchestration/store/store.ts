import type { Reservation } from "../core/reservation.ts";
import type { AtomicReads, AtomicWrites } from "./atomic-records.ts";
import type { DocumentTables, WrittenDocuments } from "./document-records.ts";
import type { CoreKind, ManifestKey, Spec, StoredManifest } from "../api/manifest.ts";
import type { HistoryReads } from "./history-records.ts";
import type { ImageReads, ImageWrites } from "./image-records.ts";
import type { LookReads, LookWrites } from "./look-records.ts";
import type { LockReads, LockWrites } from "./lock-records.ts";
import type { PreviewReads, PreviewWrites } from "./preview-records.ts";
import type { KeyedRequestReads, KeyedRequestWrites } from "./keyed-request-records.ts";
import type { BuildReads, BuildWrites } from "./build-records.ts";
import type { BlockReads, BlockWrites, PluginRunReads, PluginRunWrites } from "./plugin-records.ts";
import type { PluginConfigReads, PluginConfigWrites } from "./plugin-config-records.ts";
import type {
  AutoscaleReads,
  AutoscaleWrites,
  CanaryReads,
  CanaryWrites,
  DeathReads,
  DeathRecord,
  Delivery,
  DeliveryReads,
  FrozenReads,
  NamedVolumeReads,
  NamedVolumeWrites,
  Operation,
  OperationReads,
  ReceiptReads,
  ReceiptWrites,
  ReleaseReads,
  ReleaseRecord,
  RunReads,
  RunRecord,
  SleepReads,
  SleepWrites,
} from "./records.ts";
import type { WriteOptions } from "../../base/sqlite/write.ts";
export type {
  AutoscaleState,
  CanaryRecord,
  DeathRecord,
  Delivery,
  NamedVolumeRecord,
  Operation,
  ReleaseHead,
  ReleaseRecord,
  RunRecord,
} from "./records.ts";

/**
 * The store: the only SQL. All reads are synchronous and see the last commit. All writes go through `write`, which
 * groups the transactions of callers that wait together into one commit (synchronous=FULL) and resolves after it.
 */
export interface Store extends LookReads, DocumentTables {
  /** Made once per database; every engine object carries it as a label. */
  readonly installationId: string;
  readonly manifests: ManifestReads;
  readonly config: ConfigReads;
  readonly status: StatusReads;
  readonly frozen: FrozenReads;
  readonly events: EventReads;
  readonly history: HistoryReads;
  readonly deletions: DeletionReads;
  readonly volumes: VolumeReads;
  readonly namedVolumes: NamedVolumeReads;
  readonly images: ImageReads;
  readonly operations: OperationReads;
  readonly atomic: AtomicReads;
  readonly releases: ReleaseReads;
  readonly receipts: ReceiptReads;
  readonly canaries: CanaryReads;
  readonly builds: BuildReads;
  readonly locks: LockReads;
  readonly previews: PreviewReads;
  readonly keyedRequests: KeyedRequestReads;
  readonly runs: RunReads;
  readonly autoscale: AutoscaleReads;
  readonly sleep: SleepReads;
  readonly deaths: DeathReads;
  readonly deliveries: DeliveryReads;
  readonly pluginRuns: PluginRunReads;
  readonly pluginConfig: PluginConfigReads;
  readonly blocks: BlockReads;

  /**
   * Runs `change` inside a transaction of its own (a savepoint in a shared commit) and resolves with its result once
   * that is durable. When `change` throws, its writes are undone, the error is passed on, others are not touched.
   * `change` must be synchronous. Fails `storage_full` when the disk is full, `unavailable` after `close`.
   */
  write<T>(change: (tx: Transaction) => T, options?: WriteOptions): Promise<T>;

  /** Called after each commit with the keys whose desired state (manifest, generation, frozen, delete mark, inputs) moved. */
  subscribe(listener: (keys: ManifestKey[]) => void): () => void;

  /** Runs `pragma quick_check`; "ok" or what is wrong. */
  check(): string;
  /** A consistent copy of the database as the new file `path`, made while in use. */
  copyTo(path: string): void;
  /** Set after a restore, until `berth restore --confirm`: orphans are not collected. */
  readonly collectionHeld: boolean;
  /** Set after the restore of a backup, until then too: nothing acts by itself. */
  readonly actionsHeld: boolean;
  close(): void;
}

export interface Transaction extends LookWrites, WrittenDocuments {
  manifests: ManifestReads & {
    /** Writes content; returns the stored row. Writing what is there already changes nothing and keeps the revision. */
    put(manifest: { kind: CoreKind; scope: string; name: string; spec: Spec }, now: number): PutResult;
    /**
     * Removes the manifest with its status, looks, frozen marks, reservations, dependencies, image pins, releases, runs and
     * autoscale and sleep state; deaths and deliveries stay. False when it was not there.
     */
    delete(key: ManifestKey): boolean;
    /**
     * Raises the generation: every container of it is replaced. Returns the new one. Generations and revisions come from
     * one counter of the store, so they grow in steps of any size and never come back. Fails `not_found`.
     */
    raiseGeneration(key: ManifestKey): number;
    /** Marks the key as moved for `subscribe` without writing. */
    touch(key: ManifestKey): void;
    /** Replaces the names that `key` reserves; see `core/reservations.ts`. Call `reservationConflicts` first. */
    setReservations(key: ManifestKey, reservations: readonly Reservation[]): void;
    /** Names of the list that another owner has, with one manifest that reserves each. */
    reservationConflicts(
      key: ManifestKey,
      reservations: readonly Reservation[],
    ): { name: string; heldBy: ManifestKey }[];
    /** Replaces what `key` reads: `asset/<scope>/<name>`, `bucket/<scope>/<name>`, `bucket/<scope>/`, `registry/…`. */
    setDependencies(key: ManifestKey, targets: readonly string[]): void;
  };
  config: ConfigReads & {
    /** Sets or, with the empty string of a key that is not in `empty`, unsets. `name` "" is the scope level. Returns the keys whose value changed. */
    patch(
      scope: string,
      name: string,
      vars: Record<string, string>,
      change: { now: number; empty?: readonly string[] | undefined },
    ): string[];
    /** Keys that were changed and that running containers were not restarted for. */
    fellBehind(scope: string, name: string, keys: readonly string[], now: number): void;
    /** The containers that read the bucket are all recreated. */
    caughtUp(scope: string, name: string): void;
    /** True when there was something to wipe. */
    wipe(scope: string, name: string): boolean;
  };
  status: StatusReads & {
    /** Keeps the object that it is given, frozen: JSON, where an undefined field is an absent one. */
    put(key: ManifestKey, status: Record<string, unknown>): void;
  };
  frozen: FrozenReads & {
    add(key: ManifestKey, replicaId: string, now: number): void;
    /** Returns the ids that were frozen. Without `replicaId`: all of the resource. */
    remove(key: ManifestKey, replicaId?: string): string[];
  };
  events: EventReads & {
    append(event: NewEvent, now: number): number;
  };
  history: HistoryReads;
  deletions: DeletionReads & {
    put(deletion: Deletion): void;
    /** Removes this very mark, as `get` returned it. False, and nothing removed, where another has taken its place. */
    remove(mark: Deletion): boolean;
  };
  volumes: VolumeReads & {
    put(volume: VolumeRecord): void;
    remove(volume: string): void;
  };
  namedVolumes: NamedVolumeReads & NamedVolumeWrites;
  images: ImageReads & ImageWrites;
  operations: OperationReads & {
    put(operation: Operation): void;
  };
  atomic: AtomicReads & AtomicWrites;
  receipts: ReceiptReads & ReceiptWrites;
  canaries: CanaryReads & CanaryWrites;
  builds: BuildReads & BuildWrites;
  locks: LockReads & LockWrites;
  previews: PreviewReads & PreviewWrites;
  keyedRequests: KeyedRequestReads & KeyedRequestWrites;
  releases: ReleaseReads & {
    /**
     * Inserts or replaces by id. Per resource the newest `releasesKept` stay, and always the newest good one and those
     * that have not ended. Fails `conflict` when the id is taken by another resource: make another one.
     */
    put(release: ReleaseRecord): void;
  };
  runs: RunReads & {
    /** As for releases. False, and nothing written, when another run of the resource has the same `instant`. */
    put(run: RunRecord): boolean;
    /** Removes ended runs beyond the newest `succeeded` and `failed` (anything that is not a success) ones; returns their ids. */
    trim(key: ManifestKey, keep: { succeeded: number; failed: number }): string[];
    /** Forgets the rows of missed instants after `after`, up to and including `until`: they are yet to come. */
    dropMissed(key: ManifestKey, instants: { after: number; until: number }): void;
  };
  autoscale: AutoscaleReads & AutoscaleWrites;
  sleep: SleepReads & SleepWrites;
  deaths: DeathReads & {
    /** One per container and `at`. The newest `deathsKept` per resource stay, also after it is gone (until their age limit). */
    put(death: DeathRecord): void;
  };
  deliveries: DeliveryReads & {
    /** Inserts or replaces by id. Of those that no longer wait, the oldest go beyond `deliveriesKept` in all. */
    put(delivery: Delivery): void;
  };
  pluginRuns: PluginRunReads & PluginRunWrites;
  pluginConfig: PluginConfigReads & PluginConfigWrites;
  blocks: BlockReads & BlockWrites;
}

export interface PutResult {
  /** The row as stored, secrets opened. */
  manifest: StoredManifest;
  outcome: "created" | "updated" | "unchanged";
  previous: StoredManifest | undefined;
}

export interface ManifestReads {
  get(key: ManifestKey): StoredManifest | undefined;
  /** Ordered by kind (asset, cronjob, deployment, …), scope, name. All filters optional. */
  list(filter?: { kind?: string; scope?: string; name?: string }): StoredManifest[];
  /** Identity and versions of everything, without specs, in no order: cheap enough for a resync over 10,000. Do not alter. */
  heads(): ManifestHead[];
  /** Manifests that depend on the target (`asset/<scope>/<name>` …). */
  dependants(target: string): ManifestKey[];
  count(): number;
}

export interface ManifestHead extends ManifestKey {
  kind: CoreKind;
  revision: number;
  generation: number;
}

export interface ConfigReads {
  /** Every bucket that holds something, ordered by scope and name; `name` "" is the scope level. */
  buckets(): { scope: string; name: string; keys: number }[];
  /** One level alone. */
  bucket(scope: string, name: string): Record<string, string>;
  /** Scope level overlaid with app level. */
  merged(scope: string, name: string): Record<string, string>;
  /** When the newest change of one of the keys was made without a restart; undefined where there was none. */
  behindSince(scope: string, name: string, keys: readonly string[]): number | undefined;
}

/** What is shown of a resource. It decides nothing: what does is a row of its own, see `LookReads`. */
interface StatusReads {
  /** Frozen (`Object.freeze`, at every depth): copy it to change it. */
  get(key: ManifestKey): Record<string, unknown> | undefined;
}

/** Who did what, when, why. Never a config value. */
export interface NewEvent {
  /** Free text: `operator`, `ana@laptop`, `reconciler`. */
  actor: string;
  /** Dotted verb: `manifest.apply`, `manifest.delete`, `config.set`, `restart`, `pod.stop`, `pod.start`, `replica.create` … */
  action: string;
  kind?: string;
  scope?: string;
  name?: string;
  revision?: number;
  /** Small JSON: changed paths, config keys, replica id, reason. */
  detail?: Record<string, unknown>;
}

export interface StoredEvent extends NewEvent {
  seq: number;
  at: number;
}

interface EventReads {
  /** Oldest first after `after`; without it the newest `limit`, oldest first. */
  list(filter: { kind?: string; scope?: string; name?: string; after?: number; limit: number }): StoredEvent[];
}

/** A delete mark: the manifest is gone, its containers (and, with prune, volumes and files) still have to go. */
export interface Deletion extends ManifestKey {
  at: number;
  prune: boolean;
}

interface DeletionReads {
  get(key: ManifestKey): Deletion | undefined;
  list(): Deletion[];
}

/** A claim volume that was made once: when the engine no longer has it, that is a fault and not a first start. */
export interface VolumeRecord extends ManifestKey {
  volume: string;
  claim: string;
  ordinal: number;
  createdAt: number;
}

interface VolumeReads {
  get(volume: string): VolumeRecord | undefined;
  list(key: ManifestKey): VolumeRecord[];
  all(): VolumeRecord[];
}
