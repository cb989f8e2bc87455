import {
  type DamagedCopy,
  damagedCopies,
  faultCount,
  type Faults,
  type Places,
  readFaults,
  readPlaces,
} from "../core/damage.ts";
import type { Failure } from "../../base/wire/failure.ts";
import type { Snapshot } from "../core/restic-words.ts";

/** What is lost at a target. */
export interface DamageRoom {
  /** What is wrong with the structure of the repository: packs, folders and files that are lost. */
  faults(signal: AbortSignal): Promise<Faults>;
  /** The copies that faults are in. */
  damaged(faults: Faults, signal: AbortSignal): Promise<DamagedCopy[]>;
}

interface Answered {
  ok: boolean;
  stdout: string;
  said?: string | undefined;
  trouble: string;
  cause: string;
}

export function createDamage({
  order,
  list,
  refused,
  place,
}: {
  order(words: string[], signal: AbortSignal): Promise<Answered>;
  list(words: string[], signal: AbortSignal): Promise<Snapshot[]>;
  refused(what: string, done: Answered): Failure;
  place: string;
}): DamageRoom {
  async function placesOf(trees: readonly string[], signal: AbortSignal): Promise<Places> {
    const all: Places = { rows: [], cut: [] };
    for (let at = 0; at < trees.length; at += treesAtOnce) {
      const done = await order(["find", "--json", "--tree", ...trees.slice(at, at + treesAtOnce)], signal);
      if (!done.ok) throw refused(`looking for what is lost at ${place}`, done);
      const { rows, cut } = readPlaces(done.stdout, done.said ?? "");
      all.rows.push(...rows);
      all.cut.push(...cut);
    }
    return all;
  }

  return {
    async faults(signal) {
      const done = await order(["check"], signal);
      const found = readFaults(done.said ?? "");
      if (done.ok || faultCount(found) > 0) return found;
      throw refused(`checking what is at ${place}`, done);
    },
    async damaged(faults, signal) {
      const trees = [...new Set([...faults.trees, ...faults.files.map(({ tree }) => tree)])];
      if (trees.length === 0) return [];
      const places = await placesOf(trees, signal);
      // A folder that has a broken one in it is found only when it is asked for itself.
      const more = await placesOf([...new Set(places.cut.map(({ tree }) => tree))], signal);
      return damagedCopies(await list([], signal), faults, { rows: [...places.rows, ...more.rows], cut: places.cut });
    },
  };
}

/** Arguments of one command of restic. */
const treesAtOnce = 500;
