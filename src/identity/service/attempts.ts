import { Failure } from "../../base/wire/failure.ts";

/** What came of an attempt, and whether it was a failure. */
export interface Attempted<T> {
  result: T;
  isFailure: boolean;
}

/**
 * Runs an attempt of which only a failure is counted. It holds its places while it is under way, so that a thousand wrong
 * passwords at once are no more than so many in a row. Where the places are held by others under way, it waits for their
 * end, so that many people behind one address come in together. `late` has the seconds to wait when all places are taken
 * by failures. An error that is thrown does not count as a failure. Fails `unavailable` when too many wait.
 */
type Attempts<Slot> = <T>(
  slots: readonly Slot[],
  work: () => Promise<Attempted<T>>,
) => Promise<{ late: number } | { result: T }>;

interface AttemptsOptions<Slot> {
  /** Attempts that may wait for the places of one slot. */
  waitingMax: number;
  nameOf(slot: Slot): string;
  /** Counts one call for all slots, or says which one is full, by its index, and for how many seconds. */
  takeAll(slots: readonly Slot[]): { full: number; late: number } | undefined;
  giveBack(slot: Slot): void;
}

/** Attempts under way of one slot, and who waits for their end. */
interface UnderWay {
  running: number;
  waiting: (() => void)[];
}

const busyRetrySeconds = 2;

export function createAttempts<Slot>({ waitingMax, nameOf, takeAll, giveBack }: AttemptsOptions<Slot>): Attempts<Slot> {
  const underWay = new Map<string, UnderWay>();

  async function enter(slots: readonly Slot[]): Promise<number | undefined> {
    for (;;) {
      const refused = takeAll(slots);
      // At once: a caller that asks in the meantime must see who holds the places.
      if (refused === undefined) return begin(slots);
      const full = slots[refused.full];
      const holder = full && underWay.get(nameOf(full));
      if (holder === undefined) return refused.late;
      if (holder.waiting.length >= waitingMax) {
        throw new Failure(
          "unavailable",
          "too many sign-ins of this client at this moment; try again in a few seconds",
          {
            retryAfterSeconds: busyRetrySeconds,
          },
        );
      }
      await new Promise<void>((resolve) => holder.waiting.push(resolve));
    }
  }

  function begin(slots: readonly Slot[]): undefined {
    for (const slot of slots) {
      const name = nameOf(slot);
      const known = underWay.get(name);
      if (known === undefined) underWay.set(name, { running: 1, waiting: [] });
      else known.running += 1;
    }
  }

  function end(slots: readonly Slot[], isFailure: boolean): void {
    if (!isFailure) for (const slot of slots) giveBack(slot);
    for (const slot of slots) {
      const name = nameOf(slot);
      const known = underWay.get(name);
      if (known === undefined) continue;
      known.running -= 1;
      if (known.running === 0) underWay.delete(name);
      // In their order: each finds a place, or the reason to wait or to go.
      for (const resume of known.waiting.splice(0)) resume();
    }
  }

  return async (slots, work) => {
    const late = await enter(slots);
    if (late !== undefined) return { late };
    let isFailure = false;
    try {
      const attempted = await work();
      isFailure = attempted.isFailure;
      return { result: attempted.result };
    } finally {
      end(slots, isFailure);
    }
  };
}
