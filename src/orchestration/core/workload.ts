import type { PodKind } from "../api/manifest.ts";
import type { PassedOn } from "./spec/passed.ts";

/**
 * Everything that makes a container, resolved: environment merged, quantities parsed, references filled in, defaults
 * applied. Pure data; the code that creates containers reads only this and the `ContainerSpec`s made from it.
 */
export interface ResolvedWorkload {
  kind: PodKind;
  scope: string;
  name: string;
  replicas: number;
  /** Spec hash: sha256 hex. A container whose label differs is outdated. */
  hash: string;
  /** A container whose label is lower is outdated. */
  generation: number;
  revision: number;
  /** As written, or `<scope>-<name>:latest`. */
  image: string;
  /** False when the image is one built on this machine: it is never pulled. */
  pullable: boolean;
  pull: "missing" | "always";
  container: ContainerTemplate;
  volumeClaims: { name: string; mountPath: string; owner?: VolumeOwner }[];
  inits: ResolvedInit[];
  rollout: RolloutPolicy;
}

/** What all replicas of a workload share: what the engine gets as the spec has it, and what had to be resolved. */
export interface ContainerTemplate extends PassedOn {
  /** Undefined: that of the image. */
  command?: string[] | undefined;
  /** Merged: env_from < scope config < app config < manifest env < injected identity. */
  env: Record<string, string>;
  ports: PortBinding[];
  mounts: Mount[];
  /** Networks beside the platform bridge, as written. */
  networks: string[];
  restart: RestartPolicy;
  ulimits: { name: string; soft: number; hard: number }[];
  /** CPUs times 10^9; undefined for no limit. */
  nanoCpus?: number | undefined;
  memoryBytes?: number | undefined;
  /** Parsed `docker_options`. */
  options: EngineOptions;
  /** A replica gets an init as process 1 where the spec is silent about it and its image starts none of its own. */
  initUnlessOwn: boolean;
}

/** One container to run to its end before a replica is made. */
export interface ResolvedInit {
  name: string;
  /** Undefined: the main container's. */
  image: string | undefined;
  command: string[];
  timeoutMs: number;
  /** Further tries after the first. */
  retries: number;
  nanoCpus: number | undefined;
  memoryBytes: number | undefined;
  ulimits: { name: string; soft: number; hard: number }[];
  /** Undefined: the main container's. */
  options: EngineOptions | undefined;
}

export interface PortBinding {
  hostIp: string;
  /** Undefined: the engine picks a free one. */
  hostPort: number | undefined;
  containerPort: number;
  protocol: "tcp" | "udp" | "sctp";
}

export interface Mount {
  /** `bind`: `source` is an absolute host path; `volume`: a volume name. */
  type: "bind" | "volume";
  source: string;
  target: string;
  readOnly: boolean;
  /** Set on bind mounts of asset files: the content digest, for drift and collection. */
  assetDigest?: string;
  /** Set on volumes that a manifest names: whose the volume is. */
  volume?: NamedVolume;
  /** Whose the root folder of the volume becomes while the volume is empty; undefined: it stays as it is. */
  owner?: VolumeOwner;
}

/** Numbers of a user and a group. */
export interface VolumeOwner {
  uid: number;
  /** Undefined: the group of the folder stays as it is. */
  gid: number | undefined;
}

/** A volume that manifests name, before it has its name in the engine. */
export interface NamedVolume {
  /** The scope that it belongs to; of an external one the scope that uses it. */
  owner: string;
  name: string;
  /** Neither made, nor labelled, nor removed by us. */
  external: boolean;
}

export interface RestartPolicy {
  name: "no" | "always" | "unless-stopped" | "on-failure";
  maximumRetryCount: number;
}

/** Raw engine options that `docker_options` may set; every field optional, names as in Docker's API. */
export interface EngineOptions {
  init?: boolean;
  privileged?: boolean;
  readonlyRootfs?: boolean;
  user?: string;
  workingDir?: string;
  hostname?: string;
  entrypoint?: string[];
  labels?: Record<string, string>;
  capDrop?: string[];
  dns?: string[];
  dnsSearch?: string[];
  dnsOptions?: string[];
  /** Further names of the pod within its scope, each one label; several pods may share one. */
  networkAliases?: string[];
  groupAdd?: string[];
  securityOpt?: string[];
  sysctls?: Record<string, string>;
  tmpfs?: Record<string, string>;
  devices?: { pathOnHost: string; pathInContainer: string; permissions: string }[];
  shmSizeBytes?: number;
  memoryReservationBytes?: number;
  memorySwapBytes?: number;
  pidsLimit?: number;
  cpuShares?: number;
  cpusetCpus?: string;
  oomScoreAdj?: number;
  ipcMode?: string;
  pidMode?: string;
}

export interface RolloutPolicy {
  strategy: "rolling" | "recreate";
  /** Why the strategy is what it is, when it was not written: shown in plans. */
  strategyReason: string | undefined;
  maxSurge: number;
  maxUnavailable: number;
  minReadyMs: number;
  progressDeadlineMs: number;
  /** Restarts in a row, and the time that they must have gone on for, that make a crash loop. */
  crashRestarts: number;
  crashAfterMs: number;
  drainMs: number;
  autoRollback: boolean;
  /** What of visitors' requests makes a release go back; undefined: nothing. */
  guard: GuardPolicy | undefined;
  /** How the new replicas take the requests over; undefined: each takes its part as soon as it is ready. */
  canary: CanaryPolicy | undefined;
}

export interface CanaryPolicy {
  /** At least one; the shares grow. */
  steps: readonly CanaryStep[];
  /** How long the old replicas stay after the last step, which then has a share of 1; 0: they go at once. */
  keepMs: number;
}

export interface CanaryStep {
  /** Share of the requests, above 0 and up to 1, that the new replicas get. */
  share: number;
  /** Undefined: until somebody resumes. */
  pauseMs: number | undefined;
}

export interface GuardPolicy {
  /** Largest share of failed requests, 0 to 1; undefined: not looked at. */
  failedShareMax: number | undefined;
  p99MsMax: number | undefined;
  /** How long each new replica is watched, and at most how far back its requests count. */
  overMs: number;
  /** Fewer requests say nothing. */
  requestsMin: number;
}

/** One container to be made. Engine-neutral; `engine/docker/create-options.ts` turns it into an API body. */
export interface ContainerSpec extends Omit<ContainerTemplate, "networks" | "initUnlessOwn"> {
  name: string;
  /** Reference or id, already present on the machine. */
  image: string;
  labels: Record<string, string>;
  /** Networks to join in order, platform bridge first; empty unless `networkMode` is bridge. */
  networks: { name: string; aliases: string[] }[];
  /** Set where a client is connected to the main process; see `Engine.startAttached`. */
  attach?: { tty: boolean; interactive: boolean; size?: { cols: number; rows: number } | undefined };
}
