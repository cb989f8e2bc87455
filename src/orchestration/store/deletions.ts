import type { Database } from "bun:sqlite";
import { keyOf } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import { createKeptTable } from "./kept-table.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Deletion, Transaction } from "./store.ts";

type Row = ManifestKey & { at: number; prune: number };

interface DeletionsNoun {
  deletions: Transaction["deletions"];
  /** Drops the rows in memory: the next question reads them from the database. */
  forget(): void;
}

/** Delete marks: work that is left after a manifest went. */
export function createDeletions(db: Database, onMoved: (key: ManifestKey) => void): DeletionsNoun {
  const all = db.query<Row, []>("select * from deletions order by kind, scope, name");
  const upsert = db.query<unknown, [...KeyColumns, number, number]>(
    "insert or replace into deletions (kind, scope, name, at, prune) values (?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, KeyColumns>(`delete from deletions where ${whereKey}`);
  const list = () => all.all().map(toDeletion);
  const marks = createKeptTable(() => list().map((mark) => [mark, mark]));
  const deletions: Transaction["deletions"] = {
    get: marks.get,
    list,
    put({ at, prune, ...about }) {
      const key = keyOf(about);
      upsert.run(...columnsOf(key), at, Number(prune));
      marks.set(key, { ...key, at, prune });
      onMoved(key);
    },
    remove(mark) {
      // A delete that came later has put its own mark, with other work to do.
      if (marks.get(mark) !== mark) return false;
      drop.run(...columnsOf(mark));
      marks.set(mark, undefined);
      onMoved(keyOf(mark));
      return true;
    },
  };
  return { deletions, forget: marks.forget };
}

function toDeletion(row: Row): Deletion {
  return { ...keyOf(row), at: row.at, prune: row.prune === 1 };
}
