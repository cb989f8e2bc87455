import type { Database } from "bun:sqlite";

/**
 * The one counter that revisions and generations come from, so that a resource that was deleted and made again never
 * takes a container of its former life for a current one. Rows carry the numbers they got; the counter row is only
 * written where a row goes, which keeps a page out of every put.
 */
export interface Versions {
  next(): number;
  /** Remembers the highest number for when no row carries it any more. */
  keep(): void;
}

export function createVersions(db: Database): Versions {
  const save = db.query<unknown, [number]>("update counter set revision = ?");
  let last = highestVersion(db);
  return {
    next: () => ++last,
    keep() {
      save.run(last);
    },
  };
}

/** The highest number that was ever given out. */
export function highestVersion(db: Database): number {
  const row = db
    .query<{ highest: number }, []>(
      "select max((select revision from counter), (select coalesce(max(revision), 0) from manifests)," +
        " (select coalesce(max(generation), 0) from manifests), (select coalesce(max(revision), 0) from blocks)) as highest",
    )
    .get();
  return row?.highest ?? 0;
}
