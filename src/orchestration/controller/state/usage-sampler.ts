import { cpuPercent } from "../../core/usage.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";
import type { PodUsage } from "../../engine/pod.ts";

/** What every running container of ours uses, at one instant. */
export interface UsageSnapshot {
  /** Epoch milliseconds. */
  at: number;
  /** By container id. `cpuPercent`: 100 is one core, averaged since the reading before. */
  pods: ReadonlyMap<string, PodUsage & { cpuPercent: number }>;
}

export interface UsageSampler {
  readonly enabled: boolean;
  /** The collector's last snapshot; undefined before its first, and when it is off. */
  latest(): UsageSnapshot | undefined;
  /** A snapshot taken now, shared by all who ask within a second. Fails as the engine does. */
  live(): Promise<UsageSnapshot>;
  /** Takes a snapshot each interval until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface SamplerOptions {
  read: () => Promise<PodUsage[]>;
  clock: SteadyClock;
  /** Between snapshots; 0 for none at all. */
  intervalMs: number;
  /** Processor cores of the machine. */
  cores: number;
  onError: (error: unknown) => void;
}

interface Readings {
  at: number;
  byId: ReadonlyMap<string, PodUsage>;
}

/** Two readings closer together say little about CPU: the counters of some kernels move in steps of 10 ms. */
const apartMinMs = 250;
/** A live snapshot younger than this is given again. */
const liveFreshMs = 1_000;

export function createUsageSampler(options: SamplerOptions): UsageSampler {
  const { read, clock, intervalMs, onError } = options;
  let latest: UsageSnapshot | undefined;
  let latestReadings: Readings | undefined;
  let live: { snapshot: UsageSnapshot; readings: Readings } | undefined;
  let asking: Promise<UsageSnapshot> | undefined;

  const readings = async (): Promise<Readings> => {
    const usages = await read();
    return { at: clock.now(), byId: new Map(usages.map((usage) => [usage.id, usage])) };
  };

  async function sample(): Promise<void> {
    const before = latestReadings ?? (await firstReadings());
    const after = await readings();
    latestReadings = after;
    latest = snapshotOf(before, after, options.cores);
  }

  async function firstReadings(): Promise<Readings> {
    const first = await readings();
    await clock.sleep(apartMinMs);
    return first;
  }

  async function takeLive(): Promise<UsageSnapshot> {
    const now = clock.now();
    const known = [live?.readings, latestReadings].filter((one) => one !== undefined && now - one.at >= apartMinMs);
    const newest = known.toSorted((a, b) => (b?.at ?? 0) - (a?.at ?? 0))[0];
    const before = newest ?? (await firstReadings());
    const after = await readings();
    const snapshot = snapshotOf(before, after, options.cores);
    live = { snapshot, readings: after };
    return snapshot;
  }

  return {
    enabled: intervalMs > 0,
    latest: () => latest,
    async live() {
      if (live !== undefined && clock.now() - live.snapshot.at < liveFreshMs) return live.snapshot;
      asking ??= takeLive().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    async run(signal) {
      while (intervalMs > 0 && !signal.aborted) {
        try {
          await sample();
        } catch (error) {
          onError(error);
        }
        await sleepAbout(clock, intervalMs, signal);
      }
    },
  };
}

function snapshotOf(before: Readings, after: Readings, cores: number): UsageSnapshot {
  const pods = new Map<string, PodUsage & { cpuPercent: number }>();
  for (const [id, usage] of after.byId) {
    const earlier = before.byId.get(id);
    const percent = earlier === undefined ? newcomerPercent(before, usage, cores) : cpuPercent(earlier, usage);
    pods.set(id, { ...usage, cpuPercent: percent });
  }
  return { at: after.at, pods };
}

/**
 * A container that the reading before did not have has started since then, with its counters at 0; unless it used more
 * than there is, and was only overlooked.
 */
function newcomerPercent(before: Readings, usage: PodUsage, cores: number): number {
  const percent = cpuPercent({ cpuNanos: 0, at: before.at }, usage);
  return percent > cores * 100 ? 0 : percent;
}
