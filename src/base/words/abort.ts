/**
 * What `work` resolves with, or undefined as soon as `signal` aborts; the work itself goes on unobserved. Rejects as
 * `work` does.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  // Its failure does not matter once the race is over.
  work.catch(() => undefined);
  const over = new AbortController();
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) return resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    over.abort();
  }
}

/**
 * Ends the sleep of a loop early. `round` begins a round of the loop and gives the signal for the sleep at its end; a wake
 * while the round works ends that sleep at once.
 */
export function createWaker() {
  let woken = new AbortController();
  return {
    wake: () => woken.abort(),
    round(stop: AbortSignal): AbortSignal {
      woken = new AbortController();
      return AbortSignal.any([stop, woken.signal]);
    },
  };
}

/** Resolves as soon as `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
