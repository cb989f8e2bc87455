import { claimVolumeName, containerName, injectedEnv, type Naming, networkAliases } from "./naming.ts";
import { instanceEnv } from "./telemetry-env.ts";
import type { ContainerSpec, Mount, ResolvedWorkload } from "./workload.ts";

/** What makes one replica different from its siblings. */
export interface Replica {
  replicaId: string;
  /** Statefulsets only. */
  ordinal?: number;
  /** Reference or id of an image that is on the machine. */
  imageRef: string;
  /** Epoch milliseconds. */
  createdAt: number;
  /** On the container's side, that ingresses lead to now. */
  ingressPorts?: readonly number[];
}

/** One container of a workload, ready to be made. */
export function containerSpec(workload: ResolvedWorkload, replica: Replica, names: Naming): ContainerSpec {
  const { scope, name } = workload;
  const { initUnlessOwn: _, ...container } = workload.container;
  const onBridge = container.networkMode === "bridge";
  const { replicaId, ordinal } = replica;
  return {
    ...container,
    name: containerName(scope, name, replicaId),
    image: replica.imageRef,
    env: {
      ...container.env,
      ...instanceEnv(container.env, { scope, instance: replicaId }),
      ...replicaEnv(replica, names, container.env),
    },
    labels: labels(workload, replica, names),
    ports: onBridge ? container.ports : [],
    mounts: [...container.mounts, ...claimMounts(workload, ordinal, names)],
    networks: onBridge ? networks(workload, ordinal, names) : [],
  };
}

function labels(workload: ResolvedWorkload, replica: Replica, { label }: Naming): Record<string, string> {
  const { ingressPorts = [] } = replica;
  return {
    [label.kind]: workload.kind,
    [label.scope]: workload.scope,
    [label.name]: workload.name,
    [label.replicaId]: replica.replicaId,
    ...(replica.ordinal === undefined ? {} : { [label.replicaOrdinal]: String(replica.ordinal) }),
    [label.manifestHash]: workload.hash,
    [label.generation]: String(workload.generation),
    [label.createdAt]: new Date(replica.createdAt).toISOString(),
    ...(ingressPorts.length === 0 ? {} : { [label.ingressPorts]: ingressPorts.join(",") }),
  };
}

function replicaEnv(
  { replicaId, ordinal }: Replica,
  names: Naming,
  own: Record<string, string>,
): Record<string, string> {
  const position: Record<string, string> = ordinal === undefined ? {} : { REPLICA_ORDINAL: String(ordinal) };
  return injectedEnv(names, { REPLICA_ID: replicaId, ...position }, own);
}

/** The volumes of its own that one ordinal of a statefulset has; none without an ordinal. */
export function claimMounts(workload: ResolvedWorkload, ordinal: number | undefined, names: Naming): Mount[] {
  if (ordinal === undefined) return [];
  return workload.volumeClaims.map(({ name, mountPath, owner }) => ({
    type: "volume",
    source: claimVolumeName(names, workload, name, ordinal),
    target: mountPath,
    readOnly: false,
    ...(owner === undefined ? {} : { owner }),
  }));
}

/** The platform bridge first: it is the one that probes and the ingress use. */
function networks(workload: ResolvedWorkload, ordinal: number | undefined, names: Naming): ContainerSpec["networks"] {
  const aliases = networkAliases(names, workload, ordinal, workload.container.options.networkAliases);
  const joined = new Set([names.network, ...workload.container.networks]);
  return [...joined].map((name) => ({ name, aliases }));
}
