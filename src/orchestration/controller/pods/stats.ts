import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { StoredManifest } from "../../api/manifest.ts";
import type { listStats, Stats } from "../../api/stats.ts";
import { containerOf } from "../../core/spec/decode.ts";
import { formatCpu } from "../../../base/pure/quantity.ts";
import { memoryPercent } from "../../core/usage.ts";
import type { Context } from "../state/context.ts";
import type { Target } from "../requests.ts";
import type { UsageSnapshot } from "../state/usage-sampler.ts";
import { matches } from "../state/target.ts";

type PodUsage = UsageSnapshot["pods"] extends ReadonlyMap<string, infer Value> ? Value : never;

/** GET /stats, sorted by container name. Fails `unavailable` when the collector is off or the engine is down. */
export async function podStats(
  context: Context,
  filter: Target,
  { orphans, live }: { orphans: boolean; live: boolean },
): Promise<DataOf<typeof listStats>> {
  if (!context.usage.enabled) {
    throw new Failure("unavailable", "the stats collector is off; start the server with --stats-interval 15s");
  }
  context.link.require();
  const collected = live ? undefined : context.usage.latest();
  const snapshot = collected ?? (await context.usage.live());
  const rows = [...snapshot.pods.values()].flatMap((usage) => record(context, filter, usage) ?? []);
  const pods = rows.filter(({ orphan }) => orphans || !orphan);
  return {
    pods: pods.sort((a, b) => a.container_name.localeCompare(b.container_name)),
    snapshot: collected !== undefined,
    sampled_at: isoTime(snapshot.at),
  };
}

/** Undefined for what the filter leaves out, and for containers without an identity. */
function record(context: Context, filter: Target, usage: PodUsage): Stats | undefined {
  if (usage.identity === undefined) return undefined;
  const { key, replicaId } = usage.identity;
  if (!matches(key, filter)) return undefined;
  const manifest = context.store.manifests.get(key);
  return {
    identity: { ...key, replica_id: replicaId },
    container_name: usage.name,
    usage: figures(usage),
    limits: manifest === undefined ? {} : limitsOf(manifest),
    orphan: manifest === undefined,
  };
}

function figures(usage: PodUsage): Stats["usage"] {
  const limitBytes = Number.isFinite(usage.memoryLimitBytes) ? usage.memoryLimitBytes : 0;
  return {
    cpu_percent: usage.cpuPercent,
    memory_usage_bytes: usage.memoryBytes,
    memory_limit_bytes: limitBytes,
    memory_percent: memoryPercent(usage.memoryBytes, limitBytes),
    ...(usage.pids === 0 ? {} : { pids: usage.pids }),
  };
}

/** `cpu` as a decimal count, `memory` as written. */
function limitsOf({ kind, spec }: StoredManifest): Stats["limits"] {
  const limits = containerOf(kind, spec)?.container.limits;
  if (limits === undefined) return {};
  const { nanoCpus, memory, memoryBytes } = limits;
  return {
    ...(nanoCpus === undefined ? {} : { cpu: formatCpu(nanoCpus) }),
    ...(memoryBytes === undefined || memory === undefined ? {} : { memory, memory_bytes: memoryBytes }),
  };
}
