import type { Database } from "bun:sqlite";
import type { ManifestKey } from "../api/manifest.ts";
import { columnsOf, type KeyColumns, keyOf, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

type Mark = ManifestKey & { replicaId: string };

/** Replicas that stay stopped until someone starts them. */
export function createFrozen(db: Database, onMoved: (key: ManifestKey) => void): Transaction["frozen"] {
  const byKey = db.query<{ replica_id: string }, KeyColumns>(
    `select replica_id from frozen where ${whereKey} order by replica_id`,
  );
  const all = db.query<Mark, []>(
    'select kind, scope, name, replica_id as "replicaId" from frozen order by kind, scope, name, replica_id',
  );
  const insert = db.query<unknown, [...KeyColumns, string, number]>(
    "insert or ignore into frozen (kind, scope, name, replica_id, at) values (?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, [...KeyColumns, string]>(`delete from frozen where ${whereKey} and replica_id = ?`);

  const list = (key: ManifestKey) => byKey.all(...columnsOf(key)).map((row) => row.replica_id);
  return {
    list,
    all: () => all.all(),
    add(key, replicaId, now) {
      if (insert.run(...columnsOf(key), replicaId, now).changes > 0) onMoved(keyOf(key));
    },
    remove(key, replicaId) {
      const ids = list(key).filter((id) => replicaId === undefined || id === replicaId);
      for (const id of ids) drop.run(...columnsOf(key), id);
      if (ids.length > 0) onMoved(keyOf(key));
      return ids;
    },
  };
}
