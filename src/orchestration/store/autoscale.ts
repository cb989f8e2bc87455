import type { Database } from "bun:sqlite";
import { keyOf } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

interface Row extends ManifestKey {
  replicas: number;
  last_up_at: number | null;
  last_down_at: number | null;
}

/** The replica counts of the autoscaler: outside the manifest, so that no apply resets them. */
export function createAutoscale(db: Database, onMoved: (key: ManifestKey) => void): Transaction["autoscale"] {
  const byKey = db.query<Row, KeyColumns>(`select * from autoscale where ${whereKey}`);
  const upsert = db.query<unknown, [...KeyColumns, number, number | null, number | null]>(
    "insert or replace into autoscale (kind, scope, name, replicas, last_up_at, last_down_at)" +
      " values (?, ?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, KeyColumns>(`delete from autoscale where ${whereKey}`);
  return {
    get(key) {
      const row = byKey.get(...columnsOf(key));
      if (row === null) return undefined;
      const { replicas, last_up_at, last_down_at } = row;
      return { ...keyOf(row), replicas, lastUpAt: last_up_at ?? undefined, lastDownAt: last_down_at ?? undefined };
    },
    put(state) {
      const before = byKey.get(...columnsOf(state));
      upsert.run(...columnsOf(state), state.replicas, state.lastUpAt ?? null, state.lastDownAt ?? null);
      if (before?.replicas !== state.replicas) onMoved(keyOf(state));
    },
    remove(key) {
      if (drop.run(...columnsOf(key)).changes > 0) onMoved(keyOf(key));
    },
  };
}
