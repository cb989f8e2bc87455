import type { Stats } from "../../orchestration/api/stats.ts";
import type { TableSetup } from "./resource-table.ts";
import type { Style } from "../basics/style.ts";
import { tableText } from "../basics/table-text.ts";

const head = ["POD", "KIND", "CPU", "CPU LIMIT", "MEMORY", "MEMORY LIMIT", "MEM %", "PIDS"];

/** What pods use beside what they may. */
export function statsTable(pods: readonly Stats[], { style, width }: Omit<TableSetup, "now">): string {
  const rows = pods.map(({ identity, container_name: name, usage, limits, orphan }) => [
    orphan ? style.dim(`${name} (orphan)`) : name,
    identity.kind,
    coloured(`${usage.cpu_percent.toFixed(1)}%`, cpuShare(usage.cpu_percent, limits.cpu), style),
    limits.cpu ?? "-",
    bytesText(usage.memory_usage_bytes),
    limits.memory ?? "-",
    coloured(`${usage.memory_percent.toFixed(1)}%`, usage.memory_percent, style),
    String(usage.pids ?? "-"),
  ]);
  return tableText([head, ...rows], { width, head: style.dim });
}

/** Percent of the limit; 0 without one. */
function cpuShare(percent: number, limit: string | undefined): number {
  return limit === undefined ? 0 : percent / Number(limit);
}

const high = 75;
const full = 90;

function coloured(text: string, percent: number, style: Style): string {
  if (percent >= full) return style.red(text);
  return percent >= high ? style.yellow(text) : text;
}

const units = ["B", "Ki", "Mi", "Gi", "Ti"];

/** `1536` is `1.5Ki`. */
export function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const value = bytes / 1024 ** power;
  return `${value >= 100 || power === 0 ? Math.round(value) : value.toFixed(1)}${units[power]}`;
}
