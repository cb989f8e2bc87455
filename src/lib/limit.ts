/** Lets at most `max` holders in at one time; the others wait in the order in which they came. */
export interface Limit {
  /** Resolves with the way to leave, which may be called more than once. */
  enter(): Promise<() => void>;
}

export function createLimit(max: number): Limit {
  const waiting: (() => void)[] = [];
  let inside = 0;

  function admit(): void {
    while (inside < max) {
      const next = waiting.shift();
      if (next === undefined) return;
      inside += 1;
      next();
    }
  }

  return {
    enter: () =>
      new Promise((resolve) => {
        let left = false;
        const leave = () => {
          if (left) return;
          left = true;
          inside -= 1;
          admit();
        };
        waiting.push(() => resolve(leave));
        admit();
      }),
  };
}
