import type { HostStrip } from "../../api/apps.ts";
import type { SystemFacts } from "../../api/system.ts";
import { readHost } from "../../collect/host.ts";
import { cpuPercent, type HostReading } from "../../core/host/reading.ts";
import type { ObservabilityContext } from "../context.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";

/** The machine, read every few seconds by one reader for all who show it. */
export interface HostRoom {
  /** Undefined until the first reading. */
  strip(): HostStrip | undefined;
  /** Reads the machine now where it was not read yet. */
  facts(): Promise<Pick<SystemFacts, "host" | "cpu" | "mem" | "disk">>;
  run(signal: AbortSignal): Promise<void>;
}

/** Disks that were mounted are found with one of so many looks: after 30 s. */
const looksPerMounts = 6;

interface Known {
  reading: HostReading;
  /** Since the reading before. */
  cpu: number;
}

export function createHostRoom({ clock, limits }: Pick<ObservabilityContext, "clock" | "limits">): HostRoom {
  let known: Known | undefined;
  let looks = 0;
  const look = async (): Promise<Known> => {
    const isKnown = looks++ % looksPerMounts !== 0;
    const reading = await readHost("/proc", isKnown ? known?.reading.mounts.map(({ mount }) => mount) : undefined);
    known = { reading, cpu: cpuPercent(known?.reading.cpu, reading.cpu) ?? known?.cpu ?? 0 };
    return known;
  };
  return {
    strip: () => (known === undefined ? undefined : stripOf(known)),
    facts: async () => factsOf(known ?? (await look()), clock.now()),
    async run(signal) {
      while (!signal.aborted) {
        await look();
        await sleepAbout(clock, limits.hostMs, signal);
      }
    },
  };
}

function stripOf({ reading, cpu }: Known): HostStrip {
  const [root] = rootFirst(reading);
  return {
    hostname: reading.hostname,
    cpu_percent: percent(cpu),
    cores: reading.cores,
    load_1: reading.load[0],
    memory_used_bytes: reading.memory.total - reading.memory.available,
    memory_total_bytes: reading.memory.total,
    disk_used_bytes: root?.usedBytes ?? 0,
    disk_total_bytes: root?.totalBytes ?? 0,
    uptime_seconds: reading.uptimeSeconds,
  };
}

function factsOf({ reading, cpu }: Known, now: number): Pick<SystemFacts, "host" | "cpu" | "mem" | "disk"> {
  const { hostname, kernel, uptimeSeconds, cores, load, memory } = reading;
  return {
    host: {
      ...{ hostname, kernel, uptime_seconds: uptimeSeconds },
      boot_time: new Date(now - uptimeSeconds * 1000).toISOString(),
    },
    cpu: { percent: percent(cpu), cores, load_1: load[0], load_5: load[1], load_15: load[2] },
    mem: {
      used_bytes: memory.total - memory.available,
      total_bytes: memory.total,
      available_bytes: memory.available,
    },
    disk: rootFirst(reading).map(({ mount, usedBytes, totalBytes }) => ({
      ...{ mount, used_bytes: usedBytes, total_bytes: totalBytes },
    })),
  };
}

function rootFirst({ mounts }: HostReading): HostReading["mounts"] {
  return mounts.toSorted((a, b) => Number(b.mount === "/") - Number(a.mount === "/"));
}

function percent(value: number): number {
  return Math.round(value * 10) / 10;
}
