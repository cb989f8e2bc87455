import type { Database } from "bun:sqlite";

export type SavedSort = "search" | "board";

/** One thing that was saved under a name. */
export interface SavedRecord {
  name: string;
  /** Checked before it was stored. */
  body: unknown;
  /** Epoch milliseconds. */
  updatedAt: number;
  updatedBy: string;
}

/** Log searches and boards. */
export interface Saved {
  /** By name. */
  list(sort: SavedSort): SavedRecord[];
  get(sort: SavedSort, name: string): SavedRecord | undefined;
  put(sort: SavedSort, record: SavedRecord): void;
  remove(sort: SavedSort, name: string): void;
}

interface Row {
  name: string;
  body: string;
  updated_at: number;
  updated_by: string;
}

export function createSaved(db: Database): Saved {
  const list = db.query<Row, [string]>("select * from saved where sort = ? order by name");
  const get = db.query<Row, [string, string]>("select * from saved where sort = ? and name = ?");
  const upsert = db.query<unknown, [string, string, string, number, string]>(
    "insert or replace into saved values (?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, [string, string]>("delete from saved where sort = ? and name = ?");
  const toRecord = ({ name, body, updated_at: updatedAt, updated_by: updatedBy }: Row): SavedRecord => ({
    name,
    body: JSON.parse(body),
    updatedAt,
    updatedBy,
  });
  return {
    list: (sort) => list.all(sort).map(toRecord),
    get(sort, name) {
      const row = get.get(sort, name);
      return row === null ? undefined : toRecord(row);
    },
    put(sort, { name, body, updatedAt, updatedBy }) {
      upsert.run(sort, name, JSON.stringify(body), updatedAt, updatedBy);
    },
    remove(sort, name) {
      drop.run(sort, name);
    },
  };
}
