/** Time as a dependency, so that tests move it by hand. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A clock that also tells time that no user can set. */
export interface SteadyClock extends Clock {
  /** Milliseconds that only ever grow, at the pace of the world: for durations, never for showing. */
  steady(): number;
}

/** Lengths of the sleeps under way, milliseconds. */
const sleeping = new Map<Timer, number>();

/** Lengths of the sleeps that the process waits for now, milliseconds. */
export function sleepsUnderWay(): number[] {
  return [...sleeping.values()];
}

export const systemClock: SteadyClock = {
  now: () => Date.now(),
  steady: () => performance.timeOrigin + performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        sleeping.delete(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      sleeping.set(timer, ms);
      signal?.addEventListener("abort", done, { once: true });
    }),
};
