import type { Database } from "bun:sqlite";
import type { AuditEntry } from "./records.ts";
import { clientNetwork } from "../../base/pure/client-network.ts";
import { orderedJson } from "../../base/pure/canonical.ts";

type NewEntry = Omit<AuditEntry, "seq">;

interface Folding {
  /** Entries that are newer take further attempts. Epoch milliseconds. */
  since: number;
  /** Newer entries of one action of an instance; whatever else comes is one entry. */
  most: number;
}

interface Row {
  seq: number;
  ip_address: string | null;
  detail: string;
}

const overflowWhy = "further attempts, by other clients or for other addresses";

/**
 * Records attempts so that no client floods the trail: one that says the same as a recent one, from the same client, is
 * counted there (`times` and `last_at` of its detail); beyond a number of different ones, all others are one entry.
 */
function createAttempts(db: Database, append: (entry: NewEntry) => void) {
  const newest = (columns: string) =>
    `select ${columns} from audit where instance = ? and action = ? order by seq desc limit ?`;
  const alike = db.query<Row, (string | number | null)[]>(
    `select seq, ip_address, detail from (${newest("*")}) where at > ? and actor = ? and email is ? and provider is ?`,
  );
  const recent = db.query<{ n: number }, [number, string, number, number]>(
    `select count(*) as n from (${newest("at")}) where at > ?`,
  );
  const recount = db.query<unknown, [string, number]>("update audit set detail = ? where seq = ?");

  /** False when no entry says the same. */
  function fold(entry: NewEntry, { since, most }: Folding): boolean {
    const { instance, action, actor, email, provider } = entry;
    const about = [since, actor, email ?? null, provider ?? null];
    const said = statement(entry.ipAddress, entry.detail);
    // One more than may be: the one that stands for all others.
    for (const { seq, ip_address, detail } of alike.all(instance, action, most + 1, ...about)) {
      const { times, last_at, ...rest } = JSON.parse(detail) as Record<string, unknown>;
      if (statement(ip_address ?? undefined, rest) !== said) continue;
      const count = (typeof times === "number" ? times : 1) + 1;
      recount.run(JSON.stringify({ ...rest, times: count, last_at: new Date(entry.at).toISOString() }), seq);
      return true;
    }
    return false;
  }

  return (entry: NewEntry, folding: Folding): void => {
    if (fold(entry, folding)) return;
    const { instance, action } = entry;
    const isFull = (recent.get(instance, action, folding.most, folding.since)?.n ?? 0) >= folding.most;
    if (!isFull) {
      append(entry);
      return;
    }
    const nobody = { email: undefined, provider: undefined, userId: undefined, ipAddress: undefined };
    const overflow = { ...entry, ...nobody, detail: { why: overflowWhy } };
    if (!fold(overflow, folding)) append(overflow);
  };
}

function statement(ip: string | undefined, detail: Record<string, unknown>): string {
  return `${clientNetwork(ip ?? "").near} ${orderedJson(detail)}`;
}

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
