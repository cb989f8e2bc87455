/** Waits that double with each failure in a row. */
export interface Doubling {
  /** After the first failure. */
  firstMs: number;
  /** Longest wait. */
  maxMs: number;
}

/** How long to wait after so many failures in a row, in ms; no failure, no wait. */
export function doubledWait({ firstMs, maxMs }: Doubling, failures: number): number {
  return failures < 1 ? 0 : Math.min(maxMs, firstMs * 2 ** (failures - 1));
}

/** Up to a quarter is taken off a wait, so that what failed together does not come back together. `random`: 0 to 1. */
export function spreadWait(fullMs: number, random: number): number {
  return Math.round(fullMs * (1 - random / 4));
}
