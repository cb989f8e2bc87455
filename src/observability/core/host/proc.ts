import type { CpuTicks, MemoryBytes } from "./reading.ts";

/** Readers of the kernel's own files below /proc (proc(5)); what is not there counts as zero or undefined. */

/** Reads `/proc/stat`: the line of all cores, whose first eight fields are disjoint. */
export function cpuTicks(text: string): CpuTicks | undefined {
  const line = /^cpu\s+([\d ]+)$/m.exec(text)?.[1];
  if (line === undefined) return undefined;
  const [user = 0, nice = 0, system = 0, idle = 0, ioWait = 0, irq = 0, softIrq = 0, steal = 0] = numbers(line);
  const total = user + nice + system + idle + ioWait + irq + softIrq + steal;
  return { total, idle: idle + ioWait, ioWait, steal };
}

/** Reads `/proc/loadavg`. */
export function loadAverages(text: string): [number, number, number] {
  const [one = 0, five = 0, fifteen = 0] = numbers(text);
  return [one, five, fifteen];
}

/** Reads `/proc/meminfo`. */
export function memoryBytes(text: string): MemoryBytes {
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1] ?? 0) * 1024;
  const swapTotal = bytes("SwapTotal");
  return {
    total: bytes("MemTotal"),
    available: bytes("MemAvailable"),
    swapTotal,
    swapUsed: swapTotal - bytes("SwapFree"),
  };
}

/** Reads a file of `/proc/pressure/`: the share of the last ten seconds in which some task waited, in percent. */
export function pressurePercent(text: string): number | undefined {
  const share = /^some avg10=([\d.]+)/m.exec(text)?.[1];
  return share === undefined ? undefined : Number(share);
}

/** Reads `/proc/uptime`, whole seconds. */
export function uptimeSeconds(text: string): number {
  return Math.floor(numbers(text)[0] ?? 0);
}

/** File systems that keep what is written: what lies in memory or comes from the kernel is left out. */
const disks = new Set(["ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "vfat", "exfat", "ntfs3"]);

/**
 * Reads `/proc/self/mountinfo`: where disks are mounted, each device once, at its shortest path. The root is always there,
 * whatever it is.
 */
export function diskMounts(text: string): string[] {
  const byDevice = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [left = "", right = ""] = line.split(" - ");
    const [, , device = "", , path = ""] = left.split(" ");
    const mount = unescaped(path);
    if (mount === "" || (mount !== "/" && !disks.has(right.split(" ")[0] ?? ""))) continue;
    const known = byDevice.get(device);
    if (known === undefined || mount.length < known.length) byDevice.set(device, mount);
  }
  return [...byDevice.values()].sort();
}

/** Spaces and the like are written as `\040`. */
function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** Interfaces that only repeat what others carry: loopback, bridges of Docker and the ends of their cables. */
const inner = /^(?:lo|veth.*|docker\d*|br-.*|berth\d*|cni.*|flannel.*|cali.*|virbr.*|ifb.*|dummy.*)$/;

/** Reads `/proc/net/dev`. */
export function networkBytes(text: string): { receivedBytes: number; sentBytes: number } {
  let receivedBytes = 0;
  let sentBytes = 0;
  for (const line of text.split("\n")) {
    const [name = "", fields] = line.split(":");
    if (fields === undefined || inner.test(name.trim())) continue;
    const counts = numbers(fields);
    receivedBytes += counts[0] ?? 0;
    sentBytes += counts[8] ?? 0;
  }
  return { receivedBytes, sentBytes };
}

/** Whole disks: their partitions, loops and stacked devices count the same bytes again. */
const wholeDisk = /^(?:(?:s|v|xv|h)d[a-z]+|nvme\d+n\d+|mmcblk\d+)$/;

/** The unit of `/proc/diskstats`, whatever the disk has. */
const sectorBytes = 512;

/** Reads `/proc/diskstats`. */
export function diskBytes(text: string): { readBytes: number; writtenBytes: number } {
  let readBytes = 0;
  let writtenBytes = 0;
  for (const line of text.split("\n")) {
    const fields = line.trim().split(/\s+/);
    if (!wholeDisk.test(fields[2] ?? "")) continue;
    readBytes += Number(fields[5] ?? 0) * sectorBytes;
    writtenBytes += Number(fields[9] ?? 0) * sectorBytes;
  }
  return { readBytes, writtenBytes };
}

function numbers(text: string): number[] {
  return text
    .trim()
    .split(/\s+/)
    .map(Number)
    .filter((value) => Number.isFinite(value));
}
