import type { ManifestKey } from "../../api/manifest.ts";
import type { PlannedPod, PlanWorkload } from "../../core/plan/pod.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";
import type { Context } from "./context.ts";
import { stoppedByRuns } from "../plugins/plugin-holds.ts";
import type { Pod } from "./pod.ts";
import type { ProbeReadiness } from "../pods/probe-room.ts";

/** The part of a workload that the planner looks at. */
export function planTarget(workload: ResolvedWorkload): PlanWorkload {
  const { kind, scope, name, replicas, hash, generation, rollout } = workload;
  return { kind, scope, name, replicas, hash, generation, rollout, restart: workload.container.restart };
}

/** Replica ids that are left alone: frozen by an operator, being made anew by somebody else, or stopped by a plugin at work. */
export function untouchedIds(context: Context, key: ManifestKey): string[] {
  const { store, progress } = context;
  return [...new Set([...store.frozen.list(key), ...progress.held(key), ...stoppedByRuns(context, key)])];
}

interface Observation {
  key: ManifestKey;
  workload: ResolvedWorkload;
  /** Of the steady clock. */
  now: number;
}

/** Pods of a resource as the planner takes them. */
export function plannedPods(context: Context, { key, workload, now }: Observation): PlannedPod[] {
  const pods = context.pods.of(key);
  if (pods.length === 0) return [];
  const frozen = new Set(untouchedIds(context, key));
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
    cannotStart: pod.cannotStart,
    probe: context.probes.hindrance(pod),
    oomKilled: pod.oomKilled,
    frozen: frozen.has(pod.replicaId),
    role: pod.role,
    cutOffFrom: cutOffFrom(context, pod, workload),
    startNotBefore: context.progress.startNotBefore(pod.id),
  }));
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

/** What a rollout trusts: the probes, and without any that the replica has run for `min_ready`. */
function isUp(context: Context, pod: Pod, { minReadyMs, now }: { minReadyMs: number; now: number }): boolean {
  if (pod.state !== "running" || context.leaving.has(pod.id)) return false;
  const probed = context.probes.readiness(pod);
  if (probed !== undefined) return probed.ready;
  return pod.upSince !== undefined && now - pod.upSince >= minReadyMs;
}

/** What `/pods/{name}/ready` says: the probes; a pod without any is ready when it runs. */
export function readinessOf(context: Context, pod: Pod): ProbeReadiness {
  if (context.leaving.has(pod.id)) return { ready: false, startup_passed: true, reason: "being taken out of service" };
  const probed = context.probes.readiness(pod);
  if (probed !== undefined) return probed;
  const ready = pod.state === "running";
  const last_transition = new Date(pod.changedAt).toISOString();
  return {
    ready,
    startup_passed: true,
    last_transition,
    ...(ready ? {} : { reason: `the container is ${pod.state}` }),
  };
}
