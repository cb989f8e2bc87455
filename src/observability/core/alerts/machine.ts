/** Where one alert is. What is resolved is history: the next time is another alert. */
export interface Tracked {
  state: "pending" | "firing";
  /** When the condition began. Times are epoch milliseconds. */
  since: number;
  firedAt?: number;
  /** Since when all is well again, while it still fires. */
  wellSince?: number;
}

/** What a look at the condition gave. `unknown`: it could not be looked at, so nothing changes. */
export type Seen = "bad" | "well" | "unknown";

interface Timing {
  /** How long the condition must hold before the alert fires. */
  forMs: number;
  /** How long all must be well before it ends. */
  keepMs: number;
  /** Longest wait for the end of an alert that flaps. */
  keepMaxMs: number;
  /** How often the same alert fired in the last hour, this time included. */
  fires: number;
  now: number;
}

export type Change = "began" | "fired" | "vanished" | "resolved";

interface Step {
  next: Tracked | undefined;
  change?: Change;
}

/** inactive → pending → firing → resolved; `previous` is undefined while inactive, and so is `next`. */
export function step(previous: Tracked | undefined, seen: Seen, timing: Timing): Step {
  if (seen === "unknown") return { next: previous };
  if (previous?.state === "firing") return seen === "bad" ? stillBad(previous) : cooling(previous, timing);
  if (seen === "well") return previous === undefined ? { next: undefined } : { next: undefined, change: "vanished" };
  // A clock that was set back must not make the wait longer.
  const since = Math.min(previous?.since ?? timing.now, timing.now);
  if (timing.now - since >= timing.forMs) {
    return { next: { state: "firing", since, firedAt: timing.now }, change: "fired" };
  }
  const next: Tracked = { state: "pending", since };
  return previous === undefined ? { next, change: "began" } : { next };
}

function stillBad({ wellSince: _, ...firing }: Tracked): Step {
  return { next: firing };
}

function cooling(firing: Tracked, timing: Timing): Step {
  const wellSince = Math.min(firing.wellSince ?? timing.now, timing.now);
  if (timing.now - wellSince >= keepOf(timing)) return { next: undefined, change: "resolved" };
  return { next: { ...firing, wellSince } };
}

/** Flap damping: the wait for the end doubles with each time that it fired within the hour. */
export function keepOf({ keepMs, keepMaxMs, fires }: Pick<Timing, "keepMs" | "keepMaxMs" | "fires">): number {
  const longest = Math.max(keepMs, keepMaxMs);
  return Math.min(longest, keepMs * 2 ** Math.min(Math.max(0, fires - 1), 30));
}

/** How many times within an hour make an alert one that flaps. */
export const flappingFires = 3;
