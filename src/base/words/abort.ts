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
