import type { Database } from "bun:sqlite";
import { columnsOf, type KeyColumns } from "./rows.ts";
import type { Operation, Transaction } from "./store.ts";

/** Changes that a caller did not wait for; the newest `kept` are remembered. */
export function createOperations(db: Database, kept: number): Transaction["operations"] {
  const byId = db.query<Operation, [string]>(
    'select id, type, kind, scope, name, generation, started_at as "startedAt" from operations where id = ?',
  );
  const insert = db.query<unknown, [string, string, ...KeyColumns, number, number]>(
    "insert or replace into operations (id, type, kind, scope, name, generation, started_at)" +
      " values (?, ?, ?, ?, ?, ?, ?)",
  );
  const trim = db.query<unknown, [number | bigint]>("delete from operations where seq <= ?");
  return {
    get: (id) => byId.get(id) ?? undefined,
    put(operation) {
      const { id, type, generation, startedAt } = operation;
      const { lastInsertRowid } = insert.run(id, type, ...columnsOf(operation), generation, startedAt);
      trim.run(Number(lastInsertRowid) - kept);
    },
  };
}
