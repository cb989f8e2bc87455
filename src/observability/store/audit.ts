import type { Database } from "bun:sqlite";
import type { AuditEntry } from "./records.ts";

interface Row {
  seq: number;
  id: string;
  at: number;
  actor: string;
  ip: string | null;
  action: string;
  target: string;
  params: string;
  outcome: string;
  duration_ms: number;
  request_id: string;
}

interface Page {
  limit: number;
  /** `seq` of the last one seen. */
  before?: number | undefined;
  actor?: string | undefined;
}

/** Append-only; age beyond the cap alone removes an entry. */
export interface Audit {
  append(entry: Omit<AuditEntry, "seq">): void;
  /** Newest first. */
  list(page: Page): AuditEntry[];
  /** Drops the oldest beyond `kept`, at most `most` of them; returns how many went. */
  trim(kept: number, most: number): number;
}

export function createAudit(db: Database): Audit {
  const insert = db.query<unknown, (string | number | null)[]>(
    "insert into audit (id, at, actor, ip, action, target, params, outcome, duration_ms, request_id)" +
      " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const page = db.query<Row, [number, number]>("select * from audit where seq < ? order by seq desc limit ?");
  const pageOf = db.query<Row, [string, number, number]>(
    "select * from audit where actor = ? and seq < ? order by seq desc limit ?",
  );
  // The entry at the edge is found along the index, so that a trim with nothing to do costs no scan of the table.
  const edge = db.query<{ seq: number }, [number]>("select seq from audit order by seq desc limit 1 offset ?");
  const drop = db.query<unknown, [number, number]>(
    "delete from audit where seq in (select seq from audit where seq <= ? order by seq limit ?)",
  );
  return {
    append({ id, at, actor, ip, action, target, params, outcome, durationMs, requestId }) {
      const rest = [JSON.stringify(params), outcome, Math.round(durationMs), requestId];
      insert.run(id, at, actor, ip ?? null, action, target, ...rest);
    },
    list({ limit, before = Number.MAX_SAFE_INTEGER, actor }) {
      const rows = actor === undefined ? page.all(before, limit) : pageOf.all(actor, before, limit);
      return rows.map(toEntry);
    },
    trim(kept, most) {
      const last = edge.get(kept);
      return last === null ? 0 : drop.run(last.seq, most).changes;
    },
  };
}

function toEntry(row: Row): AuditEntry {
  return {
    seq: row.seq,
    id: row.id,
    at: row.at,
    actor: row.actor,
    ip: row.ip ?? undefined,
    action: row.action,
    target: row.target,
    params: JSON.parse(row.params) as Record<string, string>,
    outcome: row.outcome,
    durationMs: row.duration_ms,
    requestId: row.request_id,
  };
}
