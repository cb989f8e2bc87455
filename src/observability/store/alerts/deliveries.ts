import type { Database } from "bun:sqlite";
import type { Message } from "../../core/alerts/message.ts";
import type { DeliveryRecord, MessageRecord } from "./records.ts";

/** The outbox of the messages of alerts, and the record of what became of each. */
export interface AlertDeliveries {
  /** What waits, due or not, the oldest first. */
  waiting(): DeliveryRecord[];
  /** What waits for a channel and reports one of these groups is due now. */
  hasten(channel: string, groups: readonly string[], now: number): void;
  message(id: string): MessageRecord | undefined;
  /** Newest first. */
  list(filter: { channel?: string | undefined; limit: number }): DeliveryRecord[];
  /** The newest of a channel that was tried. */
  lastOf(channel: string): DeliveryRecord | undefined;
  addMessage(message: MessageRecord): void;
  add(delivery: DeliveryRecord): void;
  update(delivery: Pick<DeliveryRecord, "id" | "status" | "attempts" | "nextAt" | "lastResult">): void;
  /** When messages went out since a time, and when the last one of each group did. */
  sentSince(at: number): number[];
  groups(): Map<string, number>;
  putGroup(key: string, sentAt: number): void;
  /** Drops the oldest messages beyond `kept` that no delivery waits for, with their deliveries, and groups that were quiet since a time. */
  trim(kept: number, quietSince: number): void;
}

interface Row {
  id: string;
  message: string;
  channel: string;
  title: string;
  alerts: string;
  ends: string;
  groups: string;
  status: DeliveryRecord["status"];
  attempts: number;
  next_at: number;
  created_at: number;
  last_result: string | null;
}

export function createAlertDeliveries(db: Database): AlertDeliveries {
  const sql = prepare(db);
  return {
    waiting: () => sql.waiting.all().map(toRecord),
    hasten(channel, groups, now) {
      sql.hasten.run(now, channel, now, JSON.stringify(groups));
    },
    message(id) {
      const row = sql.message.get(id);
      if (row === null) return undefined;
      return { id, group: row.group_key, body: JSON.parse(row.body) as Message, createdAt: row.created_at };
    },
    list: ({ channel, limit }) => sql.list.all(channel ?? null, limit).map(toRecord),
    lastOf(channel) {
      const row = sql.last.get(channel);
      return row === null ? undefined : toRecord(row);
    },
    addMessage({ id, group, body, createdAt }) {
      sql.addMessage.run(id, group, JSON.stringify(body), createdAt);
    },
    add(one) {
      const state = [one.status, one.attempts, one.nextAt, one.createdAt, one.lastResult ?? null];
      const about = [one.alerts, one.ends, one.groups].map((list) => JSON.stringify(list));
      sql.add.run(one.id, one.message, one.channel, one.title, ...about, ...state);
    },
    update({ id, status, attempts, nextAt, lastResult }) {
      sql.update.run(status, attempts, nextAt, lastResult ?? null, id);
    },
    sentSince: (at) => sql.sent.all(at).map(({ created_at }) => created_at),
    groups: () => new Map(sql.groups.all().map(({ key, sent_at }) => [key, sent_at])),
    putGroup(key, sentAt) {
      sql.putGroup.run(key, sentAt);
    },
    trim(kept, quietSince) {
      sql.trim.run(kept);
      sql.trimGroups.run(quietSince);
    },
  };
}

function prepare(db: Database) {
  return {
    waiting: db.query<Row, []>("select * from alert_deliveries where status = 'waiting' order by seq"),
    hasten: db.query<unknown, [number, string, number, string]>(
      "update alert_deliveries set next_at = ? where status = 'waiting' and channel = ? and next_at > ? and exists" +
        " (select 1 from json_each(groups) as own join json_each(?) as given on given.value = own.value)",
    ),
    message: db.query<{ group_key: string; body: string; created_at: number }, [string]>(
      "select * from alert_messages where id = ?",
    ),
    list: db.query<Row, [string | null, number]>(
      "select * from alert_deliveries where channel = coalesce(?, channel) order by seq desc limit ?",
    ),
    last: db.query<Row, [string]>(
      "select * from alert_deliveries where channel = ? and attempts > 0 order by seq desc limit 1",
    ),
    addMessage: db.query<unknown, [string, string, string, number]>("insert into alert_messages values (?, ?, ?, ?)"),
    add: db.query<unknown, (string | number | null)[]>(
      "insert into alert_deliveries (id, message, channel, title, alerts, ends, groups, status, attempts, next_at," +
        " created_at, last_result) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    update: db.query<unknown, [string, number, number, string | null, string]>(
      "update alert_deliveries set status = ?, attempts = ?, next_at = ?, last_result = ? where id = ?",
    ),
    sent: db.query<{ created_at: number }, [number]>("select created_at from alert_messages where created_at > ?"),
    groups: db.query<{ key: string; sent_at: number }, []>("select * from alert_groups"),
    putGroup: db.query<unknown, [string, number]>("insert or replace into alert_groups values (?, ?)"),
    trim: db.query<unknown, [number]>(
      "delete from alert_messages where rowid <= (select rowid from alert_messages order by rowid desc limit 1 offset ?)" +
        " and not exists (select 1 from alert_deliveries where message = alert_messages.id and status = 'waiting')",
    ),
    trimGroups: db.query<unknown, [number]>("delete from alert_groups where sent_at < ?"),
  };
}

function toRecord(row: Row): DeliveryRecord {
  return {
    id: row.id,
    message: row.message,
    channel: row.channel,
    title: row.title,
    alerts: JSON.parse(row.alerts) as string[],
    ends: JSON.parse(row.ends) as string[],
    groups: JSON.parse(row.groups) as string[],
    status: row.status,
    attempts: row.attempts,
    nextAt: row.next_at,
    createdAt: row.created_at,
    lastResult: row.last_result ?? undefined,
  };
}
