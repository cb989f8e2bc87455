/** One chart of a board: what to ask for, and how its values read. */
export interface BoardChart {
  title: string;
  /** `source.metric`, several with commas. */
  metric: string;
  agg?: string;
  groupBy?: string;
  unit: Unit;
  /** Names of the lines where each metric is one line. */
  names?: readonly string[];
}

export type Unit = "percent" | "bytes" | "bytesPerSecond" | "rate" | "ms" | "count";

export const hostBoard: readonly BoardChart[] = [
  {
    title: "CPU",
    metric: "system.cpu_percent,system.cpu_iowait_percent,system.cpu_steal_percent",
    unit: "percent",
    names: ["in use", "waiting for a disk", "stolen"],
  },
  { title: "Memory", metric: "system.mem_used_bytes,system.mem_total_bytes", unit: "bytes", names: ["in use", "of"] },
  { title: "Disk in use", metric: "system.disk_used_percent", groupBy: "mount", unit: "percent" },
  {
    title: "Pressure: time that processes waited",
    metric: "system.pressure_cpu_percent,system.pressure_memory_percent,system.pressure_io_percent",
    unit: "percent",
    names: ["CPU", "memory", "disk"],
  },
  {
    title: "Network",
    metric: "system.net_rx_delta_bytes,system.net_tx_delta_bytes",
    agg: "rate",
    unit: "bytesPerSecond",
    names: ["received", "sent"],
  },
  {
    title: "Disk traffic",
    metric: "system.block_read_delta_bytes,system.block_write_delta_bytes",
    agg: "rate",
    unit: "bytesPerSecond",
    names: ["read", "written"],
  },
];

export const appsBoard: readonly BoardChart[] = [
  { title: "CPU by app; 100 % is one core", metric: "pod.cpu_percent", agg: "sum", groupBy: "app", unit: "percent" },
  { title: "Memory by app", metric: "pod.mem_usage_bytes", agg: "sum", groupBy: "app", unit: "bytes" },
  { title: "Requests by host", metric: "ingress.req_count", agg: "rate", groupBy: "host", unit: "rate" },
  { title: "Failed requests by host", metric: "ingress.req_failed", agg: "rate", groupBy: "host", unit: "rate" },
];

/** Of one app: a line for each replica, or all of them as one. */
export function appBoard(byReplica: boolean): readonly BoardChart[] {
  const each = byReplica ? { groupBy: "replica" } : {};
  const sum = byReplica ? {} : { agg: "sum" };
  return [
    {
      title: "Requests",
      metric: "ingress.req_count,ingress.req_failed",
      agg: "rate",
      unit: "rate",
      names: ["all", "failed"],
    },
    { title: "Time to answer, p50", metric: "ingress.latency_ms", agg: "p50", unit: "ms", names: ["p50"] },
    { title: "Time to answer, p99", metric: "ingress.latency_ms", agg: "p99", unit: "ms", names: ["p99"] },
    { title: "CPU; 100 % is one core", metric: "pod.cpu_percent", ...sum, ...each, unit: "percent", names: ["CPU"] },
    { title: "Memory", metric: "pod.mem_usage_bytes", ...sum, ...each, unit: "bytes", names: ["in use"] },
    {
      title: "Network",
      metric: "pod.net_rx_delta_bytes,pod.net_tx_delta_bytes",
      agg: "rate",
      unit: "bytesPerSecond",
      names: ["received", "sent"],
    },
    {
      title: "Restarts and kills for want of memory",
      metric: "pod.restarts,pod.oom_kills",
      agg: "sum",
      unit: "count",
      names: ["restarts", "out of memory"],
    },
  ];
}

interface Answer {
  metric: string;
  series: readonly { group: Record<string, string>; values: readonly (number | null)[] }[];
}

export interface NamedLine {
  name: string;
  values: readonly (number | null)[];
}

/** The lines of a chart by their names: of groups where there are any, else of the metrics. */
export function linesOf(results: readonly Answer[], names: readonly string[] = []): NamedLine[] {
  return results.flatMap(({ metric, series }, index) =>
    series.map(({ group, values }) => {
      const words = Object.values(group).join(" ");
      const own = names[index] ?? metric.slice(metric.indexOf(".") + 1);
      return { name: words === "" ? own : results.length > 1 ? `${words} ${own}` : words, values };
    }),
  );
}
