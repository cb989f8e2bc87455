import { doubledWait } from "../../base/pure/doubling.ts";
import type { SteadyClock } from "../../base/words/clock.ts";
import { sleepAbout } from "../../base/words/sleep-about.ts";

/** A look that comes again and again; how soon depends on what there is to look for. */
interface Looks {
  /** What there is to look for has changed: the next look may be due sooner. */
  stir(): void;
  run(signal: AbortSignal): Promise<void>;
}

interface LooksOptions {
  clock: SteadyClock;
  /** Between two looks, as things are now; the pause doubles with each failure in a row. */
  pauseMs(): number;
  look(): Promise<void>;
  onFailure(error: unknown): void;
}

const failurePauseMaxMs = 5_000;
const failuresMax = 8;

export function createLooks({ clock, pauseMs, look, onFailure }: LooksOptions): Looks {
  let wake = () => {};
  return {
    stir: () => wake(),
    async run(signal) {
      let failures = 0;
      let lookedAt = clock.steady();
      signal.addEventListener("abort", () => wake(), { once: true });
      while (!signal.aborted) {
        const firstMs = pauseMs();
        const dueAt = lookedAt + doubledWait({ firstMs, maxMs: Math.max(firstMs, failurePauseMaxMs) }, failures + 1);
        const waitMs = Math.ceil(dueAt - clock.steady());
        if (waitMs > 0) {
          const pause = new AbortController();
          wake = () => pause.abort();
          await sleepAbout(clock, waitMs, pause.signal);
          // The time since the last look counts, so that no number of changes puts a look off.
          if (pause.signal.aborted) continue;
        }
        lookedAt = clock.steady();
        try {
          await look();
          failures = 0;
        } catch (error) {
          failures = Math.min(failures + 1, failuresMax);
          onFailure(error);
        }
      }
    },
  };
}
