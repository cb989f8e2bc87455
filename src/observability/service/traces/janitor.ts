import type { SteadyClock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import { clockLook, clockStart } from "../../core/logs/retention.ts";
import type { TracesStore } from "../../store/traces/traces-store.ts";

export interface TraceJanitorLimits {
  ageMs: number;
  bytesMax: number;
  appBytesMax: number;
  /** Free space below which old traces go, and below which no more are stored. */
  diskLowShare: number;
  diskLowBytes: number;
  diskFullBytes: number;
  clockJumpMs: number;
  clockHoldMs: number;
}

interface JanitorParts {
  store: TracesStore;
  clock: SteadyClock;
  log: Log;
  limits: TraceJanitorLimits;
  /** Space on the disk of the database; undefined where that is not known. */
  space: () => { freeBytes: number; totalBytes: number } | undefined;
  pause: () => Promise<void>;
}

/** Keeps the traces within their limits. They are the first to go when the disk is low. */
interface TraceJanitor {
  round(): Promise<void>;
  /** Batches that were deleted since the start. */
  dropped(): number;
  /** Why nothing can be stored now. */
  problem(): string | undefined;
}

const deletedAtOnce = 100;
const pagesAtOnce = 2_000;
/** Share of all bytes that is dropped in one round while the disk is low. */
const shedShare = 0.1;

export function createTraceJanitor({ store, clock, log, limits, space, pause }: JanitorParts): TraceJanitor {
  let trust = clockStart(clock.now(), clock.steady());
  let dropped = 0;
  let isFull = false;

  async function drop(how: { before?: number; app?: number }, wanted: () => boolean): Promise<void> {
    const { before = Number.MAX_SAFE_INTEGER, app } = how;
    while (wanted()) {
      const count = store.deleteOldest({ before, count: deletedAtOnce, ...(app === undefined ? {} : { app }) });
      dropped += count;
      if (count === 0) return;
      await pause();
    }
  }

  return {
    async round() {
      const { clockJumpMs: jumpMs, clockHoldMs: holdMs } = limits;
      trust = clockLook(trust, { wallMs: clock.now(), steadyMs: clock.steady() }, { jumpMs, holdMs });
      if (trust.heldUntilMs <= clock.steady()) await drop({ before: clock.now() - limits.ageMs }, () => true);
      for (const app of store.appBytes().keys())
        await drop({ app }, () => (store.appBytes().get(app) ?? 0) > limits.appBytesMax);
      await drop({}, () => store.usedBytes() > limits.bytesMax);
      const found = space();
      const low = found && Math.max(limits.diskLowBytes, found.totalBytes * limits.diskLowShare);
      if (found !== undefined && low !== undefined && found.freeBytes < low) {
        const target = store.usedBytes() * (1 - shedShare);
        await drop({}, () => store.usedBytes() > target);
        log.warn("traces shed, because the disk is low", { freeBytes: found.freeBytes });
      }
      store.shrink(pagesAtOnce);
      isFull = found !== undefined && found.freeBytes < limits.diskFullBytes;
    },
    dropped: () => dropped,
    problem: () => (isFull ? `the disk has less than ${limits.diskFullBytes / 1024 / 1024} MiB free` : undefined),
  };
}
