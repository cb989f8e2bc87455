import type { Source } from "./series.ts";

/**
 * `gauge`: a level. `counter`: how much was added since the sample before, so that sums over time and replicas are
 * true. `histogram`: how long what happened since then took.
 */
export type MetricType = "gauge" | "counter" | "histogram";

/** What a metric means. */
export interface Metric {
  source: Source;
  name: string;
  type: MetricType;
  unit: "percent" | "bytes" | "count" | "milliseconds" | "load";
  help: string;
  /** Labels that its series may have. */
  labels: readonly string[];
}

const metric =
  (source: Source, type: MetricType) =>
  (name: string, unit: Metric["unit"], help: string, labels: readonly string[] = []): Metric => ({
    ...{ source, type, name, unit, help, labels },
  });

const [host, hostCount] = [metric("system", "gauge"), metric("system", "counter")];
const [pod, podCount] = [metric("pod", "gauge"), metric("pod", "counter")];
const app = metric("app", "gauge");
const visits = metric("ingress", "counter");
const [server, serverCount] = [metric("server", "gauge"), metric("server", "counter")];

const ingressLabels = ["ingress", "host"];

/** Every metric that the server collects itself. */
export const catalogue: readonly Metric[] = [
  host("cpu_percent", "percent", "use of all cores together; 100 is all of them"),
  host("cpu_iowait_percent", "percent", "share of time in which the cores waited for a disk"),
  host("cpu_steal_percent", "percent", "share of time that the hypervisor gave to other machines"),
  host("load_1", "load", "processes that run or wait, averaged over 1 minute"),
  host("load_5", "load", "the same over 5 minutes"),
  host("load_15", "load", "the same over 15 minutes"),
  host("mem_used_bytes", "bytes", "memory in use, without what the kernel can take back at once"),
  host("mem_available_bytes", "bytes", "memory that programs can still get"),
  host("mem_total_bytes", "bytes", "memory of the machine"),
  host("swap_used_bytes", "bytes", "swap in use"),
  host("swap_total_bytes", "bytes", "swap of the machine"),
  host("disk_used_bytes", "bytes", "space in use", ["mount"]),
  host("disk_total_bytes", "bytes", "size of the file system", ["mount"]),
  host("disk_used_percent", "percent", "share of the space that programs can use", ["mount"]),
  host("inodes_used_percent", "percent", "share of the inodes in use", ["mount"]),
  host("disk_busy_percent", "percent", "share of time in which the disk had work", ["device"]),
  host("pressure_cpu_percent", "percent", "share of time in which some process waited for a core"),
  host("pressure_memory_percent", "percent", "share of time in which some process waited for memory"),
  host("pressure_io_percent", "percent", "share of time in which some process waited for a disk"),
  hostCount("net_rx_delta_bytes", "bytes", "bytes received", ["device"]),
  hostCount("net_tx_delta_bytes", "bytes", "bytes sent", ["device"]),
  hostCount("block_read_delta_bytes", "bytes", "bytes read from the disk", ["device"]),
  hostCount("block_write_delta_bytes", "bytes", "bytes written to the disk", ["device"]),
  hostCount("oom_kills", "count", "processes that the kernel killed for want of memory"),

  pod("cpu_percent", "percent", "use of CPU; 100 is one core"),
  pod("cpu_throttled_percent", "percent", "share of time in which the CPU limit held it back"),
  pod("mem_usage_bytes", "bytes", "memory in use, without file cache that the kernel can take back (the working set)"),
  pod("mem_rss_bytes", "bytes", "memory of the processes themselves"),
  pod("mem_cache_bytes", "bytes", "file cache"),
  pod("mem_limit_bytes", "bytes", "limit of its memory, or the memory of the machine"),
  pod("pids", "count", "processes and threads"),
  pod("net_rx_bytes", "bytes", "bytes received since its start"),
  pod("net_tx_bytes", "bytes", "bytes sent since its start"),
  pod("block_read_bytes", "bytes", "bytes read from disks since its start"),
  pod("block_write_bytes", "bytes", "bytes written to disks since its start"),
  pod("pressure_cpu_percent", "percent", "share of time in which some process of it waited for a core"),
  pod("pressure_memory_percent", "percent", "share of time in which some process of it waited for memory"),
  pod("pressure_io_percent", "percent", "share of time in which some process of it waited for a disk"),
  podCount("net_rx_delta_bytes", "bytes", "bytes received"),
  podCount("net_tx_delta_bytes", "bytes", "bytes sent"),
  podCount("block_read_delta_bytes", "bytes", "bytes read from disks"),
  podCount("block_write_delta_bytes", "bytes", "bytes written to disks"),
  podCount("oom_kills", "count", "processes of it that were killed for want of memory"),
  podCount("restarts", "count", "times that it was started again"),
  podCount("probe_attempts", "count", "attempts of its probes"),
  podCount("probe_failures", "count", "attempts of its probes that failed"),
  pod("probe_ms", "milliseconds", "how long the last attempt of a probe took"),

  app("replicas_ready", "count", "replicas that are ready for traffic"),
  app("replicas_total", "count", "replicas that should run"),

  visits("req_count", "count", "requests", ingressLabels),
  visits("req_2xx", "count", "requests answered with a status from 200 to 299", ingressLabels),
  visits("req_3xx", "count", "requests answered with a status from 300 to 399", ingressLabels),
  visits("req_4xx", "count", "requests answered with a status from 400 to 499", ingressLabels),
  visits("req_5xx", "count", "requests answered with a status of 500 and above", ingressLabels),
  visits("req_failed", "count", "requests that failed on our side, answers that broke off included", ingressLabels),
  visits("req_held", "count", "requests that waited for a replica", ingressLabels),
  visits("bytes_in", "bytes", "bytes of requests", ingressLabels),
  visits("bytes_out", "bytes", "bytes of answers", ingressLabels),
  {
    source: "ingress",
    name: "latency_ms",
    type: "histogram",
    unit: "milliseconds",
    help: "time from the first byte of a request to the last byte of its answer",
    labels: ingressLabels,
  },

  server("rss_bytes", "bytes", "memory of the server process"),
  server("cpu_percent", "percent", "use of CPU by the server process; 100 is one core"),
  server("loop_lag_ms", "milliseconds", "longest time that the event loop of the server was held up"),
  server("database_bytes", "bytes", "size of a database", ["database"]),
  server("series", "count", "series that have been stored"),
  serverCount("samples_refused", "count", "samples that were turned away because of a limit"),
];

/** By source, then by name. */
const bySource = new Map(
  [...Map.groupBy(catalogue, ({ source }) => source)].map(([source, metrics]) => [
    source,
    new Map(metrics.map((one) => [one.name, one])),
  ]),
);

/** Undefined for metrics that apps send themselves, and for unknown ones. */
export function metricOf(source: Source, name: string): Metric | undefined {
  return bySource.get(source)?.get(name);
}

/** Type of a metric that an app sends itself: the stored name says it, see `core/otlp/metric-points.ts`. */
export function customType(metric: string): MetricType {
  if (metric.endsWith("_total")) return "counter";
  return metric.endsWith("_histogram") ? "histogram" : "gauge";
}

export const typeOf = (source: Source, metric: string): MetricType =>
  metricOf(source, metric)?.type ?? customType(metric);

/** The percentiles of the latency that have a name of their own. */
export const latencyNames: Readonly<Record<string, number>> = {
  latency_p50_ms: 0.5,
  latency_p90_ms: 0.9,
  latency_p95_ms: 0.95,
  latency_p99_ms: 0.99,
  latency_max_ms: 1,
};
