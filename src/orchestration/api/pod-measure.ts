import type { ManifestKey } from "./manifest.ts";

/** What one running pod used, as last read. For the services beside this one; not on the wire. */
export interface PodMeasure {
  key: ManifestKey;
  /** The replica id; of a statefulset the ordinal as text. */
  replicaId: string;
  ordinal: number | undefined;
  /** Name and id of its container. */
  container: string;
  id: string;
  /** Epoch milliseconds of the reading. */
  at: number;
  /** 100 is one core, averaged since the reading before. */
  cpuPercent: number;
  memoryBytes: number;
  /** The machine's memory without a limit. */
  memoryLimitBytes: number;
  pids: number;
  /** Starts after the first one. */
  restarts: number;
  /** Since its start; absent for what the machine does not count. See `UsageDetail` of the engine. */
  detail: Readonly<Partial<Record<PodCounter, number | undefined>>>;
  /** Absent for a pod without probes. */
  probes?: ProbeFigures;
}

/** Attempts of the probes of one container, all of them together. */
export interface ProbeFigures {
  attempts: number;
  failures: number;
  /** How long the last attempt took, in milliseconds; 0 before the first. */
  tookMs: number;
}

type PodCounter =
  | "rssBytes"
  | "cacheBytes"
  | "throttledMicros"
  | "netRxBytes"
  | "netTxBytes"
  | "blockReadBytes"
  | "blockWriteBytes"
  | "oomKills"
  | "cpuPressureMicros"
  | "memoryPressureMicros"
  | "ioPressureMicros";

/** How many replicas of a resource there are. */
export interface ReplicaCount {
  key: ManifestKey;
  ready: number;
  wanted: number;
}

export interface PodMeasures {
  /** The collector's last reading; undefined before the first, and while it is off. */
  latest(): { at: number; pods: PodMeasure[] } | undefined;
  /** From memory. */
  replicas(): ReplicaCount[];
}
