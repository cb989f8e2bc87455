import type { Database } from "bun:sqlite";
import type { SearchKind } from "../../core/search-columns.ts";
import { indexedKinds, isIndexed, type SearchIndex } from "./index.ts";

/** Keeps the indexes up to date while there is time. */
interface Indexing {
  /** Does a little; false when there is nothing to do right now. */
  step(): boolean;
}

/** Rows taken into an index at a time: some milliseconds. */
const rowsPerStep = 500;
/** What a search waits for at most, so that it sees what was written before it. */
const stepsBeforeSearch = 8;
const tidyMs = 10 * 60_000;

interface IndexingOptions {
  db: Database;
  index: SearchIndex;
  /** Told how far the changes are consumed. */
  onChanges: (done: number) => void;
}

export function createIndexing({ db, index, onChanges }: IndexingOptions): Indexing {
  const instances = db.query<{ seq: number }, []>("select seq from instances");
  // Another number after every commit of another connection.
  const version = db.query<{ data_version: number }, []>("pragma main.data_version");
  let seen: number | undefined;
  let pass: Generator<undefined, void> | undefined;
  let tidiedAt = performance.now();

  function* indexAll(): Generator<undefined, void> {
    for (let more = true; more;) {
      const { done, more: again } = index.applyChanges(rowsPerStep);
      onChanges(done);
      more = again;
      yield;
    }
    for (const { seq } of instances.all()) {
      for (const kind of indexedKinds) while (index.step(kind, seq, rowsPerStep)) yield;
      yield;
    }
    if (performance.now() - tidiedAt > tidyMs) {
      tidiedAt = performance.now();
      index.tidy();
    }
  }

  return {
    step() {
      const now = version.get()?.data_version;
      if (pass === undefined && now === seen) return false;
      if (pass === undefined) {
        seen = now;
        pass = indexAll();
      }
      if (pass.next().done === true) pass = undefined;
      return pass !== undefined;
    },
  };
}

/** Whether everything of the instance is in its index, after a bounded effort. */
export function catchUp(index: SearchIndex, kind: SearchKind, instance: number): boolean {
  if (!isIndexed(kind)) return false;
  for (let steps = 0; steps < stepsBeforeSearch; steps++) {
    const { more } = index.applyChanges(rowsPerStep);
    const behind = index.step(kind, instance, rowsPerStep);
    if (!more && !behind) return index.upto(kind, instance) !== undefined;
  }
  return false;
}
