/** Counters of one container at one instant. */
interface Reading {
  /** CPU time since the start of the container, in nanoseconds. */
  cpuNanos: number;
  /** Epoch milliseconds. */
  at: number;
}

/**
 * CPU use between two readings, 100 for one core, to two decimals. A counter that went back was restarted in
 * between: all of its time belongs to the interval.
 */
export function cpuPercent(before: Reading, after: Reading): number {
  const elapsedMs = after.at - before.at;
  if (elapsedMs <= 0) return 0;
  const used = after.cpuNanos >= before.cpuNanos ? after.cpuNanos - before.cpuNanos : after.cpuNanos;
  return rounded((used / (elapsedMs * 1e6)) * 100);
}

/** Memory use relative to the limit, to two decimals; 0 without a limit. */
export function memoryPercent(usedBytes: number, limitBytes: number): number {
  return limitBytes <= 0 ? 0 : rounded((usedBytes / limitBytes) * 100);
}

function rounded(percent: number): number {
  return Math.round(percent * 100) / 100;
}
