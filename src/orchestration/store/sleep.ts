import type { Database } from "bun:sqlite";
import { keyOf, keyText } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import type { SleepState } from "./records.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

interface Row extends ManifestKey {
  asleep: number;
  since: number;
}

interface SleepNoun {
  sleep: Transaction["sleep"];
  /** Reads anew at the next call. */
  forget(): void;
}

/**
 * Which apps are asleep: outside the manifest, so that no apply wakes them by itself. All are kept in memory: every
 * look at a resource and every table of the ingress asks.
 */
export function createSleep(db: Database, onMoved: (key: ManifestKey) => void): SleepNoun {
  const all = db.query<Row, []>("select * from sleep");
  const upsert = db.query<unknown, [...KeyColumns, number, number]>(
    "insert or replace into sleep (kind, scope, name, asleep, since) values (?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, KeyColumns>(`delete from sleep where ${whereKey}`);
  let states: Map<string, SleepState> | undefined;
  const known = (): Map<string, SleepState> => {
    states ??= new Map(
      all.all().map((row) => [keyText(row), { ...keyOf(row), asleep: row.asleep === 1, since: row.since }]),
    );
    return states;
  };
  return {
    sleep: {
      get: (key) => known().get(keyText(key)),
      put(state) {
        const before = known().get(keyText(state))?.asleep ?? false;
        upsert.run(...columnsOf(state), state.asleep ? 1 : 0, state.since);
        states = undefined;
        if (before !== state.asleep) onMoved(keyOf(state));
      },
      remove(key) {
        const before = known().get(keyText(key));
        if (before === undefined) return;
        drop.run(...columnsOf(key));
        states = undefined;
        if (before.asleep) onMoved(keyOf(key));
      },
    },
    forget() {
      states = undefined;
    },
  };
}
