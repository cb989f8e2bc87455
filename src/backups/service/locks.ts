import { unlessAborted } from "../../base/words/abort.ts";
import type { Restic } from "../restic/restic.ts";

/** Tells locks that are left over from those of a living command, without asking the clock of another machine. */
export interface Locks {
  /**
   * The machines whose locks are left over; undefined where `restic unlock` could remove one that is in use. Locks of this server
   * are left to restic, which knows whether their process lives. Another machine's is left over when it stayed the same for
   * long: a living command renews its lock. Of the machines only servers of this installation are named, which each copy,
   * removal and mark outlives only after a look that found no newer one.
   */
  leftOver(restic: Restic, env: Readonly<Record<string, string>>): Promise<string[] | undefined>;
  /** Runs a command of this server at a place. */
  running<T>(place: string, command: () => Promise<T>): Promise<T>;
  /**
   * The commands of this server that run at a place now can be why it is locked: waits for the end of one of them, for
   * `lockWaitMs` at most. False where none runs, or none has ended.
   */
  oneEnds(place: string, signal: AbortSignal | undefined): Promise<boolean>;
}

export function createLocks(
  steady: () => number,
  limits: { askMs: number; lockStaleMs: number; serverLockStaleMs: number; lockWaitMs: number },
): Locks {
  const atPlace = new Map<string, Set<Promise<unknown>>>();
  /** When each lock of another machine was first seen. */
  let seenAt = new Map<string, number>();
  return {
    async leftOver(restic, env) {
      const ask = (...words: string[]) =>
        restic.run({ words: [...words, "--no-lock", "--quiet"], env, timeoutMs: limits.askMs });
      const ids = (await ask("list", "locks")).stdout.split("\n").filter((id) => /^[0-9a-f]{64}$/.test(id));
      const ours = await restic.host?.();
      const others = new Map<string, string>();
      for (const id of ids) {
        const host = hostOf((await ask("cat", "lock", id)).stdout);
        if (ours === undefined || host !== ours) others.set(id, host);
      }
      const now = steady();
      seenAt = new Map([...others.keys()].map((id) => [id, seenAt.get(id) ?? now]));
      const isStale = ([id, since]: [string, number]) =>
        now - since >= (isServer(others.get(id) ?? "") ? limits.serverLockStaleMs : limits.lockStaleMs);
      if (![...seenAt].every(isStale)) return undefined;
      return ours === undefined ? [] : [...new Set(others.values())].filter(isServer);
    },
    async running(place, command) {
      const here = atPlace.get(place) ?? new Set();
      atPlace.set(place, here);
      const work = command();
      const ended = work.catch(() => undefined);
      here.add(ended);
      try {
        return await work;
      } finally {
        here.delete(ended);
        if (here.size === 0) atPlace.delete(place);
      }
    },
    async oneEnds(place, signal) {
      const here = [...(atPlace.get(place) ?? [])];
      if (here.length === 0) return false;
      const given = AbortSignal.any([
        AbortSignal.timeout(limits.lockWaitMs),
        ...(signal === undefined ? [] : [signal]),
      ]);
      await unlessAborted(Promise.race(here), given);
      return !given.aborted;
    },
  };
}

function hostOf(text: string): string {
  try {
    return String((JSON.parse(text) as { hostname?: unknown }).hostname);
  } catch {
    return "";
  }
}

/** Its life, in the locks of its commands. */
export const serverHost = (life: string) => `berth-${life}`;
const isServer = (host: string) => /^berth-[0-9a-f]{16}$/.test(host);
