import type { Database } from "bun:sqlite";
import { filteredSelect } from "./rows.ts";
import type { StoredEvent, Transaction } from "./store.ts";

interface Row {
  seq: number;
  at: number;
  actor: string;
  action: string;
  kind: string | null;
  scope: string | null;
  name: string | null;
  revision: number | null;
  detail: string | null;
}

/** The log keeps between 63/64 of `kept` and `kept` rows: cut in chunks, because each cut costs a search. */
const chunksPerLog = 64;

/** The append-only event log, oldest rows dropped beyond `kept`. */
export function createEvents(db: Database, kept: number): Transaction["events"] {
  const chunk = Math.max(1, Math.floor(kept / chunksPerLog));
  const insert = db.query<unknown, (string | number | null)[]>(
    "insert into events (at, actor, action, kind, scope, name, revision, detail) values (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const cut = db.query<unknown, [number]>("delete from events where seq <= ?");
  const columns = { kind: "kind = ?", scope: "scope = ?", name: "name = ?" };
  const newest = filteredSelect<Row>(
    db,
    columns,
    (clauses) => `select * from events where true${clauses} order by seq desc limit ?`,
  );
  const following = filteredSelect<Row>(
    db,
    { ...columns, after: "seq > ?" },
    (clauses) => `select * from events where true${clauses} order by seq limit ?`,
  );
  return {
    append(event, now) {
      const { actor, action, kind = null, scope = null, name = null, revision = null } = event;
      const detail = event.detail === undefined ? null : JSON.stringify(event.detail);
      const seq = Number(insert.run(now, actor, action, kind, scope, name, revision, detail).lastInsertRowid);
      if (seq % chunk === 0) cut.run(seq - (kept - chunk) - 1);
      return seq;
    },
    list({ limit, ...filter }) {
      const rows = filter.after === undefined ? newest(filter, limit).reverse() : following(filter, limit);
      return rows.map(toEvent);
    },
  };
}

function toEvent(row: Row): StoredEvent {
  return {
    seq: row.seq,
    at: row.at,
    actor: row.actor,
    action: row.action,
    ...(row.kind === null ? {} : { kind: row.kind }),
    ...(row.scope === null ? {} : { scope: row.scope }),
    ...(row.name === null ? {} : { name: row.name }),
    ...(row.revision === null ? {} : { revision: row.revision }),
    ...(row.detail === null ? {} : { detail: JSON.parse(row.detail) }),
  };
}
