import type { Principal } from "../../../access/principal.ts";
import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { Degraded, PodDetail, PodRecord, Readiness } from "../../api/pods.ts";
import { podNameOk } from "../../core/identity.ts";
import { MASK } from "../../core/mask.ts";
import type { InspectedPod } from "../../engine/pod.ts";
import type { Context } from "../state/context.ts";
import { parseKeyText } from "../../api/manifest-key.ts";
import type { Target } from "../requests.ts";
import { readinessOf } from "../state/observe.ts";
import type { Pod } from "../state/pod.ts";
import { requireMachine } from "../state/authority.ts";
import { matches } from "../state/target.ts";
import { shownManifest } from "../state/shown-manifest.ts";

interface PodView {
  spec: boolean;
  /** With every value of the environment in clear. */
  env?: boolean;
  by?: Principal;
}

/** GET /pods, sorted by kind, scope, name, replica. */
export async function listPods(context: Context, filter: Target, options: PodView & { detail: boolean }) {
  requireSight(options);
  context.link.require();
  await context.pods.refreshAll();
  const pods = [...context.pods.all()].filter((pod) => matches(pod.key, filter)).sort(byIdentity);
  const rows = await Promise.all(pods.map((pod) => row(context, pod, options)));
  return { pods: rows.filter((value) => value !== undefined), degraded: degraded(context, filter) };
}

async function row(context: Context, pod: Pod, options: PodView & { detail: boolean }): Promise<PodRecord | undefined> {
  if (!options.detail) return podRecord(context, pod, options.spec);
  const container = await context.engine.inspect(pod);
  if (container === undefined) return undefined;
  const detail = await podDetail(context, { container, pod, ...options });
  // A detail row keeps the compact names; its `state` is the object of `GET /pods/{name}` (docs/contract/orchestration.md, 2.2).
  return { ...podRecord(context, pod, options.spec), ...detail } as unknown as PodRecord;
}

export function byIdentity(a: Pod, b: Pod): number {
  return (
    a.key.kind.localeCompare(b.key.kind) ||
    a.key.scope.localeCompare(b.key.scope) ||
    a.key.name.localeCompare(b.key.name) ||
    (a.ordinal ?? 0) - (b.ordinal ?? 0) ||
    a.replicaId.localeCompare(b.replicaId)
  );
}

function degraded(context: Context, filter: Target): Degraded[] {
  return [...context.progress.troubles()].flatMap(([text, trouble]) => {
    const key = parseKeyText(text);
    if (!matches(key, filter)) return [];
    const scope = key.scope === "" ? {} : { scope: key.scope };
    return [{ kind: key.kind, ...scope, name: key.name, reason: trouble.message, at: isoTime(trouble.at) }];
  });
}

export function podRecord(context: Context, pod: Pod, withSpec = false): PodRecord {
  const manifest = withSpec ? context.store.manifests.get(pod.key) : undefined;
  return {
    name: pod.name,
    ...identity(context, pod),
    image: pod.image,
    state: pod.state,
    status: pod.status,
    running: pod.state === "running",
    ...(context.leaving.has(pod.id) ? { stopping: true as const } : {}),
    restarts: pod.restarts + pod.earlierRestarts,
    created_at: isoTime(pod.createdAt),
    ...(pod.startedAt === undefined ? {} : { started_at: isoTime(pod.startedAt) }),
    ...(pod.exitCode === undefined || pod.state === "running" ? {} : { exit_code: pod.exitCode }),
    ...(pod.oomKilled ? { oom_killed: true } : {}),
    ...(pod.ports.length > 0 ? { ports: pod.ports.map(wirePort) } : {}),
    ...(manifest === undefined ? {} : { spec: shownManifest(manifest) }),
  };
}

function wirePort({ container, hostIp, hostPort }: Pod["ports"][number]) {
  return { container, host_ip: hostIp, host_port: hostPort };
}

function identity(context: Context, pod: Pod) {
  return {
    kind: pod.key.kind,
    ...(pod.key.scope === "" ? {} : { scope: pod.key.scope }),
    resource_name: pod.key.name,
    replica_id: pod.replicaId,
    ...(pod.role === undefined ? {} : { role: pod.role }),
    ...releaseOf(context, pod),
    ready: readinessOf(context, pod).ready,
    frozen: context.store.frozen.list(pod.key).includes(pod.replicaId),
    node: pod.node,
  };
}

/** The release that made it. A replica carries no label for it: it was made from the newest release of its spec by then. */
function releaseOf({ store }: Context, pod: Pod): { release_id?: string } {
  const made = store.releases.list(pod.key).filter(({ hash }) => hash === pod.hash);
  const isReplica = pod.role === undefined && pod.key.kind !== "job" && pod.key.kind !== "cronjob";
  const release = isReplica ? (made.find(({ startedAt }) => startedAt <= pod.createdAt) ?? made.at(-1)) : undefined;
  const id = pod.releaseId ?? release?.id;
  return id === undefined ? {} : { release_id: id };
}

/** GET /pods/{name}: any container of the machine, ours or not. */
export async function getPod(context: Context, name: string, options: PodView): Promise<{ pod: PodDetail }> {
  refuseBadName(name);
  requireSight(options);
  context.link.require();
  const container = await context.engine.inspect(context.engine.named(name));
  if (container === undefined) throw new Failure("not_found", `no container "${name}"`);
  return { pod: await podDetail(context, { container, pod: context.pods.byId(container.id), ...options }) };
}

/** A caller who may read all config and all secrets of a container may see them together. */
function requireSight({ env, by }: PodView): void {
  if (env === true) requireMachine(by, "env=true");
}

interface DetailInput extends PodView {
  container: InspectedPod;
  pod: Pod | undefined;
}

async function podDetail(context: Context, { container, pod, spec, env = false }: DetailInput): Promise<PodDetail> {
  const manifest = pod === undefined ? undefined : context.store.manifests.get(pod.key);
  const image = await context.engine.inspectImage(container.imageId);
  const literals = { ...image?.env, ...stringsOf(manifest?.spec.env) };
  const { node } = container;
  const unmanaged = { kind: "", resource_name: "", ready: container.state === "running", frozen: false, node };
  const { nanoCpus: _cpus, memoryBytes: _memory, ...rest } = container;
  return {
    name: rest.name,
    id: rest.id,
    ...(pod === undefined ? unmanaged : identity(context, pod)),
    image: rest.image,
    image_id: rest.imageId,
    status: rest.status,
    running: rest.state === "running",
    created_at: isoTime(rest.createdAt),
    state: stateObject(container),
    command: rest.command,
    entrypoint: rest.entrypoint,
    working_dir: rest.workingDir,
    env: env ? container.env : maskEnv(container.env, literals, context.names.envPrefixes),
    labels: rest.labels,
    networks: Object.fromEntries(
      Object.entries(rest.networks).map(([network, { networkId, ipAddress, gateway, aliases }]) => [
        network,
        { network_id: networkId, ip_address: ipAddress, gateway, aliases },
      ]),
    ),
    mounts: rest.mounts.map(({ hostPath, ...mount }) => ({
      ...mount,
      ...(hostPath === undefined ? {} : { host_path: hostPath }),
    })),
    ports: rest.ports.map(wirePort),
    restart_policy: rest.restartPolicy,
    ...((await context.engine.logDropped(container)) === true ? { log_dropped: true } : {}),
    ...(spec && manifest !== undefined ? { spec: shownManifest(manifest) } : {}),
  };
}

function stateObject(container: InspectedPod): PodDetail["state"] {
  const { state, exitCode, oomKilled, error, startedAt, finishedAt, restartCount } = container;
  const running = state === "running";
  return {
    status: state,
    running,
    ...(running || exitCode === undefined ? {} : { exit_code: exitCode }),
    ...(oomKilled ? { oom_killed: true } : {}),
    ...(error === "" ? {} : { error }),
    ...(startedAt === undefined ? {} : { started_at: isoTime(startedAt) }),
    ...(finishedAt === undefined ? {} : { finished_at: isoTime(finishedAt) }),
    restarts: restartCount,
  };
}

/** Only what the manifest or the image says in clear, and our own identity variables, are shown. */
function maskEnv(
  env: Record<string, string>,
  literals: Record<string, string>,
  envPrefixes: readonly string[],
): Record<string, string> {
  const injected = ["SCOPE", "NAME", "REPLICA_ID", "REPLICA_ORDINAL"].flatMap((word) => {
    return envPrefixes.map((prefix) => `${prefix}_${word}`);
  });
  return Object.fromEntries(
    Object.entries(env).map(([key, value]) => {
      const open = literals[key] === value || injected.includes(key);
      return [key, open ? value : MASK];
    }),
  );
}

function stringsOf(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, String(text)]));
}

/** GET /pods/{name}/ready, from memory. As long as the engine was never reached, nothing is known, and nothing is ready. */
export function podReady(context: Context, name: string): Readiness {
  const pod = context.pods.byName(name);
  if (pod === undefined && !context.pods.hasLooked()) {
    const reason = `the container engine cannot be reached: ${context.link.error() ?? "unknown error"}`;
    return { container_name: name, ready: false, startup_passed: false, reason };
  }
  if (pod === undefined) throw new Failure("not_found", `no pod "${name}"`);
  return { container_name: pod.name, replica_id: pod.replicaId, ...readinessOf(context, pod) };
}

/** Fails `invalid` for a text that no pod can be called. */
export function refuseBadName(name: string): void {
  if (!podNameOk(name)) throw new Failure("invalid", `bad pod name "${name}"`);
}
