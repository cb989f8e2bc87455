import type { Database } from "bun:sqlite";
import type { WebhookDelivery } from "./records.ts";

interface Row {
  seq: number;
  id: string;
  hook: number;
  instance: number;
  event: string;
  subject: string;
  body: string;
  state: WebhookDelivery["status"];
  attempts: number;
  next_at: number;
  last_result: string | null;
  created_at: number;
}

/** The outbox of the webhooks of instances, and the record of what became of each call. */
export interface WebhookDeliveries {
  /**
   * What may go next, due or not, the one that is due first at the front: no call for which an older one of its hook
   * and subject waits. Of each hook at most `perHook`, so that one receiver that hangs does not delay the others.
   */
  waiting(limit: number, perHook: number): WebhookDelivery[];
  /** Newest first. */
  list(hook: number, limit: number): WebhookDelivery[];
  get(instance: number, id: string): WebhookDelivery | undefined;
  add(delivery: Omit<WebhookDelivery, "seq">): void;
  /** What became of an attempt; nothing when the hook is gone meanwhile. */
  update(delivery: Pick<WebhookDelivery, "id" | "status" | "attempts" | "nextAt" | "lastResult">): void;
  /** Drops the oldest of every hook beyond `kept`, those that still wait included; returns how many went. */
  trim(kept: number): number;
}

export function createWebhookDeliveries(db: Database, onAdded: () => void): WebhookDeliveries {
  const sql = prepare(db);
  return {
    waiting: (limit, perHook) => sql.waiting.all(perHook, limit).map(toDelivery),
    list: (hook, limit) => sql.list.all(hook, limit).map(toDelivery),
    get(instance, id) {
      const row = sql.byId.get(id, instance);
      return row === null ? undefined : toDelivery(row);
    },
    add({ id, hook, instance, event, subject, body, status, attempts, nextAt, lastResult, createdAt }) {
      sql.insert.run(id, hook, instance, event, subject, body, status, attempts, nextAt, lastResult ?? null, createdAt);
      onAdded();
    },
    update({ id, status, attempts, nextAt, lastResult }) {
      sql.update.run(status, attempts, nextAt, lastResult ?? null, id);
    },
    trim: (kept) => sql.hooks.all().reduce((sum, { seq }) => sum + sql.trim.run(seq, seq, kept).changes, 0),
  };
}

function prepare(db: Database) {
  return {
    waiting: db.query<Row, [number, number]>(
      "select d.* from hooks as h join hook_deliveries as d on d.seq in (select seq from hook_deliveries" +
        " as own where hook = h.seq and state = 'waiting' and (subject = '' or not exists (select 1 from hook_deliveries" +
        " where hook = h.seq and state = 'waiting' and subject = own.subject and seq < own.seq))" +
        " order by next_at limit ?) where h.enabled = 1 order by d.next_at, d.seq limit ?",
    ),
    list: db.query<Row, [number, number]>("select * from hook_deliveries where hook = ? order by seq desc limit ?"),
    byId: db.query<Row, [string, number]>("select * from hook_deliveries where id = ? and instance = ?"),
    insert: db.query<unknown, (string | number | null)[]>(
      "insert into hook_deliveries (id, hook, instance, event, subject, body, state, attempts, next_at," +
        " last_result, created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    update: db.query<unknown, (string | number | null)[]>(
      "update hook_deliveries set state = ?, attempts = ?, next_at = ?, last_result = ? where id = ?",
    ),
    hooks: db.query<{ seq: number }, []>("select seq from hooks"),
    trim: db.query<unknown, [number, number, number]>(
      "delete from hook_deliveries where hook = ? and seq <=" +
        " (select seq from hook_deliveries where hook = ? order by seq desc limit 1 offset ?)",
    ),
  };
}

function toDelivery(row: Row): WebhookDelivery {
  return {
    seq: row.seq,
    id: row.id,
    hook: row.hook,
    instance: row.instance,
    event: row.event,
    subject: row.subject,
    body: row.body,
    status: row.state,
    attempts: row.attempts,
    nextAt: row.next_at,
    lastResult: row.last_result ?? undefined,
    createdAt: row.created_at,
  };
}
