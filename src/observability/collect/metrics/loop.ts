import type { SteadyClock } from "../../../base/words/clock.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";

/** Notices when the event loop is held up. */
interface LoopWatch {
  /** The longest hold-up since this was last asked. */
  takeMs(): number;
  run(clock: SteadyClock, signal: AbortSignal): Promise<void>;
}

/** With the other looks of an idle server: see `sleepAbout`. */
const lookMs = 1_000;

export function createLoopWatch(): LoopWatch {
  let longest = 0;
  return {
    takeMs() {
      const taken = longest;
      longest = 0;
      return taken;
    },
    async run(clock, signal) {
      while (!signal.aborted) {
        longest = Math.max(longest, await sleepAbout(clock, lookMs, signal));
      }
    },
  };
}
