import type { Board, BoardChart } from "../api/boards.ts";

const machineCharts: BoardChart[] = [
  {
    title: "CPU",
    metric: "system.cpu_percent,system.cpu_iowait_percent,system.cpu_steal_percent",
    unit: "percent",
    names: ["in use", "waiting for a disk", "stolen"],
  },
  { title: "Memory", metric: "system.mem_used_bytes,system.mem_total_bytes", unit: "bytes", names: ["in use", "of"] },
  { title: "Disk in use", metric: "system.disk_used_percent", group_by: "mount", unit: "percent" },
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
    unit: "bytes_per_second",
    names: ["received", "sent"],
  },
  {
    title: "Disk traffic",
    metric: "system.block_read_delta_bytes,system.block_write_delta_bytes",
    agg: "rate",
    unit: "bytes_per_second",
    names: ["read", "written"],
  },
];

const appCharts: BoardChart[] = [
  { title: "CPU by app; 100 % is one core", metric: "pod.cpu_percent", agg: "sum", group_by: "app", unit: "percent" },
  { title: "Memory by app", metric: "pod.mem_usage_bytes", agg: "sum", group_by: "app", unit: "bytes" },
  { title: "Requests by host", metric: "ingress.req_count", agg: "rate", group_by: "host", unit: "rate" },
  { title: "Failed requests by host", metric: "ingress.req_failed", agg: "rate", group_by: "host", unit: "rate" },
];

/** The boards of the server, which need no set-up. */
export const builtInBoards: readonly [Board, Board] = [
  { name: "apps", title: "Apps", charts: appCharts, built_in: true },
  { name: "machine", title: "Machine", charts: machineCharts, built_in: true },
];
