import type { Database } from "bun:sqlite";
import { keyOf, keyText } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import { columnsOf, type KeyColumns } from "./rows.ts";
import type { Transaction } from "./store.ts";

type Mark = ManifestKey & { replicaId: string };

interface FrozenNoun {
  frozen: Transaction["frozen"];
  /** Drops the rows in memory: the next question reads them from the database. */
  forget(): void;
}

/**
 * Replicas that stay stopped until someone starts them. All marks are kept in memory: there are few, and every look at a
 * resource asks for its own several times.
 */
export function createFrozen(db: Database, onMoved: (key: ManifestKey) => void): FrozenNoun {
  const all = db.query<Mark, []>(
    'select kind, scope, name, replica_id as "replicaId" from frozen order by kind, scope, name, replica_id',
  );
  const insert = db.query<unknown, [...KeyColumns, string, number]>(
    "insert or ignore into frozen (kind, scope, name, replica_id, at) values (?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, [...KeyColumns, string]>(
    "delete from frozen where kind = ? and scope = ? and name = ? and replica_id = ?",
  );
  let marks: Map<string, string[]> | undefined;
  const list = (key: ManifestKey): string[] => {
    marks ??= byResource(all.all());
    return [...(marks.get(keyText(key)) ?? [])];
  };
  const moved = (key: ManifestKey) => {
    marks = undefined;
    onMoved(keyOf(key));
  };
  const frozen: Transaction["frozen"] = {
    list,
    all: () => all.all(),
    add(key, replicaId, now) {
      if (insert.run(...columnsOf(key), replicaId, now).changes > 0) moved(key);
    },
    remove(key, replicaId) {
      const ids = list(key).filter((id) => replicaId === undefined || id === replicaId);
      for (const id of ids) drop.run(...columnsOf(key), id);
      if (ids.length > 0) moved(key);
      return ids;
    },
  };
  return {
    frozen,
    forget() {
      marks = undefined;
    },
  };
}

function byResource(marks: readonly Mark[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const mark of marks) {
    const id = keyText(mark);
    const ids = found.get(id);
    if (ids === undefined) found.set(id, [mark.replicaId]);
    else ids.push(mark.replicaId);
  }
  return found;
}
