import type { Database } from "bun:sqlite";
import { keyOf } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import { createKeptTable } from "./kept-table.ts";
import type { CanaryRecord } from "./records.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

type Row = ManifestKey & { document: string };

interface CanaryNoun {
  canaries: Transaction["canaries"];
  /** Forgets one resource (its manifest was deleted), or all (writes were undone). */
  forget(key?: ManifestKey): void;
}

/** Canary releases. Every look at the replicas asks for them. */
export function createCanaries(db: Database, onMoved: (key: ManifestKey) => void): CanaryNoun {
  const all = db.query<Row, []>("select * from canaries");
  const upsert = db.query<unknown, [...KeyColumns, string]>("insert or replace into canaries values (?, ?, ?, ?)");
  const drop = db.query<unknown, KeyColumns>(`delete from canaries where ${whereKey}`);
  const records = createKeptTable(() => all.all().map((row) => [row, opened(row)]));
  const canaries: Transaction["canaries"] = {
    get: records.get,
    put(record) {
      const before = records.get(record);
      const { kind, scope, name, ...document } = record;
      upsert.run(kind, scope, name, JSON.stringify(document));
      records.set(record, { ...record });
      // Time that passes moves nothing.
      const still = { ...record, elapsedMs: 0 };
      if (!Bun.deepEquals(before && { ...before, elapsedMs: 0 }, still)) onMoved(keyOf(record));
    },
    remove(key) {
      if (records.get(key) === undefined) return;
      drop.run(...columnsOf(key));
      records.set(key, undefined);
      onMoved(keyOf(key));
    },
  };
  return { canaries, forget: records.forget };
}

function opened(row: Row): CanaryRecord {
  return { ...(JSON.parse(row.document) as Omit<CanaryRecord, keyof ManifestKey>), ...keyOf(row) };
}
