import { doubledWait, spreadWait } from "../../../base/pure/doubling.ts";

/** Validity of a certificate, epoch milliseconds. */
interface Validity {
  notBefore: number;
  notAfter: number;
}

/** The time in which the CA wants a certificate to be renewed (RFC 9773), epoch milliseconds. */
export interface RenewalWindow {
  start: number;
  end: number;
}

/** Renewals are spread over this share of the life before two thirds of it, so that they do not come all at once. */
const spread = 1 / 20;

/**
 * When to renew: within the window of the CA where it names one, else at two thirds of the life or a little earlier.
 * `random` is a number from 0 to 1 that is drawn once per certificate and kept, so that the time does not move.
 */
export function renewalTime({ notBefore, notAfter }: Validity, random: number, window?: RenewalWindow): number {
  const lifeMs = Math.max(0, notAfter - notBefore);
  const own = notBefore + lifeMs * (2 / 3 - spread * random);
  if (window === undefined || window.end < window.start) return Math.round(own);
  return Math.round(Math.min(window.start + (window.end - window.start) * random, notAfter));
}

interface PauseOptions {
  /** Failures in a row, at least 1. */
  failures: number;
  firstMs: number;
  maxMs: number;
  /** From 0 to 1. */
  random: number;
  /** What the CA asks for (Retry-After). Never shortens the pause. */
  retryAfterMs?: number;
}

/** How long to wait after a failure: doubles each time; up to a quarter is taken off, so that tries spread. */
export function pauseAfter({ failures, firstMs, maxMs, random, retryAfterMs = 0 }: PauseOptions): number {
  return Math.max(spreadWait(doubledWait({ firstMs, maxMs }, failures), random), retryAfterMs);
}

interface DueInput {
  now: number;
  /** Undefined: there is no certificate yet. */
  held: (Validity & { renewAt: number }) | undefined;
  /** The last try, when it failed. */
  attempt: { failedAt: number; nextTryAt: number } | undefined;
}

/**
 * When the next try is due, epoch milliseconds; `now` or earlier: at once. A failure that seems to lie ahead was
 * written before the clock was set back, and holds up nothing.
 */
export function dueAt({ now, held, attempt }: DueInput): number {
  const isValidLater = held !== undefined && held.notBefore > now;
  const wantedAt = held === undefined || isValidLater ? now : held.renewAt;
  if (attempt === undefined || attempt.failedAt > now) return wantedAt;
  return Math.max(wantedAt, attempt.nextTryAt);
}
