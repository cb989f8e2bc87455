/** The machine as its kernel tells at one moment. Counters only grow; take the difference of two readings. */
export interface HostReading {
  hostname: string;
  kernel: string;
  uptimeSeconds: number;
  cores: number;
  /** Time of all cores, in ticks of the kernel; undefined where it does not say. */
  cpu: CpuTicks | undefined;
  load: readonly [number, number, number];
  memory: MemoryBytes;
  pressure: HostPressure;
  mounts: readonly MountUse[];
  /** Traffic of the machine's own interfaces: not loopback, and not those that Docker makes for containers. */
  network: Traffic;
  /** Bytes of whole disks. */
  disk: { readBytes: number; writtenBytes: number };
}

export interface CpuTicks {
  total: number;
  idle: number;
  /** Waiting for a disk; counted as idle. */
  ioWait: number;
  /** Taken by the hypervisor for other machines. */
  steal: number;
}

export interface MemoryBytes {
  total: number;
  /** What processes can still take without swapping. */
  available: number;
  swapTotal: number;
  swapUsed: number;
}

/** Share of the last ten seconds, in percent, in which some task waited; undefined where the kernel does not count. */
interface HostPressure {
  cpu: number | undefined;
  memory: number | undefined;
  io: number | undefined;
}

export interface MountUse {
  mount: string;
  usedBytes: number;
  totalBytes: number;
  /** Zero where the file system has no fixed number of them. */
  inodesUsed: number;
  inodesTotal: number;
}

interface Traffic {
  receivedBytes: number;
  sentBytes: number;
}

/** How busy the cores were between two readings: 100 is all of them. Undefined where nothing has passed between them. */
export function cpuPercent(before: CpuTicks | undefined, after: CpuTicks | undefined): number | undefined {
  if (before === undefined || after === undefined) return undefined;
  const total = after.total - before.total;
  const idle = after.idle - before.idle;
  if (total <= 0) return undefined;
  return Math.min(100, Math.max(0, ((total - idle) / total) * 100));
}
