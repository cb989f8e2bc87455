import { readlinkSync } from "node:fs";
import type { UsageDetail } from "../pod.ts";
import { type Cgroup, type CgroupTexts, field, readOptional } from "./cgroup.ts";

/** More of what the kernel counts for a container: whatever this machine does not count is undefined. */
export function readDetail(cgroup: Cgroup, texts: CgroupTexts, proc: string): UsageDetail {
  const detail = cgroup.version === 2 ? unifiedDetail(cgroup.cpu, texts) : separateDetail(cgroup, texts.memory);
  return { ...detail, ...network(cgroup, proc) };
}

function unifiedDetail(folder: string, { memory, cpu }: CgroupTexts): UsageDetail {
  const io = readOptional(`${folder}/io.stat`);
  return {
    rssBytes: field(memory, "anon"),
    cacheBytes: field(memory, "file"),
    throttledMicros: field(cpu, "throttled_usec"),
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

/** A process of a container, and what `/proc` calls its network. */
interface Member {
  pid: string;
  namespace: string | undefined;
  /** The machine's own network, whose counters are not the container's. */
  isMachines: boolean;
}

/** A process as it was found last. Its network tells whether the number is still that of a process of the container. */
const members = new WeakMap<Cgroup, Member>();

/** As one of its processes sees it; nothing for a container on the machine's own network. */
function network(cgroup: Cgroup, proc: string): UsageDetail {
  const known = members.get(cgroup);
  const isStill = known?.namespace !== undefined && namespaceOf(`${proc}/${known.pid}`) === known.namespace;
  const member = isStill ? known : findMember(cgroup, proc);
  if (member === undefined || member.isMachines) return {};
  const text = readOptional(`${proc}/${member.pid}/net/dev`);
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

function findMember(cgroup: Cgroup, proc: string): Member | undefined {
  members.delete(cgroup);
  const pid = /^[1-9]\d*$/m.exec(readOptional(`${cgroup.pids}/cgroup.procs`) ?? "")?.[0];
  if (pid === undefined) return undefined;
  const namespace = namespaceOf(`${proc}/${pid}`);
  const member = { pid, namespace, isMachines: namespace === namespaceOf(`${proc}/self`) };
  members.set(cgroup, member);
  return member;
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

function sumOf(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((sum, found) => sum + Number(found[1]), 0);
}
