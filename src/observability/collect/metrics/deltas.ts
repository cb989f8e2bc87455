/** What counters have gained since they were last read. */
export interface Deltas {
  /** Undefined at the first reading, and after the counter went back: then it began again in between. */
  of(key: string, value: number | undefined): number | undefined;
  /** A round of readings is over: what was not read for some rounds is forgotten. */
  endRound(): void;
}

/** Rounds after which the next reading of a counter is its first again: much may have happened in between. */
const roundsKept = 5;

export function createDeltas(): Deltas {
  const known = new Map<string, { value: number; round: number }>();
  let round = 0;
  return {
    of(key, value) {
      if (value === undefined) return undefined;
      const before = known.get(key);
      known.set(key, { value, round });
      return before === undefined || value < before.value ? undefined : value - before.value;
    },
    endRound() {
      round += 1;
      for (const [key, { round: last }] of known) if (round - last > roundsKept) known.delete(key);
    },
  };
}
