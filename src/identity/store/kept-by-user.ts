import type { Touched } from "./touched-users.ts";

/** What was read of users and is asked again and again, in memory, each piece until its user changes. */
export interface KeptByUser<Value> {
  get(key: string): Value | undefined;
  /** `user`: the number of the user whose change makes it void. The first piece of a user is not kept, see below. */
  put(key: string, user: number, value: Value): void;
  /** Called for every user who was changed or removed, with the number, as soon as that is committed. */
  forget(users: Touched): void;
}

/**
 * At most `most` pieces, in two generations: when the young one is full it becomes the old one, whose pieces go unless
 * they are asked for again. One by one they would cost more to drop than to read: a map that loses its first entries is
 * slow to find the next first one.
 *
 * Only what comes a second time is kept. To keep a piece costs more than to read it again, and a client that goes
 * through all users would push out those who are asked for. `seen` has the last user of each slot.
 */
export function createKeptByUser<Value>(most: number): KeptByUser<Value> {
  const generationMax = Math.floor(most / 2);
  const seen = new Float64Array(most);
  let young = createGeneration<Value>();
  let old = createGeneration<Value>();
  const put = (key: string, piece: Piece<Value>) => {
    if (generationMax === 0) return;
    if (young.pieces.size >= generationMax) {
      old = young;
      young = createGeneration();
    }
    add(young, key, piece);
  };
  return {
    get(key) {
      const known = young.pieces.get(key);
      if (known !== undefined) return known.value;
      const piece = old.pieces.get(key);
      if (piece !== undefined) put(key, piece);
      return piece?.value;
    },
    put(key, user, value) {
      const slot = user % most;
      if (seen[slot] === user) put(key, { user, value });
      else seen[slot] = user;
    },
    forget(users) {
      if (users === "all") {
        young = createGeneration();
        old = createGeneration();
        return;
      }
      for (const user of users) {
        drop(young, user);
        drop(old, user);
      }
    },
  };
}

interface Piece<Value> {
  user: number;
  value: Value;
}

interface Generation<Value> {
  pieces: Map<string, Piece<Value>>;
  keysOf: Map<number, string[]>;
}

function createGeneration<Value>(): Generation<Value> {
  return { pieces: new Map(), keysOf: new Map() };
}

function add<Value>({ pieces, keysOf }: Generation<Value>, key: string, piece: Piece<Value>): void {
  if (!pieces.has(key)) {
    const others = keysOf.get(piece.user);
    if (others === undefined) keysOf.set(piece.user, [key]);
    else others.push(key);
  }
  pieces.set(key, piece);
}

function drop<Value>({ pieces, keysOf }: Generation<Value>, user: number): void {
  for (const key of keysOf.get(user) ?? []) pieces.delete(key);
  keysOf.delete(user);
}
