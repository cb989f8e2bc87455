import { type Doubling, doubledWait, spreadWait } from "../pure/doubling.ts";

export interface BackoffOptions extends Doubling {
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

export function createBackoff({ random, ...waits }: BackoffOptions): Backoff {
  let failures = 0;
  return {
    get failures() {
      return failures;
    },
    next() {
      failures += 1;
      return spreadWait(doubledWait(waits, failures), random());
    },
    reset() {
      failures = 0;
    },
  };
}
