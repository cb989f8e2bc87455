import type { PodMeasure, PodMeasures, ReplicaCount } from "../../api/pod-measure.ts";
import { decodeSpec } from "../../core/spec/decode.ts";
import { replicasNow } from "../desired/resolve.ts";
import type { Context } from "../state/context.ts";
import { readinessOf } from "../state/observe.ts";

/** Runs of jobs are measured like replicas; inits, release commands and one-off commands are over too soon. */
const measuredRoles = new Set([undefined, "job"]);

/** See `PodMeasures`. Everything comes from memory. */
export function createMeasures(context: Context): PodMeasures {
  return {
    latest() {
      const snapshot = context.usage.latest();
      if (snapshot === undefined) return undefined;
      const pods = [...snapshot.pods.values()].flatMap((usage): PodMeasure[] => {
        const { identity, name: container, id, cpuPercent, memoryBytes, memoryLimitBytes, pids, at } = usage;
        if (identity === undefined || !measuredRoles.has(identity.role)) return [];
        const pod = context.pods.byId(id);
        const probes = context.probes.figures(id);
        return [
          {
            key: identity.key,
            replicaId: identity.replicaId,
            ordinal: identity.ordinal,
            ...{ container, id, at, cpuPercent, memoryBytes, memoryLimitBytes, pids },
            restarts: pod === undefined ? 0 : pod.restarts + pod.earlierRestarts,
            detail: usage.detail ?? {},
            ...(probes === undefined ? {} : { probes }),
          },
        ];
      });
      return { at: snapshot.at, pods };
    },
    replicas: () => [...replicaCounts(context)],
  };
}

function* replicaCounts(context: Context): Iterable<ReplicaCount> {
  for (const { kind, scope, name } of context.store.manifests.heads()) {
    if (kind !== "deployment" && kind !== "statefulset") continue;
    const key = { kind, scope, name };
    const manifest = context.store.manifests.get(key);
    if (manifest === undefined) continue;
    const running = context.pods.of(key).filter(({ role, state }) => role === undefined && state === "running");
    const ready = running.filter((pod) => readinessOf(context, pod).ready).length;
    yield { key, ready, wanted: replicasNow(context, manifest, decodeSpec(kind, manifest.spec).replicas) };
  }
}
