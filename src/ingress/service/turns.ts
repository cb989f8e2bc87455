import type { Clock } from "../../base/words/clock.ts";

/** Rounds of work over something that changes meanwhile: who asks during a round waits for the end of the next one. */
interface Turns {
  /** Something changed: another round is due. */
  wake(): void;
  /** A round begins; `done` is called when it has taken in all that had changed before it began, `failed` when it cannot. */
  begin(): { done(): void; failed(): void };
  /** Resolves when another round is due, at the latest after `ms`. */
  next(ms: number, signal: AbortSignal): Promise<void>;
  /** Asks for a round and resolves with true when it is done; with false when it fails, after `ms`, or when `signal` aborts. */
  caughtUp(ms: number, signal: AbortSignal): Promise<boolean>;
}

export function createTurns(clock: Clock): Turns {
  let asked = 0;
  let begun = -1;
  let done = -1;
  let failed = -1;
  let sleep = new AbortController();
  const waiting = new Set<() => void>();

  const wake = (): void => {
    asked += 1;
    sleep.abort();
  };
  return {
    wake,
    begin() {
      const mine = asked;
      begun = mine;
      return {
        done() {
          done = Math.max(done, mine);
          for (const look of waiting) look();
        },
        failed() {
          failed = Math.max(failed, mine);
          for (const look of waiting) look();
        },
      };
    },
    async next(ms, signal) {
      if (asked > begun) return;
      sleep = new AbortController();
      await clock.sleep(ms, AbortSignal.any([signal, sleep.signal]));
    },
    async caughtUp(ms, signal) {
      wake();
      const mine = asked;
      const over = new AbortController();
      const look = () => {
        if (done >= mine || failed >= mine) over.abort();
      };
      waiting.add(look);
      await clock.sleep(ms, AbortSignal.any([signal, over.signal]));
      waiting.delete(look);
      return done >= mine;
    },
  };
}
