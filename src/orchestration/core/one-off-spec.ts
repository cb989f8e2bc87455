import { appId, type Naming } from "./naming.ts";
import { instanceEnv } from "./telemetry-env.ts";
import type { ContainerSpec, ContainerTemplate } from "./workload.ts";

/** A container that runs one command to its end: an init, a step of a release, a run of a job, a command of an operator. */
export interface OneOff {
  /** Whose it is. For a release step the name is `<name>-release` and the kind `job`. */
  kind: string;
  scope: string;
  name: string;
  /** The whole container name; see `oneOffName`. */
  containerName: string;
  /** Id of the run, or of the replica that it prepares. */
  replicaId: string;
  role: "init" | "release" | "job" | "run";
  releaseId?: string;
  /** Present on the machine. */
  imageRef: string;
  command: string[] | undefined;
  /** Beside the template's. */
  env?: Record<string, string>;
  createdAt: number;
}

/** One-off containers carry identity and role labels, join the networks without any alias, and never restart. */
export function oneOffSpec(template: ContainerTemplate, one: OneOff, names: Naming): ContainerSpec {
  const { label } = names;
  const onBridge = template.networkMode === "bridge";
  const networks = [...new Set([names.network, ...template.networks])];
  const release: Record<string, string> = one.releaseId === undefined ? {} : { [label.releaseId]: one.releaseId };
  const { initUnlessOwn: _, ...container } = template;
  return {
    ...container,
    name: one.containerName,
    image: one.imageRef,
    command: one.command,
    env: {
      ...template.env,
      ...instanceEnv(template.env, { scope: one.scope, instance: one.replicaId }),
      ...one.env,
    },
    labels: {
      [label.kind]: one.kind,
      [label.scope]: one.scope,
      [label.name]: one.name,
      [label.replicaId]: one.replicaId,
      [label.role]: one.role,
      [label.createdAt]: new Date(one.createdAt).toISOString(),
      ...release,
    },
    ports: [],
    networks: onBridge ? networks.map((name) => ({ name, aliases: [] })) : [],
    restart: { name: "no", maximumRetryCount: 0 },
  };
}

/** `<scope>-<name>-init-<init>-<replica_id>`: no dot, so that it is never taken for a replica. */
export function initContainerName(owner: { scope: string; name: string }, init: string, replicaId: string): string {
  return `${appId(owner.scope, owner.name)}-init-${init}-${replicaId}`;
}

/** `<scope>-<name>-run-<id>`: no dot, so that it is never taken for a replica. */
export function attachedRunName(owner: { scope: string; name: string }, id: string): string {
  return `${appId(owner.scope, owner.name)}-run-${id}`;
}

/** `<scope>-<name>-release.<release_id>`, with `-pre` or `-post` behind for those commands. */
export function releaseContainerName(
  owner: { scope: string; name: string },
  releaseId: string,
  step: "pre" | "main" | "post",
): string {
  return `${appId(owner.scope, owner.name)}-release.${releaseId}${step === "main" ? "" : `-${step}`}`;
}
