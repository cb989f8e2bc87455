import type { SteadyClock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import { chunkMs, type Tier, tiers } from "../../core/metrics/tiers.ts";
import type { MetricsStore } from "../../store/metrics/metrics-store.ts";
import type { SeriesTable } from "./series-table.ts";

export interface JanitorLimits {
  keptMs: Record<Tier["name"], number>;
  floorMs: Record<Tier["name"], number>;
  bytesMax: number;
  diskLowBytes: number;
  diskFullBytes: number;
  clockTrustedMs: number;
  clockJumpMs: number;
  replicasKept: number;
  replicaKeptMs: number;
}

interface JanitorParts {
  store: MetricsStore;
  table: SeriesTable;
  clock: SteadyClock;
  log: Log;
  /** Bytes that are free on the disk of the database; undefined where that is not known. */
  freeBytes: () => number | undefined;
  pause: () => Promise<void>;
  limits: JanitorLimits;
}

/** What the janitor says of itself. */
export interface JanitorReport {
  /** Epoch milliseconds of the last round; undefined before the first. */
  at: number | undefined;
  bytes: number;
  bytesMax: number;
  /** Chunks that went since the start: for their age, and for want of room. */
  expired: number;
  shed: number;
  /** `full`: nothing is stored any more until there is room. */
  disk: "ok" | "low" | "full";
  /** Nothing is deleted for its age while the clock has jumped. */
  isClockTrusted: boolean;
}

interface Janitor {
  round(): Promise<void>;
  report(): JanitorReport;
}

/** Chunks deleted between two turns of the event loop. */
const deletedAtOnce = 500;
const pagesAtOnce = 500;

/** Keeps the database within its limits of age and bytes; with little room on the disk, detail goes first. */
export function createJanitor(parts: JanitorParts): Janitor {
  const { store, clock, limits, log } = parts;
  const trust = createTrust(parts);
  const report: JanitorReport = {
    at: undefined,
    bytes: store.usedBytes(),
    bytesMax: limits.bytesMax,
    expired: 0,
    shed: 0,
    disk: "ok",
    isClockTrusted: true,
  };

  async function expire(now: number): Promise<void> {
    for (const tier of tiers) report.expired += await deleteAll(tier, now - limits.keptMs[tier.name]);
    for (const tier of tiers) report.expired += store.deleteAfter(tier, now + chunkMs(tier));
    const gone = store.forgetSeries(now - limits.keptMs.raw);
    parts.table.forget(gone);
    store.replicas.trim(now - limits.replicaKeptMs, limits.replicasKept);
  }

  async function deleteAll(tier: Tier, before: number): Promise<number> {
    let count = 0;
    for (;;) {
      const some = store.deleteBefore(tier, before, deletedAtOnce);
      count += some;
      if (some < deletedAtOnce) return count;
      await parts.pause();
    }
  }

  /** Detail first: raw samples beyond their floor, then minutes, then quarters of an hour; floors last. */
  async function shed(now: number, wanted: () => boolean): Promise<void> {
    for (const keepsFloor of [true, false]) {
      for (const tier of tiers) {
        const until = keepsFloor ? now - limits.floorMs[tier.name] : now - chunkMs(tier);
        while (wanted()) {
          const first = store.firstStart(tier);
          if (first === undefined || first + chunkMs(tier) > until) break;
          report.shed += await deleteAll(tier, first + chunkMs(tier));
        }
      }
    }
  }

  async function shrink(): Promise<void> {
    while (store.shrink(pagesAtOnce)) await parts.pause();
  }

  return {
    async round() {
      const now = clock.now();
      report.isClockTrusted = trust();
      if (report.isClockTrusted) await expire(now);
      const before = report.shed;
      await shed(now, () => store.usedBytes() > limits.bytesMax);
      report.disk = diskState(parts);
      // What was deleted becomes free space only below, so one hour of each kind goes per round.
      if (report.disk !== "ok") await shedStep(now);
      await shrink();
      report.disk = diskState(parts);
      if (report.shed > before) log.warn("metrics shed", { chunks: report.shed - before, disk: report.disk });
      report.bytes = store.usedBytes();
      report.at = now;
    },
    report: () => ({ ...report }),
  };

  async function shedStep(now: number): Promise<void> {
    const target = store.usedBytes() * 0.9;
    await shed(now, () => store.usedBytes() > target);
  }
}

function diskState({ freeBytes, limits }: JanitorParts): JanitorReport["disk"] {
  const free = freeBytes();
  if (free === undefined || free > limits.diskLowBytes) return "ok";
  return free > limits.diskFullBytes ? "low" : "full";
}

/**
 * Whether the clock may be believed: a machine that starts in the year 2030, or is set there, must not lose its history
 * for that. After a jump, or a long time without a sample, it is believed once it has run steadily for a while.
 */
function createTrust({ store, clock, limits }: JanitorParts): () => boolean {
  const lastFact = "last-round";
  const last = store.fact(lastFact);
  const isFar = last !== undefined && Math.abs(clock.now() - last) > limits.clockTrustedMs * 2;
  let offset = clock.now() - clock.steady();
  let trustedFrom = clock.steady() + (isFar ? limits.clockTrustedMs : 0);
  return () => {
    const drift = Math.abs(clock.now() - clock.steady() - offset);
    if (drift > limits.clockJumpMs) trustedFrom = clock.steady() + limits.clockTrustedMs;
    offset = clock.now() - clock.steady();
    const isTrusted = clock.steady() >= trustedFrom;
    if (isTrusted) store.setFact(lastFact, clock.now());
    return isTrusted;
  };
}
