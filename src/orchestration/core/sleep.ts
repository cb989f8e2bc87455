/** What is remembered of an app between two looks. */
export interface UseSeen {
  /** Changes with every request that was answered. */
  mark: string;
  /** When it was last in use, as far as a look can tell; on the clock of `now`. */
  usedAt: number;
}

export interface SleepInput {
  /** Undefined at the first look since it woke, or since the server started. */
  before: UseSeen | undefined;
  /** What the ingress counted; undefined when nothing is known, or no ingress leads there. */
  use: { mark: string; active: number } | undefined;
  /** All its replicas are ready, and nothing is being done to it. */
  isSettled: boolean;
  idleMs: number;
  now: number;
}

/** What to remember, and how long it may go on unused; 0 or less: it is put to sleep now. */
interface SleepDecision {
  seen: UseSeen;
  leftMs: number;
}

/**
 * Whether an app has been unused for long enough. A request or connection under way is use, and so is one that came and
 * went since the last look. What is not ready, or cannot be watched, does not begin to idle.
 */
export function decideSleep({ before, use, isSettled, idleMs, now }: SleepInput): SleepDecision {
  const mark = use?.mark ?? "";
  const isIdle = before !== undefined && use !== undefined && use.active === 0 && use.mark === before.mark && isSettled;
  // A clock that was set back does not lengthen it.
  const usedAt = isIdle ? Math.min(before.usedAt, now) : now;
  return { seen: { mark, usedAt }, leftMs: usedAt + idleMs - now };
}
