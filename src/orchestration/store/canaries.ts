import type { Database } from "bun:sqlite";
import { keyOf, keyText } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import type { CanaryRecord } from "./records.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

type Row = ManifestKey & { document: string };

interface CanaryNoun {
  canaries: Transaction["canaries"];
  /** Reads anew at the next call. */
  forget(): void;
}

/** Canary releases. All are kept in memory: there are few, and every look at the replicas asks for them. */
export function createCanaries(db: Database, onMoved: (key: ManifestKey) => void): CanaryNoun {
  const all = db.query<Row, []>("select * from canaries");
  const upsert = db.query<unknown, [...KeyColumns, string]>("insert or replace into canaries values (?, ?, ?, ?)");
  const drop = db.query<unknown, KeyColumns>(`delete from canaries where ${whereKey}`);
  let known: Map<string, CanaryRecord> | undefined;
  const read = () => {
    known ??= new Map(all.all().map((row) => [keyText(row), opened(row)]));
    return known;
  };
  return {
    canaries: {
      get: (key) => read().get(keyText(key)),
      put(record) {
        const before = read().get(keyText(record));
        const { kind, scope, name, ...document } = record;
        upsert.run(kind, scope, name, JSON.stringify(document));
        known = undefined;
        // Time that passes moves nothing.
        const still = { ...record, elapsedMs: 0 };
        if (!Bun.deepEquals(before && { ...before, elapsedMs: 0 }, still)) onMoved(keyOf(record));
      },
      remove(key) {
        if (drop.run(...columnsOf(key)).changes === 0) return;
        known = undefined;
        onMoved(keyOf(key));
      },
    },
    forget() {
      known = undefined;
    },
  };
}

function opened(row: Row): CanaryRecord {
  return { ...(JSON.parse(row.document) as Omit<CanaryRecord, keyof ManifestKey>), ...keyOf(row) };
}
