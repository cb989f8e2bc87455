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

interface Taken {
  bucket: Bucket;
  /** Undefined: it may go on. Else the time until the next one may. */
  waitMs: number | undefined;
}

/** What adding up parts of one may lose: who has waited as long as was said goes on. */
const rounding = 1e-9;

/** Takes one from a bucket that fills by itself; `before` is undefined for a full one. */
export function takeFrom(before: Bucket | undefined, rate: Rate, now: number): Taken {
  return takeMany(before, rate, { now, count: 1 });
}

/** Like `takeFrom`, for several at once. */
export function takeMany(
  before: Bucket | undefined,
  rate: Rate,
  { now, count }: { now: number; count: number },
): Taken {
  const perMs = rate.perMinute / 60_000;
  const filled = before === undefined ? rate.burst : before.tokens + Math.max(0, now - before.at) * perMs;
  const tokens = Math.min(rate.burst, filled);
  if (tokens >= count - rounding)
    return { bucket: { tokens: Math.max(0, tokens - count), at: now }, waitMs: undefined };
  return { bucket: { tokens, at: now }, waitMs: Math.ceil((count - tokens) / perMs) };
}
