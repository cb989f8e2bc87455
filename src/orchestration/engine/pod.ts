import type { ManifestKey } from "../api/manifest.ts";
import type { Container, ContainerDetail, Usage } from "./container.ts";

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

/** One row of an observation. */
export interface ObservedPod extends Container, PodRef {
  /** Undefined for a container that no resource of ours has. */
  identity: PodIdentity | undefined;
  /** On the platform network; loopback where it shares the machine's network; undefined elsewhere, and while it does not run. */
  address: string | undefined;
}

/** Everything that the engine tells of one pod. */
export interface InspectedPod extends ContainerDetail, ObservedPod {}

/** `action` as Docker names it: create, start, die, stop, kill, oom, destroy, rename, pause, unpause, health_status… */
export interface PodEvent extends PodRef {
  action: string;
  name: string;
  identity: PodIdentity | undefined;
  exitCode: number | undefined;
  /** Epoch milliseconds, the engine's clock. */
  at: number;
}

/** Counters of one running pod. */
export interface PodUsage extends Omit<Usage, "labels">, PodRef {
  identity: PodIdentity | undefined;
}
