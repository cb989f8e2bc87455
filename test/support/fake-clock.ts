import type { SteadyClock } from "../../src/base/words/clock.ts";

/** Time that moves only when told to. */
export interface FakeClock extends SteadyClock {
  /** When the next sleeper wakes, on the steady clock; undefined when none sleeps. */
  nextDue(): number | undefined;
  /** Moves to `at` on the steady clock, never backwards, and wakes whoever is due by then, earliest first. */
  moveTo(at: number): void;
  /** Somebody sets the clock of the machine: only what `now` tells moves, by `ms`. */
  jump(ms: number): void;
  readonly sleepers: number;
}

interface Sleeper {
  at: number;
  wake: () => void;
}

export const testEpoch = Date.UTC(2026, 0, 1);

export function createFakeClock(start = testEpoch): FakeClock {
  let now = start;
  let offset = 0;
  const sleepers = new Set<Sleeper>();
  const earliest = () => [...sleepers].reduce<Sleeper | undefined>((a, b) => (a && a.at <= b.at ? a : b), undefined);

  return {
    now: () => now + offset,
    steady: () => now,
    jump(ms) {
      offset += ms;
    },
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted || ms <= 0) return resolve();
        const wake = () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const sleeper = { at: now + Math.max(0, ms), wake };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", wake);
      }),
    nextDue: () => earliest()?.at,
    moveTo(at) {
      now = Math.max(now, at);
      for (let next = earliest(); next !== undefined && next.at <= now; next = earliest()) next.wake();
    },
    get sleepers() {
      return sleepers.size;
    },
  };
}
