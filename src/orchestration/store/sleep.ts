import type { Database } from "bun:sqlite";
import { keyOf } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import { createKeptTable } from "./kept-table.ts";
import type { SleepState } from "./records.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

interface Row extends ManifestKey {
  asleep: number;
  since: number;
}

interface SleepNoun {
  sleep: Transaction["sleep"];
  /** Forgets one resource (its manifest was deleted), or all (writes were undone). */
  forget(key?: ManifestKey): void;
}

/**
 * Which apps are asleep: outside the manifest, so that no apply wakes them by itself. Every look at a resource and every
 * table of the ingress asks.
 */
export function createSleep(db: Database, onMoved: (key: ManifestKey) => void): SleepNoun {
  const all = db.query<Row, []>("select * from sleep");
  const upsert = db.query<unknown, [...KeyColumns, number, number]>(
    "insert or replace into sleep (kind, scope, name, asleep, since) values (?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, KeyColumns>(`delete from sleep where ${whereKey}`);
  const states = createKeptTable<SleepState>(() =>
    all.all().map((row) => [row, { ...keyOf(row), asleep: row.asleep === 1, since: row.since }]),
  );
  const sleep: Transaction["sleep"] = {
    get: states.get,
    put(state) {
      const before = states.get(state)?.asleep ?? false;
      upsert.run(...columnsOf(state), state.asleep ? 1 : 0, state.since);
      states.set(state, { ...state });
      if (before !== state.asleep) onMoved(keyOf(state));
    },
    remove(key) {
      const before = states.get(key);
      if (before === undefined) return;
      drop.run(...columnsOf(key));
      states.set(key, undefined);
      if (before.asleep) onMoved(keyOf(key));
    },
  };
  return { sleep, forget: states.forget };
}
