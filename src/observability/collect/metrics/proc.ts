/** Reads the texts of files below /proc. Whatever a kernel does not tell is undefined or left out. */

/** Ticks since the start of the machine, of all cores. */
interface CpuTimes {
  total: number;
  idle: number;
  iowait: number;
  steal: number;
}

export function readCpu(stat: string): CpuTimes | undefined {
  const row = /^cpu +(.+)$/m.exec(stat)?.[1];
  if (row === undefined) return undefined;
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = row
    .split(" ")
    .map(Number);
  // What guests used is part of `user` and `nice` already.
  return { total: user + nice + system + idle + iowait + irq + softirq + steal, idle, iowait, steal };
}

export function readLoad(loadavg: string): Record<string, number> {
  const [one, five, fifteen] = loadavg.split(" ").map(Number);
  if (one === undefined || five === undefined || fifteen === undefined) return {};
  return { load_1: one, load_5: five, load_15: fifteen };
}

export function readMemory(meminfo: string): Record<string, number> {
  const bytes = (name: string) => {
    const found = new RegExp(`^${name}: +(\\d+) kB$`, "m").exec(meminfo)?.[1];
    return found === undefined ? undefined : Number(found) * 1_024;
  };
  const [total, available] = [bytes("MemTotal"), bytes("MemAvailable")];
  if (total === undefined || available === undefined) return {};
  const [swap = 0, swapFree = 0] = [bytes("SwapTotal"), bytes("SwapFree")];
  return {
    mem_total_bytes: total,
    mem_available_bytes: available,
    mem_used_bytes: total - available,
    swap_total_bytes: swap,
    swap_used_bytes: swap - swapFree,
  };
}

/** Microseconds in which some process waited. */
export function readPressure(text: string): number | undefined {
  const total = /^some .*\btotal=(\d+)/m.exec(text)?.[1];
  return total === undefined ? undefined : Number(total);
}

export function readOomKills(vmstat: string): number | undefined {
  const count = /^oom_kill (\d+)$/m.exec(vmstat)?.[1];
  return count === undefined ? undefined : Number(count);
}

/** Where file systems of disks are mounted, each device once; the root always. */
export function readMounts(mounts: string): string[] {
  const byDevice = new Map<string, string>();
  for (const line of mounts.split("\n")) {
    const [device = "", mount = ""] = line.split(" ");
    if (mount === "/" || (device.startsWith("/dev/") && !/^\/dev\/(loop|ram)/.test(device))) {
      const path = unescapeOctal(mount);
      const known = byDevice.get(device);
      // The shortest is the file system itself, and the others are bind mounts of it.
      if (known === undefined || path.length < known.length) byDevice.set(device, path);
    }
  }
  return [...byDevice.values()].sort();
}

const unescapeOctal = (text: string) =>
  text.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

const sectorBytes = 512;

export function readDiskstats(diskstats: string) {
  return diskstats.split("\n").flatMap((line) => {
    const [, , device, , , readSectors, , , , writtenSectors, , , busyMs] = line.trim().split(/ +/);
    if (device === undefined || busyMs === undefined) return [];
    return [
      {
        device,
        readBytes: Number(readSectors) * sectorBytes,
        writtenBytes: Number(writtenSectors) * sectorBytes,
        busyMs: Number(busyMs),
      },
    ];
  });
}

export function readNetwork(dev: string) {
  return dev
    .split("\n")
    .slice(2)
    .flatMap((line) => {
      const [device = "", ...columns] = line.trim().split(/[:\s]+/);
      if (columns.length < 9) return [];
      return [{ device, received: Number(columns[0]), sent: Number(columns[8]) }];
    });
}
