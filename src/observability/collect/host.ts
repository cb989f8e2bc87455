import { readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { availableParallelism, hostname, release } from "node:os";
import {
  cpuTicks,
  diskBytes,
  diskMounts,
  loadAverages,
  memoryBytes,
  networkBytes,
  pressurePercent,
  uptimeSeconds,
} from "../core/host/proc.ts";
import type { HostReading, MountUse } from "../core/host/reading.ts";

/** Mounts that are looked at. */
const mountsMax = 64;

/**
 * Reads the machine once. What its kernel does not tell is zero or undefined; never fails. `disks` are the mounts to look at,
 * where they are known: the table of all mounts has a row for each container.
 */
export async function readHost(proc = "/proc", disks?: readonly string[]): Promise<HostReading> {
  // At once: the kernel makes these texts in microseconds, and a thread that reads one costs more.
  const [stat, load, memory, uptime, network, blocks, cpu, ram, io] = [
    ...["stat", "loadavg", "meminfo", "uptime", "net/dev", "diskstats"],
    ...["pressure/cpu", "pressure/memory", "pressure/io"],
  ].map((name) => textOf(`${proc}/${name}`));
  return {
    hostname: hostname(),
    kernel: release(),
    uptimeSeconds: uptimeSeconds(uptime ?? ""),
    cores: availableParallelism(),
    cpu: cpuTicks(stat ?? ""),
    load: loadAverages(load ?? ""),
    memory: memoryBytes(memory ?? ""),
    pressure: {
      cpu: pressurePercent(cpu ?? ""),
      memory: pressurePercent(ram ?? ""),
      io: pressurePercent(io ?? ""),
    },
    mounts: await readMounts(disks ?? diskMounts(textOf(`${proc}/self/mountinfo`))),
    network: networkBytes(network ?? ""),
    disk: diskBytes(blocks ?? ""),
  };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

async function readMounts(paths: readonly string[]): Promise<MountUse[]> {
  const read = await Promise.all(paths.slice(0, mountsMax).map((path) => readMount(path).catch(() => undefined)));
  return read.filter((mount) => mount !== undefined && mount.totalBytes > 0) as MountUse[];
}

/** As df counts: what is kept for root is neither used nor free for others. */
async function readMount(mount: string): Promise<MountUse> {
  const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(mount);
  const used = blocks - bfree;
  return {
    mount,
    usedBytes: used * bsize,
    totalBytes: (used + bavail) * bsize,
    inodesUsed: files - ffree,
    inodesTotal: files,
  };
}
