import type { Database } from "bun:sqlite";
import { keyOf } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Deletion, Transaction } from "./store.ts";

type Row = ManifestKey & { at: number; prune: number };

/** Delete marks: work that is left after a manifest went. */
export function createDeletions(db: Database, onMoved: (key: ManifestKey) => void): Transaction["deletions"] {
  const byKey = db.query<Row, KeyColumns>(`select * from deletions where ${whereKey}`);
  const all = db.query<Row, []>("select * from deletions order by kind, scope, name");
  const upsert = db.query<unknown, [...KeyColumns, number, number]>(
    "insert or replace into deletions (kind, scope, name, at, prune) values (?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, KeyColumns>(`delete from deletions where ${whereKey}`);
  return {
    get(key) {
      const row = byKey.get(...columnsOf(key));
      return row ? toDeletion(row) : undefined;
    },
    list: () => all.all().map(toDeletion),
    put(deletion) {
      upsert.run(...columnsOf(deletion), deletion.at, Number(deletion.prune));
      onMoved(keyOf(deletion));
    },
    remove(key) {
      if (drop.run(...columnsOf(key)).changes > 0) onMoved(keyOf(key));
    },
  };
}

function toDeletion(row: Row): Deletion {
  return { ...keyOf(row), at: row.at, prune: row.prune === 1 };
}
