import { Database } from "bun:sqlite";
import { createSearchIndex } from "./index.ts";
import { openIndexFile } from "./index-file.ts";
import { catchUp, createIndexing } from "./indexing.ts";
import type { FromSearchThread, SearchSetup } from "./messages.ts";
import type { SearchRequest } from "./request.ts";
import { searchSteps } from "./run.ts";
import { createSearches } from "./searches.ts";

export interface SearchThread {
  search(id: number, request: SearchRequest): void;
  cancel(id: number): void;
  close(): void;
}

/** Searches, and updates the indexes while no search runs. Answers go through `post`. */
export function startSearchThread(setup: SearchSetup, post: (message: FromSearchThread) => void): SearchThread {
  const file = openIndexFile(setup.index, setup.database);
  const db = openForReading(setup);
  const index = createSearchIndex({ file, source: db, smallMax: setup.smallMax });
  const searches = createSearches({
    sources: { db, index, isCurrent: (kind, instance) => catchUp(index, kind, instance), steps: searchSteps },
    setup,
    post,
  });
  let told = 0;
  const indexing = createIndexing({
    db,
    index,
    onChanges(done) {
      if (done > told) post({ type: "indexed", changes: done });
      told = Math.max(told, done);
    },
  });
  let idle: Timer | undefined;
  let awake = false;
  let closed = false;

  function turn(): void {
    if (closed) return;
    searches.step();
    // Beside the searches, not after them: while an index is behind they are slow because of it.
    const behind = stepIndex();
    awake = behind || searches.waiting;
    if (awake) setImmediate(turn);
    else idle = setTimeout(wake, setup.idleMs);
  }

  function stepIndex(): boolean {
    try {
      return indexing.step();
    } catch (error) {
      post({ type: "failed", id: undefined, text: String(error) });
      return false;
    }
  }

  function wake(): void {
    clearTimeout(idle);
    if (awake) return;
    awake = true;
    setImmediate(turn);
  }

  post({ type: "ready" });
  wake();
  return {
    search(id, request) {
      searches.add(id, request);
      wake();
    },
    cancel: searches.cancel,
    close() {
      closed = true;
      clearTimeout(idle);
      db.close();
      file.db.close();
    },
  };
}

/** The index is attached, so that one statement goes through both. */
function openForReading({ database, index, cacheKib }: SearchSetup): Database {
  const db = new Database(database, { readonly: true });
  try {
    db.run("pragma busy_timeout = 2000");
    db.run(`pragma cache_size = -${cacheKib}`);
    db.run("attach ? as grams", [index]);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
