import type { PodKindStatus } from "../api/describe.ts";
import type { ManifestKey } from "../api/manifest.ts";
import type { SeenSchedule } from "../core/plan/cron-windows.ts";
import type { KnownReadiness } from "../core/probe.ts";

/**
 * What the reconciler goes by later about rollouts that are not releases: restarts and config changes. A power cut may
 * take `goodGeneration` with it, but then also every change since: no rollout could go back to anything else, and the
 * next look writes it again. `halted` is durable, so that a config that failed is not tried once more.
 */
export interface RolloutMemory {
  /** The generation that was last fully ready: a config change that fails goes back to it. */
  goodGeneration?: number | undefined;
  /** How many replicas it had then. */
  goodReplicas?: number | undefined;
  /** A config change or restart whose replicas never came up: those of `goodGeneration` stay. */
  halted?: { generation: number; reason: string } | undefined;
}

/**
 * What the reconciler's last look at a deployment or statefulset came to, beside the status that shows it. Written with
 * the status, not durably: after a power cut the next look writes it again, and until then clients that wait go on waiting.
 */
export interface Look {
  phase: PodKindStatus["phase"];
  /** Revision of the manifest that was looked at. */
  revision: number;
  generation: number;
  /** As many as were wanted. */
  replicas: number;
  /** The error of the last round, as the status has it. */
  error: string | undefined;
  /** Why it is not ready, where waiting alone does not help. */
  unready: string | undefined;
  memory: RolloutMemory;
}

/**
 * What the probes of a running pod had said. Lost in a power cut, and so are the containers: it counts only while the same
 * run of the container goes on.
 */
export interface PodReadiness extends KnownReadiness {
  /** The container's name. */
  pod: string;
}

/** Restarts of a container that the engine does not count any more; a power cut may lose the latest ones. */
export interface EarlierRestarts {
  /** The first 12 characters of the container's id. */
  container: string;
  count: number;
}

/** The files of an asset, durable with the change of manifest or content that brought them. */
export interface AssetFiles {
  /** Revision of the manifest that they are from. */
  revision: number;
  /** Digests by key, of those whose content is here. */
  files: Record<string, string>;
  /** By key: why a file could not be fetched. */
  errors: Record<string, string>;
  /** Epoch milliseconds. */
  at: number;
}

interface OneReads<T> {
  get(key: ManifestKey): T | undefined;
}

interface ManyReads<T> {
  /** Ordered by the name in each. */
  list(key: ManifestKey): readonly T[];
}

/** What decides later and is not desired state. Rows go with their manifest; values are frozen. */
export interface LookReads {
  readonly looks: OneReads<Look>;
  readonly probeReadiness: ManyReads<PodReadiness>;
  readonly earlierRestarts: ManyReads<EarlierRestarts>;
  readonly assetFiles: OneReads<AssetFiles>;
  /** The schedule that a cron job was last looked at with; durable with the rows of the runs that were due. */
  readonly seenSchedules: OneReads<SeenSchedule>;
}

/** `put` replaces what there was; where that is the same, nothing is written. */
interface OneWrites<T> extends OneReads<T> {
  put(key: ManifestKey, value: T): void;
}

interface ManyWrites<T> extends ManyReads<T> {
  put(key: ManifestKey, rows: readonly T[]): void;
}

export interface LookWrites extends LookReads {
  readonly looks: OneWrites<Look>;
  readonly probeReadiness: ManyWrites<PodReadiness>;
  readonly earlierRestarts: ManyWrites<EarlierRestarts>;
  readonly assetFiles: OneWrites<AssetFiles>;
  readonly seenSchedules: OneWrites<SeenSchedule>;
}
