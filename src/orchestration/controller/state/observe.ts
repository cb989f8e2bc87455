import type { ManifestKey } from "../../api/manifest.ts";
import type { PlannedPod, PlanWorkload } from "../../core/plan/pod.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";
import type { Context } from "./context.ts";
import { heldByRuns } from "./plugin-holds.ts";
import type { Pod } from "./pod.ts";
import type { ProbeReadiness } from "./probe-room.ts";

/** The part of a workload that the planner looks at. */
export function planTarget(workload: ResolvedWorkload): PlanWorkload {
  const { kind, scope, name, replicas, hash, generation, rollout, container } = workload;
  const holdsPorts = container.networkMode === "host" || container.ports.some(({ hostPort }) => hostPort !== undefined);
  return { kind, scope, name, replicas, hash, generation, rollout, restart: container.restart, holdsPorts };
}

/**
 * Replica ids that are left alone for a while, and why: restarted by their liveness probe, being recreated, or stopped
 * by a plugin at work.
 */
export function heldReplicas(context: Context, key: ManifestKey): Map<string, string> {
  return new Map([...heldByRuns(context, key), ...context.progress.held(key)]);
}

interface Observation {
  key: ManifestKey;
  workload: ResolvedWorkload;
  /** Time of the steady clock. */
  now: number;
}

/** Pods of a resource as the planner takes them. */
export function plannedPods(context: Context, { key, workload, now }: Observation): PlannedPod[] {
  const pods = context.pods.of(key);
  if (pods.length === 0) return [];
  const frozen = new Set(context.store.frozen.list(key));
  const held = heldReplicas(context, key);
  const watchedUntil = context.guards.watchedUntil(workload);
  return pods.map((pod) => ({
    node: pod.node,
    id: pod.id,
    containerName: pod.name,
    replicaId: pod.replicaId,
    ordinal: pod.ordinal,
    state: pod.state,
    hash: pod.hash,
    generation: pod.generation,
    ...readinessSeen(isUp(context, pod, { minReadyMs: workload.rollout.minReadyMs, now }), watchedUntil(pod), now),
    runningSince: pod.state === "running" ? pod.upSince : undefined,
    createdAt: pod.createdAt,
    exitCode: pod.exitCode,
    restarts: pod.restarts,
    crashes: pod.crashes,
    killedFor: pod.killedFor,
    restored: pod.restored,
    cannotStart: pod.cannotStart,
    ...hindrancesSeen(context, pod),
    oomKilled: pod.oomKilled,
    frozen: frozen.has(pod.replicaId),
    held: held.get(pod.replicaId),
    role: pod.role,
    departing: context.departures.has(pod.id),
    cutOffFrom: cutOffFrom(context, pod, workload),
    startNotBefore: context.progress.startNotBefore(pod.id),
  }));
}

/** A port that is closed is why its liveness probe fails, and the port is what a person can correct. */
function hindrancesSeen({ probes, ports }: Context, pod: Pod): Pick<PlannedPod, "probe" | "port"> {
  const port = ports.hindrance(pod);
  const isOfPort = port !== undefined && probes.failing(pod)?.probe === "liveness";
  return { probe: isOfPort ? undefined : probes.hindrance(pod), port };
}

/** A replica that is up and still watched is not trusted yet. */
function readinessSeen(
  up: boolean,
  watchedUntil: number | undefined,
  now: number,
): Pick<PlannedPod, "ready" | "watchedUntil"> {
  return up && watchedUntil !== undefined && watchedUntil > now ? { ready: false, watchedUntil } : { ready: up };
}

/** Without that network no other pod can reach it, however well it runs. */
function cutOffFrom({ names }: Context, pod: Pod, { container }: ResolvedWorkload): string | undefined {
  if (pod.state !== "running" || container.networkMode !== "bridge") return undefined;
  return pod.joined.includes(names.network) ? undefined : names.network;
}

/**
 * What a rollout trusts: open ports, and the probes that answer for the replica, or without any that it has run for
 * `min_ready`. A liveness probe that passes answers for nothing. One that fails says that the replica is restarted
 * next: a release of such replicas is a loop of restarts, however ready they are in between.
 */
function isUp(context: Context, pod: Pod, { minReadyMs, now }: { minReadyMs: number; now: number }): boolean {
  if (pod.state !== "running" || context.leaving.has(pod.id) || context.departures.has(pod.id)) return false;
  if (!context.ports.isProven(pod)) return false;
  const probed = context.probes.readiness(pod);
  if (probed?.ready === false || context.probes.failing(pod) !== undefined) return false;
  if (context.probes.answersFor(pod)) return true;
  return pod.upSince !== undefined && now - pod.upSince >= minReadyMs;
}

/** What `/pods/{name}/ready` says: the probes and ports; a pod with nothing to ask is ready when it runs. */
export function readinessOf(context: Context, pod: Pod): ProbeReadiness {
  if (context.leaving.has(pod.id)) return { ready: false, startup_passed: true, reason: "being taken out of service" };
  const closed = context.ports.mayServe(pod) ? undefined : (context.ports.hindrance(pod) ?? "its port is being asked");
  const probed = context.probes.readiness(pod);
  if (probed?.ready === true && closed !== undefined) return { ...probed, ready: false, reason: closed };
  if (probed !== undefined) return probed;
  const ready = pod.state === "running" && closed === undefined;
  const last_transition = new Date(pod.changedAt).toISOString();
  return {
    ready,
    startup_passed: true,
    last_transition,
    ...(ready ? {} : { reason: pod.state === "running" ? closed : `the container is ${pod.state}` }),
  };
}
