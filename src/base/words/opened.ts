import { type Clock, systemClock } from "./clock.ts";

export interface OpenedOptions {
  /** Ends the start. */
  signal?: AbortSignal | undefined;
  /** Gets the name of each step before it is taken. What it throws counts as a failure of that step. */
  reached?: ((step: string) => void) | undefined;
  clock?: Pick<Clock, "sleep">;
}

/** What a start has opened so far, so that a step that fails leaves nothing open. */
export interface Opened {
  /**
   * Takes one step; `close` undoes it. Rejects where the step fails, and with the signal's reason as soon as that
   * aborts: what the step opens later is closed as well.
   */
  step<T>(name: string, open: () => T | Promise<T>, close?: (it: T) => unknown): Promise<T>;
  /** Closes everything, the last first. What fails to close does not keep the others open; the first failure is thrown. */
  close(): Promise<void>;
}

/** An aborted step may still write. So long it is waited for, before the lock of the root is let go. */
const lateMs = 1_000;

export function createOpened({ signal, reached, clock = systemClock }: OpenedOptions): Opened {
  const closers: (() => unknown)[] = [];

  function kept<T>(it: T, close: ((it: T) => unknown) | undefined): T {
    if (close !== undefined) closers.push(() => close(it));
    return it;
  }

  async function ended(late: Promise<unknown>): Promise<void> {
    const enough = new AbortController();
    const quiet = late.then(
      () => undefined,
      () => undefined,
    );
    await Promise.race([quiet, clock.sleep(lateMs, enough.signal)]);
    enough.abort();
  }

  return {
    async step(name, open, close) {
      signal?.throwIfAborted();
      reached?.(name);
      const opening = Promise.resolve(open());
      if (signal === undefined) return kept(await opening, close);
      const over = new AbortController();
      const aborted = new Promise<"aborted">((resolve) => {
        if (signal.aborted) return resolve("aborted");
        signal.addEventListener("abort", () => resolve("aborted"), { once: true, signal: over.signal });
      });
      const first = await Promise.race([opening.then((it) => ({ it })), aborted]).finally(() => over.abort());
      if (first !== "aborted") return kept(first.it, close);
      closers.push(() => ended(opening.then((it) => close?.(it))));
      throw signal.reason;
    },
    async close() {
      const failures: unknown[] = [];
      for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) {
        try {
          await closer();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
