/** Epoch milliseconds as the APIs have them: ISO 8601, UTC. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/**
 * When something began and ended, as the APIs have it. The end is never before the beginning: the two can come from
 * different clocks (the engine's and ours), and a clock can be set back in between.
 */
export function spanTimes<Start extends number | undefined>(
  startedAt: Start,
  endedAt: number | undefined,
): (Start extends number ? { started_at: string } : { started_at?: string }) & { ended_at?: string } {
  return {
    ...(startedAt === undefined ? {} : { started_at: isoTime(startedAt) }),
    ...(endedAt === undefined ? {} : { ended_at: isoTime(Math.max(endedAt, startedAt ?? endedAt)) }),
  } as ReturnType<typeof spanTimes<Start>>;
}
