/** Runs work when there is room; first come, first served. */
export type Limit = <T>(work: () => Promise<T>) => Promise<T>;

/** At most `most` works at one time. */
export function createLimit(most: number): Limit {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((enter) => waiting.push(enter));
    try {
      return await work();
    } finally {
      // The place is handed on, so that no later caller gets in between.
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

/** A place that is left by hand: resolves with the way out once there is room. */
export function enter(limit: Limit): Promise<() => void> {
  return new Promise((resolve) => {
    void limit(() => new Promise<void>((leave) => resolve(leave)));
  });
}

/**
 * Work on one thing at a time, of each key. Who asks while one goes on shares the next with all others who do, which begins
 * after they have asked: however many ask, one works and one waits.
 */
export function createRounds<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const waiting = new Map<string, Promise<T>>();
  const last = new Map<string, Promise<unknown>>();
  return (key) => {
    const next = waiting.get(key);
    if (next !== undefined) return next;
    const made = (last.get(key) ?? Promise.resolve()).then(() => {
      waiting.delete(key);
      return work(key);
    });
    waiting.set(key, made);
    const ended = made
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === ended) last.delete(key);
      });
    last.set(key, ended);
    return made;
  };
}
