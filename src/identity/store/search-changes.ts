import type { Database } from "bun:sqlite";

/** Rows that the search index must look at again; triggers write them. */
export interface SearchChanges {
  /** Forgets those that are done with: up to this number. */
  drop(upto: number): void;
  /** Keeps the newest; the index notices the gap and is rebuilt. Returns how many went. */
  trim(kept: number): number;
}

export function createSearchChanges(db: Database): SearchChanges {
  const drop = db.query<unknown, [number]>("delete from search_changes where n <= ?");
  const trim = db.query<unknown, [number]>(
    "delete from search_changes where n <= (select max(n) from search_changes) - ?",
  );
  return {
    drop(upto) {
      drop.run(upto);
    },
    trim: (kept) => trim.run(kept).changes,
  };
}
