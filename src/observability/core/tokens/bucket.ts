/** At most `burst` at once, and `perMinute` over time. */
export interface Rate {
  burst: number;
  perMinute: number;
}

export interface Bucket {
  /** How many more may come now; a part of one is on its way. */
  tokens: number;
  /** When that was, on a clock that is never set. */
  at: number;
}

export interface Taken {
  bucket: Bucket;
  /** Undefined: it may go on. Else the time until the next one may. */
  waitMs: number | undefined;
}

/** Takes one from a bucket that fills by itself; `before` is undefined for a full one. */
export function takeFrom(before: Bucket | undefined, rate: Rate, now: number): Taken {
  const perMs = rate.perMinute / 60_000;
  const filled = before === undefined ? rate.burst : before.tokens + Math.max(0, now - before.at) * perMs;
  const tokens = Math.min(rate.burst, filled);
  if (tokens >= 1) return { bucket: { tokens: tokens - 1, at: now }, waitMs: undefined };
  return { bucket: { tokens, at: now }, waitMs: Math.ceil((1 - tokens) / perMs) };
}
