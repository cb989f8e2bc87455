import type { Database } from "bun:sqlite";
import { createCache } from "./cache.ts";
import type { LockRecord } from "./lock-records.ts";
import type { Transaction } from "./store.ts";

interface Row extends Omit<LockRecord, "until"> {
  until: number | null;
}

/** Scopes whose locks are kept in memory: every apply asks for those of its own. */
const scopesCached = 1_000;

interface LocksNoun {
  locks: Transaction["locks"];
  /** Forgets what was read from writes that were undone. */
  forget(): void;
}

export function createLocks(db: Database): LocksNoun {
  const all = db.query<Row, []>("select * from locks order by scope, name");
  const ofScope = db.query<Row, [string]>("select * from locks where scope = ? order by name");
  const upsert = db.query<unknown, (string | number | null)[]>(
    "insert or replace into locks (scope, name, reason, actor, at, until) values (?, ?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, [string, string]>("delete from locks where scope = ? and name = ?");
  const byScope = createCache<readonly LockRecord[]>(scopesCached);
  return {
    locks: {
      list: (scope) =>
        scope === undefined ? all.all().map(toLock) : [...byScope.get(scope, () => ofScope.all(scope).map(toLock))],
      put: ({ scope, name, reason, actor, at, until }) => {
        upsert.run(scope, name, reason, actor, at, until ?? null);
        byScope.drop(scope);
      },
      remove: (scope, name) => {
        drop.run(scope, name);
        byScope.drop(scope);
      },
    },
    forget: byScope.clear,
  };
}

function toLock(row: Row): LockRecord {
  return { ...row, until: row.until ?? undefined };
}
