import { existsSync, readFileSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { Sample } from "../../core/metrics/series.ts";
import { bare, type Collector } from "./collector.ts";
import { createDeltas, type Deltas } from "./deltas.ts";
import {
  readCpu,
  readDiskstats,
  readLoad,
  readMemory,
  readMounts,
  readNetwork,
  readOomKills,
  readPressure,
} from "./proc.ts";

/** Where the kernel's files are; other places in tests. */
interface HostRoots {
  proc: string;
  sys: string;
}

/** Mounts, disks and network devices that are measured; a machine may have thousands. */
const devicesMax = 20;

const hostRoots: HostRoots = { proc: "/proc", sys: "/sys" };

type Read = (name: string) => string;
type Value = [metric: string, value: number | undefined, labels?: Record<string, string>];

/** The machine itself, from the files of the kernel. Source: proc(5), and the kernel's documentation of PSI and of block devices. */
export function createHostCollector(roots: HostRoots = hostRoots): Collector {
  const deltas = createDeltas();
  const read: Read = (name) => readOptional(join(roots.proc, name));
  let lastAt: number | undefined;
  return {
    name: "host",
    collect(at) {
      const elapsedMs = lastAt === undefined ? 0 : at - lastAt;
      lastAt = at;
      const values: Value[] = [
        ...cpu(read, deltas),
        ...Object.entries({ ...readLoad(read("loadavg")), ...readMemory(read("meminfo")) }),
        ...pressures(read, deltas, elapsedMs),
        ...mounts(read),
        ...disks(read, { deltas, elapsedMs, sys: roots.sys }),
        ...network(read, deltas),
        ["oom_kills", deltas.of("oom", readOomKills(read("vmstat")))],
      ];
      deltas.endRound();
      return values.flatMap(toSample);
    },
  };
}

function toSample([metric, value, labels = {}]: Value): Sample[] {
  return value === undefined || !Number.isFinite(value) ? [] : [{ series: bare("system", metric, labels), value }];
}

function cpu(read: Read, deltas: Deltas): Value[] {
  const times = readCpu(read("stat"));
  if (times === undefined) return [];
  const total = deltas.of("cpu total", times.total);
  const share = (name: string, value: number) => {
    const part = deltas.of(name, value);
    return part === undefined || total === undefined || total <= 0 ? undefined : percent(part / total);
  };
  const idle = share("cpu idle", times.idle + times.iowait);
  return [
    ["cpu_percent", idle === undefined ? undefined : percent(1 - idle / 100)],
    ["cpu_iowait_percent", share("cpu iowait", times.iowait)],
    ["cpu_steal_percent", share("cpu steal", times.steal)],
  ];
}

function pressures(read: Read, deltas: Deltas, elapsedMs: number): Value[] {
  return ["cpu", "memory", "io"].map((resource) => {
    const micros = deltas.of(`pressure ${resource}`, readPressure(read(`pressure/${resource}`)));
    return [`pressure_${resource}_percent`, shareOfTime(micros, elapsedMs)];
  });
}

/** Microseconds of an interval as percent of it. */
export function shareOfTime(micros: number | undefined, elapsedMs: number): number | undefined {
  return micros === undefined || elapsedMs <= 0 ? undefined : percent(micros / 1_000 / elapsedMs);
}

function mounts(read: Read): Value[] {
  return readMounts(read("self/mounts"))
    .slice(0, devicesMax)
    .flatMap((mount): Value[] => {
      const space = spaceOf(mount);
      if (space === undefined) return [];
      const labels = { mount };
      const { total, used, available, files, filesFree } = space;
      return [
        ["disk_used_bytes", used, labels],
        ["disk_total_bytes", total, labels],
        // As `df` counts: what only root can use is not for programs.
        ["disk_used_percent", used + available === 0 ? undefined : percent(used / (used + available)), labels],
        ["inodes_used_percent", files === 0 ? undefined : percent((files - filesFree) / files), labels],
      ];
    });
}

function spaceOf(mount: string) {
  try {
    const { bsize, blocks, bfree, bavail, files, ffree } = statfsSync(mount);
    return {
      total: blocks * bsize,
      used: (blocks - bfree) * bsize,
      available: bavail * bsize,
      files,
      filesFree: ffree,
    };
  } catch {
    return undefined;
  }
}

function disks(read: Read, { deltas, elapsedMs, sys }: { deltas: Deltas; elapsedMs: number; sys: string }): Value[] {
  const whole = readDiskstats(read("diskstats")).filter(({ device }) => isWholeDisk(sys, device));
  return whole.slice(0, devicesMax).flatMap(({ device, readBytes, writtenBytes, busyMs }): Value[] => {
    const labels = { device };
    const busy = deltas.of(`busy ${device}`, busyMs);
    return [
      ["block_read_delta_bytes", deltas.of(`read ${device}`, readBytes), labels],
      ["block_write_delta_bytes", deltas.of(`write ${device}`, writtenBytes), labels],
      ["disk_busy_percent", shareOfTime(busy === undefined ? undefined : busy * 1_000, elapsedMs), labels],
    ];
  });
}

/** What programs can still write to the disk of a folder; undefined where that is not known. */
export const freeBytes = (folder: string): number | undefined => spaceOf(folder)?.available;

/** Partitions are counted with their disk; loops and memory disks are not hardware. */
function isWholeDisk(sys: string, device: string): boolean {
  return !/^(loop|ram|zram|dm-|md|sr)/.test(device) && existsSync(join(sys, "block", device));
}

function network(read: Read, deltas: Deltas): Value[] {
  const own = readNetwork(read("net/dev")).filter(
    ({ device }) => !/^(lo$|veth|br-|docker|berth|virbr|tap)/.test(device),
  );
  return own.slice(0, devicesMax).flatMap(({ device, received, sent }): Value[] => [
    ["net_rx_delta_bytes", deltas.of(`rx ${device}`, received), { device }],
    ["net_tx_delta_bytes", deltas.of(`tx ${device}`, sent), { device }],
  ]);
}

/** To two decimals: that is what they are worth, and stores well. */
function percent(share: number): number {
  return Math.round(Math.min(1, Math.max(0, share)) * 10_000) / 100;
}

function readOptional(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
