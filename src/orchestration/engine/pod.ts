import type { ManifestKey } from "../api/manifest.ts";
import type { ListenAddress } from "../core/port-proof.ts";

/** How a pod is addressed: the machine that it runs on, and what the engine there calls it. No code takes `id` apart. */
export interface PodRef {
  node: string;
  id: string;
}

/** Whose a pod is and what it was made from, read from its labels and never from its name. */
export interface PodIdentity {
  key: ManifestKey;
  /** In a statefulset the ordinal as text. */
  replicaId: string;
  ordinal: number | undefined;
  /** `init`, `release`, `job` or `run`: such pods are never replicas. */
  role: string | undefined;
  releaseId: string | undefined;
  hash: string;
  generation: number;
  /** Ports on its side that ingresses led to when it was made; undefined: none. */
  ingressPorts?: readonly number[];
}

/** `unknown`: the engine did not say. */
export type ContainerState =
  "created" | "running" | "restarting" | "paused" | "exited" | "removing" | "dead" | "unknown";

/** One row of an observation. Times are epoch milliseconds. */
export interface ObservedPod extends PodRef {
  /** Without the leading slash. */
  name: string;
  /** Reference as given at creation. */
  image: string;
  imageId: string;
  state: ContainerState;
  /** The engine's own text: "Up 2 hours". */
  status: string;
  createdAt: number;
  labels: Record<string, string>;
  /** Names of the networks it is connected to, or will be when it starts. */
  joined: string[];
  /** IPv4 address by network name; without the networks where it has none, as all are while it does not run. */
  addresses: Record<string, string>;
  /** Undefined for a container that no resource of ours has. */
  identity: PodIdentity | undefined;
  /** On the platform network; loopback where it shares the machine's network; undefined elsewhere, and while it does not run. */
  address: string | undefined;
}

/** Everything that the engine tells of one pod. */
export interface InspectedPod extends ObservedPod {
  startedAt: number | undefined;
  finishedAt: number | undefined;
  exitCode: number | undefined;
  oomKilled: boolean;
  /** Text of the last failed start. */
  error: string;
  restartCount: number;
  /** Host pid of the main process while it runs. */
  pid: number | undefined;
  command: string[];
  entrypoint: string[];
  workingDir: string;
  env: Record<string, string>;
  /** By network name; the address is empty while it does not run. */
  networks: Record<string, { networkId: string; ipAddress: string; gateway: string; aliases: string[] }>;
  /** `hostPath`: where it lies on the machine of the engine, as far as that tells. */
  mounts: { type: string; source: string; destination: string; mode: string; rw: boolean; hostPath?: string }[];
  ports: { container: string; hostIp: string; hostPort: string }[];
  restartPolicy: string;
  /** Between stop signal and kill, as it was made with; the engine's default where nothing was said. */
  stopGraceMs: number;
  nanoCpus: number | undefined;
  memoryBytes: number | undefined;
  tty: boolean;
  /** Path of the file that its output is written to, as the engine's machine has it; only of the driver `json-file`. */
  logPath?: string;
}

/** `action` as Docker names it: create, start, die, stop, kill, oom, destroy, rename, pause, unpause, health_status… */
export interface PodEvent extends PodRef {
  action: string;
  name: string;
  identity: PodIdentity | undefined;
  exitCode: number | undefined;
  /** Epoch milliseconds, the engine's clock. */
  at: number;
}

/** TCP in the network of a container. */
export interface TcpServed {
  listening: boolean;
  /** Connections to ports that listen. */
  established: number;
  /** Without the engine's own; undefined where they are not told one by one. */
  listeners?: readonly ListenAddress[];
}

/** How a container ended. */
export interface ContainerEnd {
  exitCode: number;
  oomKilled: boolean;
  error: string;
  /** Epoch milliseconds, the engine's clock. */
  finishedAt: number | undefined;
}

/** Counters since the start of a container, and levels; undefined for what the engine does not count. */
export interface UsageDetail {
  /** Memory of the processes themselves, and file cache. */
  rssBytes?: number | undefined;
  cacheBytes?: number | undefined;
  /** Time in which the CPU limit held it back. */
  throttledMicros?: number | undefined;
  netRxBytes?: number | undefined;
  netTxBytes?: number | undefined;
  blockReadBytes?: number | undefined;
  blockWriteBytes?: number | undefined;
  /** Processes that were killed for want of memory. */
  oomKills?: number | undefined;
  /** Time in which some process waited. */
  cpuPressureMicros?: number | undefined;
  memoryPressureMicros?: number | undefined;
  ioPressureMicros?: number | undefined;
}

/** Counters of one running pod. */
export interface PodUsage extends PodRef {
  name: string;
  identity: PodIdentity | undefined;
  /** CPU time since the start, in nanoseconds. */
  cpuNanos: number;
  memoryBytes: number;
  /** The container's limit, or the machine's memory without one. */
  memoryLimitBytes: number;
  pids: number;
  detail?: UsageDetail;
  /** Epoch milliseconds of the reading. */
  at: number;
}
