import type { Database } from "bun:sqlite";
import { createAttempts, type Folding, type NewEntry } from "./audit-attempts.ts";
import type { AuditEntry } from "./records.ts";

interface AuditRow {
  seq: number;
  id: string;
  instance: number;
  at: number;
  actor: string;
  action: string;
  user_id: string | null;
  email: string | null;
  session_id: string | null;
  provider: string | null;
  ip_address: string | null;
  detail: string;
}

/** Append-only: nothing changes an entry but the count of attempts, and only age beyond the cap removes one. */
export interface Audit {
  append(entry: NewEntry): void;
  /** Like `append`, for what strangers can cause as often as they like: see `createAttempts`. */
  attempt(entry: NewEntry, folding: Folding): void;
  /** Newest first; `before` is the `seq` of the last one seen. */
  list(instance: number, page: { limit: number; before?: number }): AuditEntry[];
  /** Drops the oldest of an instance beyond `kept`, at most `most` of them; returns how many went. */
  trim(instance: number, kept: number, most: number): number;
}

export function createAudit(db: Database): Audit {
  const insert = db.query<unknown, (string | number | null)[]>(
    "insert into audit (id, instance, at, actor, action, user_id, email, session_id, provider, ip_address, detail)" +
      " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const page = db.query<AuditRow, [number, number, number]>(
    "select * from audit where instance = ? and seq < ? order by seq desc limit ?",
  );
  // The entry at the edge is found along the index, so that a trim with nothing to do costs no scan of the table.
  const edge = db.query<{ seq: number }, [number, number]>(
    "select seq from audit where instance = ? order by seq desc limit 1 offset ?",
  );
  const drop = db.query<unknown, [number, number, number]>(
    "delete from audit where seq in (select seq from audit where instance = ? and seq <= ? order by seq limit ?)",
  );
  const append = (entry: NewEntry): void => {
    const { id, instance, at, actor, action, userId, email, sessionId, provider, ipAddress } = entry;
    const about = [userId ?? null, email ?? null, sessionId ?? null, provider ?? null, ipAddress ?? null];
    insert.run(id, instance, at, actor, action, ...about, JSON.stringify(entry.detail));
  };
  return {
    append,
    attempt: createAttempts(db, append),
    list: (instance, { limit, before }) =>
      page.all(instance, before ?? Number.MAX_SAFE_INTEGER, limit).map(toAuditEntry),
    trim(instance, kept, most) {
      const last = edge.get(instance, kept);
      return last === null ? 0 : drop.run(instance, last.seq, most).changes;
    },
  };
}

function toAuditEntry(row: AuditRow): AuditEntry {
  return {
    seq: row.seq,
    id: row.id,
    instance: row.instance,
    at: row.at,
    actor: row.actor,
    action: row.action,
    userId: row.user_id ?? undefined,
    email: row.email ?? undefined,
    sessionId: row.session_id ?? undefined,
    provider: row.provider ?? undefined,
    ipAddress: row.ip_address ?? undefined,
    detail: JSON.parse(row.detail) as Record<string, unknown>,
  };
}
