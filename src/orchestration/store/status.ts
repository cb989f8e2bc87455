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
  const cache = createCache<Kept | undefined>(statusesCached);
  return {
    status: {
      get(key) {
        const kept = cache.get(keyText(key), () => {
          const row = byKey.get(...columnsOf(key));
          return row ? { text: row.status } : undefined;
        });
        if (kept === undefined || "status" in kept) return kept?.status;
        const status = deepFreeze<Status>(JSON.parse(kept.text));
        cache.set(keyText(key), { status });
        return status;
      },
      put(key, status) {
        const text = JSON.stringify(status);
        upsert.run(...columnsOf(key), text);
        cache.set(keyText(key), { text });
      },
    },
    forget: (id) => (id === undefined ? cache.clear() : cache.drop(id)),
  };
}

/** Most are written again before anybody asks for them. */
type Kept = { text: string } | { status: Status };
