/** What counters have gained since they were last read. */
export interface Deltas {
  /**
   * Undefined at the first reading, and after the counter went back: then it began again in between. `owner` is what has the
   * counter, where several have one of the same name.
   */
  of(name: string, value: number | undefined, owner?: string): number | undefined;
  /** A round of readings is over: what was not read for some rounds is forgotten. */
  endRound(): void;
}

/** Rounds after which the next reading of a counter is its first again: much may have happened in between. */
const roundsKept = 5;

export function createDeltas(): Deltas {
  const byOwner = new Map<string, Map<string, { value: number; round: number }>>();
  let round = 0;
  return {
    of(name, value, owner = "") {
      if (value === undefined) return undefined;
      const known = byOwner.get(owner) ?? new Map<string, { value: number; round: number }>();
      if (known.size === 0) byOwner.set(owner, known);
      const last = known.get(name);
      if (last === undefined) {
        known.set(name, { value, round });
        return undefined;
      }
      const gained = value - last.value;
      [last.value, last.round] = [value, round];
      return gained < 0 ? undefined : gained;
    },
    endRound() {
      round += 1;
      for (const [owner, known] of byOwner) {
        for (const [name, { round: last }] of known) if (round - last > roundsKept) known.delete(name);
        if (known.size === 0) byOwner.delete(owner);
      }
    },
  };
}
