import type { Database } from "bun:sqlite";
import { keyOf } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import { createKeptTable } from "./kept-table.ts";
import type { AutoscaleState } from "./records.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

interface Row extends ManifestKey {
  replicas: number;
  last_up_at: number | null;
  last_down_at: number | null;
}

interface AutoscaleNoun {
  autoscale: Transaction["autoscale"];
  /** Forgets one resource (its manifest was deleted), or all (writes were undone). */
  forget(key?: ManifestKey): void;
}

/** The replica counts of the autoscaler: outside the manifest, so that no apply resets them. */
export function createAutoscale(db: Database, onMoved: (key: ManifestKey) => void): AutoscaleNoun {
  const all = db.query<Row, []>("select * from autoscale");
  const upsert = db.query<unknown, [...KeyColumns, number, number | null, number | null]>(
    "insert or replace into autoscale (kind, scope, name, replicas, last_up_at, last_down_at)" +
      " values (?, ?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, KeyColumns>(`delete from autoscale where ${whereKey}`);
  const counts = createKeptTable(() => all.all().map((row) => [row, toState(row)]));
  const autoscale: Transaction["autoscale"] = {
    get: counts.get,
    put(state) {
      const before = counts.get(state);
      upsert.run(...columnsOf(state), state.replicas, state.lastUpAt ?? null, state.lastDownAt ?? null);
      counts.set(state, { ...state });
      if (before?.replicas !== state.replicas) onMoved(keyOf(state));
    },
    remove(key) {
      if (counts.get(key) === undefined) return;
      drop.run(...columnsOf(key));
      counts.set(key, undefined);
      onMoved(keyOf(key));
    },
  };
  return { autoscale, forget: counts.forget };
}

function toState({ replicas, last_up_at, last_down_at, ...row }: Row): AutoscaleState {
  return { ...keyOf(row), replicas, lastUpAt: last_up_at ?? undefined, lastDownAt: last_down_at ?? undefined };
}
