import type { Touched } from "./touched-users.ts";

/** What was read of users and is asked again and again, in memory, each piece until its user changes. */
export interface KeptByUser<Value> {
  get(key: string): Value | undefined;
  /** `user`: the number of the user whose change makes it void. */
  put(key: string, user: number, value: Value): void;
  /** To be told of every user who was changed or removed, by number, as soon as that is committed. */
  forget(users: Touched): void;
}

/** Of `most` pieces, those of the user who was kept first make room for a new one. */
export function createKeptByUser<Value>(most: number): KeptByUser<Value> {
  const kept = new Map<string, { user: number; value: Value }>();
  const keysOf = new Map<number, string[]>();
  const drop = (user: number) => {
    for (const key of keysOf.get(user) ?? []) kept.delete(key);
    keysOf.delete(user);
  };
  const makeRoom = () => {
    const [first] = kept.values();
    if (first !== undefined) drop(first.user);
  };
  return {
    get: (key) => kept.get(key)?.value,
    put(key, user, value) {
      if (most === 0 || kept.has(key)) return;
      if (kept.size >= most) makeRoom();
      kept.set(key, { user, value });
      const others = keysOf.get(user);
      if (others === undefined) keysOf.set(user, [key]);
      else others.push(key);
    },
    forget(users) {
      if (users !== "all") return users.forEach(drop);
      kept.clear();
      keysOf.clear();
    },
  };
}
