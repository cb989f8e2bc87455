import type { Database } from "bun:sqlite";
import { keyOf } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import type { Delivery } from "./records.ts";
import { columnsOf, idTaken, type KeyColumns, sameOwner, whereKey } from "./rows.ts";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { Transaction } from "./store.ts";

interface Row extends ManifestKey {
  id: string;
  event: string;
  subject: string;
  url: string;
  method: string;
  headers: Uint8Array;
  body: string;
  status: Delivery["status"];
  attempts: number;
  next_at: number;
  created_at: number;
  last_result: string | null;
}

/** The outbox of webhook calls and the record of what became of them; the headers, which hold tokens, are sealed. */
export function createDeliveries(db: Database, seal: Seal, kept: number): Transaction["deliveries"] {
  const sql = prepare(db);
  const open = (row: Row) => toDelivery(row, JSON.parse(seal.open(row.headers, placeOf(row.id))));
  return {
    due: (now, limit) => sql.due.all(now, limit).map(open),
    list: (key, limit) => sql.byKey.all(...columnsOf(key), limit).map(open),
    put(delivery) {
      const { id, event, subject, url, method, body, status, attempts, nextAt, createdAt, lastResult } = delivery;
      const headers = seal.seal(JSON.stringify(delivery.headers), placeOf(id));
      const call = [event, subject, url, method, headers, body];
      const state = [status, attempts, nextAt, createdAt, lastResult ?? null];
      const { changes } = sql.upsert.run(id, ...columnsOf(delivery), ...call, ...state);
      if (changes === 0) throw idTaken("delivery", id);
      sql.trim.run(kept);
    },
  };
}

function prepare(db: Database) {
  return {
    due: db.query<Row, [number, number]>(
      "select * from deliveries as own where status = 'waiting' and next_at <= ? and (subject = '' or not exists" +
        " (select 1 from deliveries as d where d.status = 'waiting' and d.kind = own.kind and d.scope = own.scope" +
        " and d.name = own.name and d.subject = own.subject and d.seq < own.seq)) order by next_at, seq limit ?",
    ),
    byKey: db.query<Row, [...KeyColumns, number]>(
      `select * from deliveries where ${whereKey} order by seq desc limit ?`,
    ),
    upsert: db.query<unknown, [string, ...KeyColumns, ...(string | number | Uint8Array | null)[]]>(
      "insert into deliveries (id, kind, scope, name, event, subject, url, method, headers, body, status, attempts," +
        " next_at, created_at, last_result) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" +
        " on conflict (id) do update set headers = excluded.headers, body = excluded.body, status = excluded.status," +
        " attempts = excluded.attempts, next_at = excluded.next_at, last_result = excluded.last_result" +
        ` where ${sameOwner}`,
    ),
    trim: db.query<unknown, [number]>(
      "delete from deliveries where seq in (select seq from deliveries where status <> 'waiting' order by seq" +
        " limit max(0, (select count(*) from deliveries) - ?))",
    ),
  };
}

function placeOf(id: string): string {
  return ["deliveries", id, "headers"].join("\0");
}

function toDelivery(row: Row, headers: Record<string, string>): Delivery {
  return {
    ...keyOf(row),
    id: row.id,
    event: row.event,
    subject: row.subject,
    url: row.url,
    method: row.method,
    headers,
    body: row.body,
    status: row.status,
    attempts: row.attempts,
    nextAt: row.next_at,
    createdAt: row.created_at,
    lastResult: row.last_result ?? undefined,
  };
}
