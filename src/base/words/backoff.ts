export interface BackoffOptions {
  /** Wait after the first failure. */
  firstMs: number;
  /** Longest wait. */
  maxMs: number;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  random: () => number;
}

/** Waits that double with every failure in a row. */
export interface Backoff {
  /** Failures since the last reset. */
  readonly failures: number;
  /** Counts one more failure; returns how long to wait, in ms. */
  next(): number;
  /** After a success. */
  reset(): void;
}

/** Up to a quarter is taken off each wait, so that what failed together does not come back together. */
const jitter = 0.25;

export function createBackoff({ firstMs, maxMs, random }: BackoffOptions): Backoff {
  let failures = 0;
  return {
    get failures() {
      return failures;
    },
    next() {
      failures += 1;
      const fullMs = Math.min(maxMs, firstMs * 2 ** (failures - 1));
      return Math.round(fullMs * (1 - jitter * random()));
    },
    reset() {
      failures = 0;
    },
  };
}
