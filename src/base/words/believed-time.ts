import type { SteadyClock } from "./clock.ts";

interface BelieveLimits {
  /** A clock that moves by more than this beside the steady one was set. */
  jumpMs: number;
  /** How long after that it is believed. */
  holdMs: number;
}

/**
 * The time that deletions for good go by, epoch milliseconds: what the clock of the machine says. Where it was set ahead,
 * time goes on for `holdMs` as if it had not been: a clock that is a year ahead for a minute must delete nothing that
 * lives a year. A clock that was set back is believed at once, as then less is over.
 */
export function createBelievedTime(clock: SteadyClock, { jumpMs, holdMs }: BelieveLimits): () => number {
  const offsetNow = () => clock.now() - clock.steady();
  let believed = offsetNow();
  let last = believed;
  let heldUntil: number | undefined;
  return () => {
    const offset = offsetNow();
    if (offset - last > jumpMs) heldUntil = clock.steady() + holdMs;
    last = offset;
    const isHeld = offset > believed && heldUntil !== undefined && clock.steady() < heldUntil;
    if (!isHeld) [believed, heldUntil] = [offset, undefined];
    return clock.steady() + believed;
  };
}
