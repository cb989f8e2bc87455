import type { Database } from "bun:sqlite";
import type { LockRecord } from "./lock-records.ts";
import type { Transaction } from "./store.ts";

interface Row extends Omit<LockRecord, "until"> {
  until: number | null;
}

export function createLocks(db: Database): Transaction["locks"] {
  const all = db.query<Row, []>("select * from locks order by scope, name");
  const ofScope = db.query<Row, [string]>("select * from locks where scope = ? order by name");
  const upsert = db.query<unknown, (string | number | null)[]>(
    "insert or replace into locks (scope, name, reason, actor, at, until) values (?, ?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, [string, string]>("delete from locks where scope = ? and name = ?");
  return {
    list: (scope) =>
      (scope === undefined ? all.all() : ofScope.all(scope)).map((row) => ({ ...row, until: row.until ?? undefined })),
    put: ({ scope, name, reason, actor, at, until }) => {
      upsert.run(scope, name, reason, actor, at, until ?? null);
    },
    remove: (scope, name) => {
      drop.run(scope, name);
    },
  };
}
