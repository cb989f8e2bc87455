import type { SteadyClock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import type { Collector } from "../../collect/metrics/collector.ts";
import { createMetricIntake, type MetricIntake } from "../../collect/telemetry/metric-intake.ts";
import type { Places } from "../../collect/metrics/places.ts";
import type { ReplicaSeen } from "../../collect/metrics/pods.ts";
import type { Sample } from "../../core/metrics/series.ts";
import { isDamage, setAside } from "../../store/archive-database.ts";
import { createTotals, type Total } from "./totals.ts";
import { type Archive, type ArchiveLimits, openArchive } from "./archive.ts";

interface MetricsLimits extends ArchiveLimits {
  janitorMs: number;
  bucketsDefault: number;
  bucketsMax: number;
  queryMetricsMax: number;
  intake: { countersMax: number; counterKeptMs: number };
}

export interface MetricsParts {
  /** The database. */
  file: string;
  clock: SteadyClock;
  log: Log;
  limits: MetricsLimits;
  /** Between two samples; 0 for none at all. */
  intervalMs: number;
  freeBytes: () => number | undefined;
  /** The places of replicas, which several sources share. */
  places: Places;
  /** What is sampled; `onSeen` gets the replicas that were seen. */
  collectors: (onSeen: (seen: ReplicaSeen) => void, archive: () => Archive) => Collector[];
}

/** The figures of the machine and of all apps over time. */
export interface MetricsRoom {
  readonly limits: MetricsLimits;
  readonly intervalMs: number;
  now(): number;
  /** The archive of now: another one after a damaged file was set aside. */
  archive(): Archive;
  /** The newest sample of every series, of the last round. */
  newest(): { at: number; samples: readonly Sample[] };
  /** The same as scrapers want it: counters since the start of the server. */
  totals(): Total[];
  places: Places;
  /** What apps send themselves; it is stored with the next round. */
  intake: MetricIntake;
  /** Samples of another source, as they come. Never fails: what cannot be stored is left out. */
  record(at: number, samples: readonly Sample[]): void;
  /** Samples each interval until `signal` aborts, and keeps the archive in order. */
  run(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Rounds begin this long after the clock's round time: what the platform reads at that time is there by then. */
const offsetMs = 1_500;

export function createMetrics(parts: MetricsParts): MetricsRoom {
  const { clock, log, limits, intervalMs } = parts;
  const pause = () => new Promise<void>((resolve) => setImmediate(resolve));
  const open = () => openArchive({ file: parts.file, clock, log, freeBytes: parts.freeBytes, pause, limits });
  let archive = open();
  let newest: { at: number; samples: readonly Sample[] } = { at: 0, samples: [] };
  const totals = createTotals();
  let troubled = "";
  const intake = createMetricIntake({
    admits: (series, at) => archive.table.idOf(series, at) !== undefined,
    startedAt: clock.now(),
    limits: limits.intake,
  });
  const collectors = [...parts.collectors(seen, () => archive), intake];

  function seen({ at, ...replica }: ReplicaSeen): void {
    replicasSeen.set(`${replica.container} ${replica.replica}`, { ...replica, at });
  }
  const replicasSeen = new Map<string, ReplicaSeen>();
  const began = new Map<string, number>();

  /** One transaction for all of them; a container that comes again with another place is another row. */
  function storeReplicas(): void {
    archive.store.together(() => {
      for (const [key, { at, ...replica }] of replicasSeen) {
        const beganAt = began.get(key) ?? beganBefore(replica.container, replica.replica) ?? at;
        began.set(key, beganAt);
        archive.store.replicas.put({ ...replica, beganAt, seenAt: at });
      }
    });
    for (const key of began.keys()) if (!replicasSeen.has(key)) began.delete(key);
    replicasSeen.clear();
  }

  /** Known from before the start of this server. */
  function beganBefore(container: string, place: string): number | undefined {
    return archive.store.replicas.named(container).findLast(({ replica }) => replica === place)?.beganAt;
  }

  /** A damaged file is set aside, and an empty one begins; anything else is said once, and tried again. */
  function guarded(what: string, work: () => void): void {
    try {
      work();
      troubled = "";
    } catch (error) {
      onTrouble(what, error);
    }
  }

  function onTrouble(what: string, error: unknown): void {
    if (isDamage(error)) {
      log.error("metrics database set aside, an empty one begins", { file: parts.file, error });
      archive.close();
      setAside(parts.file);
      archive = open();
      return;
    }
    const words = error instanceof Error ? error.message : String(error);
    if (words !== troubled) log.warn("metrics not stored", { what, error });
    troubled = words;
  }

  async function round(): Promise<void> {
    const at = clock.now();
    const taken = await Promise.all(collectors.map((collector) => collected(collector, at)));
    newest = { at, samples: taken.flat() };
    totals.add(newest.samples);
    guarded("samples", () => archive.record(at, newest.samples));
    guarded("replicas", storeReplicas);
  }

  async function collected(collector: Collector, at: number): Promise<Sample[]> {
    try {
      return await collector.collect(at);
    } catch (error) {
      log.warn("metrics not collected", { collector: collector.name, error });
      return [];
    }
  }

  async function sample(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // At round times, so that each slot of the archive has one sample.
      const untilNext = intervalMs - ((clock.now() - offsetMs) % intervalMs);
      await clock.sleep(untilNext, signal);
      if (!signal.aborted) await round();
    }
  }

  async function tend(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await archive.tend();
      } catch (error) {
        onTrouble("upkeep", error);
      }
      await clock.sleep(limits.janitorMs, signal);
    }
  }

  return {
    limits,
    intervalMs,
    places: parts.places,
    intake,
    now: () => clock.now(),
    archive: () => archive,
    newest: () => newest,
    totals: totals.list,
    record(at, samples) {
      guarded("samples", () => archive.record(at, samples));
    },
    async run(signal) {
      if (intervalMs > 0) await Promise.all([sample(signal), tend(signal)]);
    },
    close() {
      // What was acknowledged since the last round.
      const at = clock.now();
      const last = intervalMs > 0 ? intake.collect(at) : [];
      if (last.length > 0) guarded("samples", () => archive.record(at, last));
      archive.close();
    },
  };
}
