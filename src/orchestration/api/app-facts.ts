import type { Condition } from "./describe.ts";
import type { ManifestKey } from "./manifest.ts";
import type { PublishedPort } from "./pods.ts";
import type { Canary } from "./rollouts.ts";

/** One replica, as last seen. For the services beside this one; not on the wire. Times are epoch milliseconds. */
export interface ReplicaFacts {
  /** Id of the container. */
  id: string;
  name: string;
  replicaId: string;
  ordinal: number | undefined;
  node: string;
  image: string;
  releaseId: string | undefined;
  /** created, running, restarting, paused, exited, removing, dead, unknown */
  state: string;
  /** What its probes say; without any, whether it runs. */
  ready: boolean;
  /** Why it is not ready, as far as that is known. */
  reason: string | undefined;
  /** It is being taken out of service. */
  leaving: boolean;
  /** A person stopped it. */
  frozen: boolean;
  createdAt: number;
  startedAt: number | undefined;
  /** When it began to run; undefined while it does not, and from a start to the first look after it. */
  upSince: number | undefined;
  restarts: number;
  /** Ends in a row, each before it had run for a while. */
  crashes: number;
  /** What it last died with. */
  exitCode: number | undefined;
  oomKilled: boolean;
  /** What it said of a process that can never begin. */
  cannotStart: string | undefined;
  ports: readonly PublishedPort[];
}

/** A release of an app. */
export interface ReleaseFacts {
  id: string;
  status: "pending" | "running" | "succeeded" | "failed";
  cause: string;
  actor: string | undefined;
  message: string | undefined;
  image: string | undefined;
  rolledBackFrom: string | undefined;
  startedAt: number;
  endedAt: number | undefined;
  error: string | undefined;
}

/** A release of an app among those of others. */
export interface AppRelease extends ReleaseFacts {
  app: ManifestKey;
}

/** A page of the releases of all apps. */
export interface ReleasesAsked {
  /** Only those that are older than this one; of two that began at the same time, the greater id is the newer one. */
  before?: Pick<ReleaseFacts, "startedAt" | "id"> | undefined;
  limit: number;
  isWanted(key: ManifestKey): boolean;
}

/** A deployment or statefulset, as it is stored and as its replicas were last seen. */
export interface AppFacts extends ManifestKey {
  revision: number;
  generation: number;
  updatedAt: number;
  /** The block of a plugin that it was expanded from: postgres/data/main. */
  block: string | undefined;
  image: string;
  /** What the reconciler last wrote down; undefined before its first round. */
  status:
    | {
        phase: string;
        conditions: readonly Condition[];
        warnings: readonly string[];
        observedRevision: number;
        observedGeneration: number;
        error: string | undefined;
        nextRetryAt: string | undefined;
      }
    | undefined;
  /** Replicas that are wanted. */
  replicas: number;
  /** Replicas that a person stopped, with a container or without. */
  frozenIds: readonly string[];
  /** The newest one. */
  release: ReleaseFacts | undefined;
  /** What a rollback would go back to. */
  rollbackTo: string | undefined;
  canary: Canary | undefined;
  /** Its manifest is gone; its replicas still have to go. */
  deleting: boolean;
  pods: readonly ReplicaFacts[];
}

/** What runs, from memory and the store alone: nothing here asks the engine. */
export interface AppWatch {
  keys(): ManifestKey[];
  /** Undefined for what is not stored. */
  of(key: ManifestKey): AppFacts | undefined;
  /** Those that are kept, newest first. */
  releases(asked: ReleasesAsked): readonly AppRelease[];
  /** When the figures of `GET /stats` were read; undefined before the first time, and while the engine is away. */
  usageAt(): number | undefined;
  /** Since when the engine can be reached, or cannot. */
  engine(): { up: boolean; since: number; error: string | undefined };
  /**
   * Tells that an app may be another than before; without a key, that any may. Many changes are reported many times.
   * Returns the way to leave.
   */
  subscribe(listener: (key: ManifestKey | undefined) => void): () => void;
}
