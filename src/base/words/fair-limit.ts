/** Whose work it is: a group, and a member of it. */
export interface Lane {
  group: string;
  member: string;
}

/** Runs work when its turn has come. */
export type FairLimit = <T>(lane: Lane, work: () => Promise<T>) => Promise<T>;

interface FairLimitOptions {
  /** Works at one time. */
  running: number;
  /** Works that wait. */
  waitingMax: number;
  /** What a work fails with that finds no place. */
  refusal: () => Error;
}

interface Ticket {
  lane: Lane;
  start: () => void;
  refuse: (error: Error) => void;
}

/** Turns that are remembered, as a multiple of the works that wait. */
const turnsFactor = 8;

/**
 * A limit that no caller can fill for others: groups take turns, and the members of a group do. When too many wait, the
 * newest work of the busiest member of the busiest group is refused.
 */
export function createFairLimit({ running, waitingMax, refusal }: FairLimitOptions): FairLimit {
  const turns = createTurns(turnsFactor * (waitingMax + 1));
  const waiting: Ticket[] = [];
  let free = running;

  const drop = (ticket: Ticket) => waiting.splice(waiting.indexOf(ticket), 1);

  function enter(lane: Lane): Promise<void> {
    if (free > 0) {
      free -= 1;
      turns.taken(lane);
      return Promise.resolve();
    }
    return new Promise((start, refuse) => {
      turns.joined(lane, waiting);
      waiting.push({ lane, start, refuse });
      if (waiting.length <= waitingMax) return;
      const last = busiest(waiting, lane);
      drop(last);
      last.refuse(refusal());
    });
  }

  function leave(): void {
    const next = turns.next(waiting);
    if (next === undefined) {
      free += 1;
      return;
    }
    drop(next);
    turns.taken(next.lane);
    next.start();
  }

  return async (lane, work) => {
    await enter(lane);
    try {
      return await work();
    } finally {
      leave();
    }
  };
}

function memberOf({ group, member }: Lane): string {
  return `${group}\0${member}`;
}

/** When each group and each member had its last turn. */
function createTurns(most: number) {
  const last = new Map<string, number>();
  let now = 0;
  const keysOf = (lane: Lane) => [lane.group, memberOf(lane)];
  const at = (key: string) => last.get(key) ?? 0;
  return {
    taken(lane: Lane) {
      now += 1;
      for (const key of keysOf(lane)) last.set(key, now);
    },
    /** A new caller stands behind those that wait already, and before their second turn. */
    joined(lane: Lane, waiting: readonly Ticket[]) {
      for (const key of keysOf(lane)) last.set(key, last.get(key) ?? now);
      if (last.size <= most) return;
      const needed = new Set([lane, ...waiting.map((ticket) => ticket.lane)].flatMap(keysOf));
      for (const key of last.keys()) if (!needed.has(key)) last.delete(key);
    },
    next: (waiting: readonly Ticket[]) =>
      waiting.reduce<Ticket | undefined>((best, ticket) => {
        if (best === undefined) return ticket;
        const byGroup = at(ticket.lane.group) - at(best.lane.group);
        return (byGroup || at(memberOf(ticket.lane)) - at(memberOf(best.lane))) < 0 ? ticket : best;
      }, undefined),
  };
}

/** The work that has to go. Among equals it is the one that came last: it pushes no other work out. */
function busiest(waiting: readonly Ticket[], newest: Lane): Ticket {
  const group = mostOf(
    waiting.map(({ lane }) => lane.group),
    newest.group,
  );
  const inGroup = waiting.filter(({ lane }) => lane.group === group);
  const member = mostOf(
    inGroup.map(({ lane }) => memberOf(lane)),
    memberOf(newest),
  );
  const ticket = inGroup.findLast(({ lane }) => memberOf(lane) === member);
  if (ticket === undefined) throw new Error("no caller is waiting");
  return ticket;
}

function mostOf(keys: readonly string[], favourite: string): string {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  let most = counts.has(favourite) ? favourite : (keys[0] ?? "");
  for (const [key, count] of counts) if (count > (counts.get(most) ?? 0)) most = key;
  return most;
}
