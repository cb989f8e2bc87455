import { keyText } from "../../../orchestration/api/manifest-key.ts";
import type { Stats } from "../../../orchestration/api/stats.ts";
import type { AppUsage } from "../../api/app-model.ts";
import type { ReplicaUsage } from "./view.ts";

interface UsageByApp {
  /** By `kind/scope/name`. */
  apps: Map<string, AppUsage>;
  /** By the name of the container. */
  pods: Map<string, ReplicaUsage>;
}

/** Sums over the replicas of each app. */
export function usageByApp(rows: readonly Stats[]): UsageByApp {
  const pods = new Map(rows.map((row) => [row.container_name, replicaUsage(row)]));
  const groups = Map.groupBy(rows, ({ identity }) => keyText(identity));
  return { pods, apps: new Map([...groups].map(([app, group]) => [app, appUsage(group)])) };
}

function replicaUsage({ usage }: Stats): ReplicaUsage {
  return {
    cpu_percent: usage.cpu_percent,
    memory_bytes: usage.memory_usage_bytes,
    memory_limit_bytes: usage.memory_limit_bytes,
  };
}

/** A sum of limits says something only where each replica has one. */
function appUsage(rows: readonly Stats[]): AppUsage {
  const sum = (read: (row: Stats) => number) => rows.reduce((total, row) => total + read(row), 0);
  const isLimited = rows.every(({ limits }) => limits.memory_bytes !== undefined);
  return {
    cpu_percent: Math.round(sum(({ usage }) => usage.cpu_percent) * 100) / 100,
    memory_bytes: sum(({ usage }) => usage.memory_usage_bytes),
    ...(isLimited ? { memory_limit_bytes: sum(({ limits }) => limits.memory_bytes ?? 0) } : {}),
  };
}
