/** Wakes whoever waits for a change of a container, or of all. */
export interface Bells {
  ring(id: string): void;
  ringAll(): void;
  /** Resolves at the next ring for `id`, or when `signal` aborts. Listens from the call on. */
  next(id: string, signal: AbortSignal): Promise<void>;
}

export function createBells(): Bells {
  const waiting = new Map<string, Set<() => void>>();

  const ring = (id: string) => {
    const wakes = waiting.get(id);
    waiting.delete(id);
    for (const wake of wakes ?? []) wake();
  };

  return {
    ring,
    ringAll: () => {
      for (const id of [...waiting.keys()]) ring(id);
    },
    next: (id, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const wakes = waiting.get(id) ?? new Set();
        const wake = () => {
          signal.removeEventListener("abort", wake);
          wakes.delete(wake);
          resolve();
        };
        signal.addEventListener("abort", wake);
        waiting.set(id, wakes.add(wake));
      }),
  };
}
