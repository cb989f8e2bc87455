import type { Database } from "bun:sqlite";
import { keyText } from "../api/manifest-key.ts";
import { createCache } from "./cache.ts";
import { deepFreeze } from "../../base/pure/deep-freeze.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

type Status = Record<string, unknown>;

const statusesCached = 20_000;

interface StatusNoun {
  status: Transaction["status"];
  /** Forgets one resource (its manifest was deleted), or all (writes were undone). */
  forget(id?: string): void;
}

/** The last known state of each resource, as the reconciler wrote it. */
export function createStatus(db: Database): StatusNoun {
  const byKey = db.query<{ status: string }, KeyColumns>(`select status from status where ${whereKey}`);
  const upsert = db.query<unknown, [...KeyColumns, string]>(
    "insert into status (kind, scope, name, status) values (?, ?, ?, ?)" +
      " on conflict (kind, scope, name) do update set status = excluded.status where status <> excluded.status",
  );
  const cache = createCache<Status | undefined>(statusesCached);
  return {
    status: {
      get: (key) =>
        cache.get(keyText(key), () => {
          const row = byKey.get(...columnsOf(key));
          return row ? deepFreeze<Status>(JSON.parse(row.status)) : undefined;
        }),
      put(key, status) {
        upsert.run(...columnsOf(key), JSON.stringify(status));
        cache.set(keyText(key), deepFreeze(status));
      },
    },
    forget: (id) => (id === undefined ? cache.clear() : cache.drop(id)),
  };
}
