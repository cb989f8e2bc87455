import type { ManifestKey } from "../api/manifest.ts";
import type { PlannedPod, PlanWorkload } from "../core/plan/pod.ts";
import type { ResolvedWorkload } from "../core/workload.ts";
import type { Context } from "./context.ts";
import type { Pod } from "./pod-table.ts";

/** The part of a workload that the planner looks at. */
export function planTarget(workload: ResolvedWorkload): PlanWorkload {
  const { kind, scope, name, replicas, hash, generation, rollout } = workload;
  return { kind, scope, name, replicas, hash, generation, rollout, restart: workload.container.restart };
}

/** Replica ids that are left alone: frozen by an operator, or just being made anew by somebody else. */
export function untouchedIds(context: Context, key: ManifestKey): string[] {
  return [...new Set([...context.store.frozen.list(key), ...context.progress.held(key)])];
}

interface Observation {
  key: ManifestKey;
  workload: ResolvedWorkload;
  now: number;
}

/** Pods of a resource as the planner takes them. */
export function plannedPods(context: Context, { key, workload, now }: Observation): PlannedPod[] {
  const frozen = new Set(untouchedIds(context, key));
  return context.pods.of(key).map((pod) => ({
    id: pod.id,
    containerName: pod.name,
    replicaId: pod.replicaId,
    ordinal: pod.ordinal,
    state: pod.state,
    hash: pod.hash,
    generation: pod.generation,
    ready: hasProvedItself(pod, workload.rollout.minReadyMs, now),
    runningSince: pod.state === "running" ? pod.startedAt : undefined,
    createdAt: pod.createdAt,
    exitCode: pod.exitCode,
    restarts: pod.restarts,
    oomKilled: pod.oomKilled,
    frozen: frozen.has(pod.replicaId),
    role: pod.role,
    startNotBefore: context.progress.startNotBefore(pod.id),
  }));
}

/** Without probes a rollout trusts a replica once it has run for `min_ready`. */
function hasProvedItself(pod: Pod, minReadyMs: number, now: number): boolean {
  return pod.state === "running" && pod.startedAt !== undefined && now - pod.startedAt >= minReadyMs;
}

/** What `/pods/{name}/ready` says of a pod without probes: it is ready when it runs. */
export function isReady(pod: Pod): boolean {
  return pod.state === "running";
}
