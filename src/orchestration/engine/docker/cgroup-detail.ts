import { readFileSync, readlinkSync } from "node:fs";
import type { UsageDetail } from "../pod.ts";
import type { Cgroup } from "./cgroup.ts";

/**
 * More of what the kernel counts for a container: whatever this machine does not count is undefined. `memoryStat` is the text
 * of its `memory.stat`.
 */
export function readDetail(cgroup: Cgroup, memoryStat: string | undefined, proc: string): UsageDetail {
  const detail = cgroup.version === 2 ? unifiedDetail(cgroup.cpu, memoryStat) : separateDetail(cgroup, memoryStat);
  return { ...detail, ...network(cgroup, proc) };
}

function unifiedDetail(folder: string, memory: string | undefined): UsageDetail {
  const io = readOptional(`${folder}/io.stat`);
  return {
    rssBytes: field(memory, "anon"),
    cacheBytes: field(memory, "file"),
    throttledMicros: field(readOptional(`${folder}/cpu.stat`), "throttled_usec"),
    oomKills: field(readOptional(`${folder}/memory.events`), "oom_kill"),
    blockReadBytes: io === undefined ? undefined : sumOf(io, /\brbytes=(\d+)/g),
    blockWriteBytes: io === undefined ? undefined : sumOf(io, /\bwbytes=(\d+)/g),
    cpuPressureMicros: pressure(`${folder}/cpu.pressure`),
    memoryPressureMicros: pressure(`${folder}/memory.pressure`),
    ioPressureMicros: pressure(`${folder}/io.pressure`),
  };
}

/** Version 1 has no pressure. Its folders differ only in the name of the controller. */
function separateDetail({ cpu, memory, pids }: Cgroup, stat: string | undefined): UsageDetail {
  const throttledNanos = field(readOptional(`${cpu.replace("/cpuacct/", "/cpu/")}/cpu.stat`), "throttled_time");
  const blocks = readOptional(`${pids.replace("/pids/", "/blkio/")}/blkio.throttle.io_service_bytes`);
  return {
    rssBytes: field(stat, "total_rss"),
    cacheBytes: field(stat, "total_cache"),
    throttledMicros: throttledNanos === undefined ? undefined : throttledNanos / 1_000,
    oomKills: field(readOptional(`${memory}/memory.oom_control`), "oom_kill"),
    blockReadBytes: blocks === undefined ? undefined : sumOf(blocks, /^\S+ Read (\d+)$/gm),
    blockWriteBytes: blocks === undefined ? undefined : sumOf(blocks, /^\S+ Write (\d+)$/gm),
  };
}

/** As one of its processes sees it; nothing for a container on the machine's own network, whose counters are not its own. */
function network({ pids }: Cgroup, proc: string): UsageDetail {
  const pid = /^[1-9]\d*$/m.exec(readOptional(`${pids}/cgroup.procs`) ?? "")?.[0];
  if (pid === undefined || namespaceOf(`${proc}/${pid}`) === namespaceOf(`${proc}/self`)) return {};
  const text = readOptional(`${proc}/${pid}/net/dev`);
  if (text === undefined) return {};
  let [netRxBytes, netTxBytes] = [0, 0];
  for (const line of text.split("\n").slice(2)) {
    const [device = "", ...columns] = line.trim().split(/[:\s]+/);
    if (device === "lo" || columns.length < 9) continue;
    netRxBytes += Number(columns[0]);
    netTxBytes += Number(columns[8]);
  }
  return { netRxBytes, netTxBytes };
}

function namespaceOf(processFolder: string): string | undefined {
  try {
    return readlinkSync(`${processFolder}/ns/net`);
  } catch {
    return undefined;
  }
}

/** `some avg10=0.00 … total=<microseconds>`. Source: the kernel's documentation of PSI. */
function pressure(file: string): number | undefined {
  const total = /^some .*\btotal=(\d+)/m.exec(readOptional(file) ?? "")?.[1];
  return total === undefined ? undefined : Number(total);
}

/** The value in rows `name value`. */
function field(text: string | undefined, name: string): number | undefined {
  const found = text === undefined ? null : new RegExp(`^${name} (\\d+)$`, "m").exec(text);
  return found === null ? undefined : Number(found[1]);
}

function sumOf(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((sum, found) => sum + Number(found[1]), 0);
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
