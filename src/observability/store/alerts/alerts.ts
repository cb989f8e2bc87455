import type { Database } from "bun:sqlite";
import type { AlertWhy, Severity } from "../../api/alerts.ts";
import type { AlertRecord } from "./records.ts";

interface Row {
  seq: number;
  id: string;
  fingerprint: string;
  rule: string;
  severity: Severity;
  labels: string;
  state: AlertRecord["state"];
  title: string;
  detail: string;
  value: number | null;
  since: number;
  fired_at: number | null;
  well_since: number | null;
  resolved_at: number | null;
  group_key: string;
  first_sent_at: number | null;
  sent_at: number | null;
  end_sent: number;
  ack_by: string | null;
  ack_at: number | null;
  ack_note: string | null;
  why: string | null;
}

export interface AlertFilter {
  scope?: string | undefined;
  name?: string | undefined;
  rule?: string | undefined;
  /** Older than this one. */
  before?: string | undefined;
  /** Fired or ended since then; epoch milliseconds. */
  since?: number | undefined;
  limit: number;
}

export interface Alerts {
  get(id: string): AlertRecord | undefined;
  /** Pending and firing ones. */
  open(): AlertRecord[];
  /** Those whose end no message has reported yet, although one reported that they fired. */
  ended(): AlertRecord[];
  /** Those that fired, newest first. */
  history(filter: AlertFilter): AlertRecord[];
  /** How often an alert fired since a time. */
  fires(fingerprint: string, since: number): number;
  add(alert: Omit<AlertRecord, "seq">): void;
  /** Everything but identity. */
  update(alert: Omit<AlertRecord, "seq">): void;
  remove(id: string): void;
  /** Drops the oldest resolved ones beyond `kept`. */
  trim(kept: number): void;
}

const columns =
  "id, fingerprint, rule, severity, labels, scope, name, state, title, detail, value, since, fired_at, well_since," +
  " resolved_at, group_key, first_sent_at, sent_at, end_sent, ack_by, ack_at, ack_note, why";

export function createAlerts(db: Database): Alerts {
  const sql = prepare(db);
  return {
    get(id) {
      const row = sql.byId.get(id);
      return row === null ? undefined : toRecord(row);
    },
    open: () => sql.open.all().map(toRecord),
    ended: () => sql.ended.all().map(toRecord),
    history({ scope, name, rule, before, since = 0, limit }) {
      const last = before === undefined ? null : (sql.byId.get(before)?.seq ?? 0);
      const text = (value: string | undefined) => value ?? null;
      return sql.history.all(text(scope), text(name), text(rule), last, since, limit).map(toRecord);
    },
    fires: (fingerprint, since) => sql.fires.get(fingerprint, since)?.count ?? 0,
    add(alert) {
      sql.insert.run(alert.id, alert.fingerprint, alert.rule, ...valuesOf(alert));
    },
    update(alert) {
      sql.update.run(...valuesOf(alert), alert.id);
    },
    remove(id) {
      sql.remove.run(id);
    },
    trim(kept) {
      sql.trim.run(kept);
    },
  };
}

function prepare(db: Database) {
  const changed = columns.split(", ").slice(3);
  return {
    byId: db.query<Row, [string]>("select * from alerts where id = ?"),
    open: db.query<Row, []>("select * from alerts where state <> 'resolved' order by seq"),
    ended: db.query<Row, []>(
      "select * from alerts where state = 'resolved' and end_sent = 0 and sent_at is not null order by seq",
    ),
    history: db.query<Row, [string | null, string | null, string | null, number | null, number, number]>(
      "select * from alerts where state <> 'pending' and scope is coalesce(?1, scope) and name is coalesce(?2, name)" +
        " and rule = coalesce(?3, rule) and (?4 is null or seq < ?4) and coalesce(resolved_at, 9e18) >= ?5" +
        " order by seq desc limit ?6",
    ),
    fires: db.query<{ count: number }, [string, number]>(
      "select count(*) as count from alerts where fingerprint = ? and fired_at >= ?",
    ),
    insert: db.query<unknown, Value[]>(
      `insert into alerts (${columns}) values (${columns.replaceAll(/[a-z_]+/g, "?")})`,
    ),
    update: db.query<unknown, Value[]>(
      `update alerts set ${changed.map((name) => `${name} = ?`).join(", ")} where id = ?`,
    ),
    remove: db.query<unknown, [string]>("delete from alerts where id = ?"),
    trim: db.query<unknown, [number]>(
      "delete from alerts where state = 'resolved' and seq <=" +
        " (select seq from alerts where state = 'resolved' order by seq desc limit 1 offset ?)",
    ),
  };
}

type Value = string | number | null;

/** In the order of `columns`, after the identity. */
function valuesOf(alert: Omit<AlertRecord, "seq">): Value[] {
  const { labels, acknowledged: ack, why } = alert;
  return [
    alert.severity,
    JSON.stringify(labels),
    labels.scope ?? null,
    labels.name ?? null,
    alert.state,
    alert.title,
    alert.detail,
    alert.value ?? null,
    alert.since,
    alert.firedAt ?? null,
    alert.wellSince ?? null,
    alert.resolvedAt ?? null,
    alert.group,
    alert.firstSentAt ?? null,
    alert.sentAt ?? null,
    alert.endSent ? 1 : 0,
    ack?.by ?? null,
    ack?.at ?? null,
    ack?.note ?? null,
    why === undefined ? null : JSON.stringify(why),
  ];
}

function toRecord(row: Row): AlertRecord {
  const { ack_by: by, ack_at: at, ack_note: note } = row;
  return {
    seq: row.seq,
    id: row.id,
    fingerprint: row.fingerprint,
    rule: row.rule,
    severity: row.severity,
    labels: JSON.parse(row.labels) as Record<string, string>,
    state: row.state,
    title: row.title,
    detail: row.detail,
    value: row.value ?? undefined,
    since: row.since,
    firedAt: row.fired_at ?? undefined,
    wellSince: row.well_since ?? undefined,
    resolvedAt: row.resolved_at ?? undefined,
    group: row.group_key,
    firstSentAt: row.first_sent_at ?? undefined,
    sentAt: row.sent_at ?? undefined,
    endSent: row.end_sent === 1,
    acknowledged: by === null || at === null ? undefined : { by, at, note: note ?? undefined },
    why: row.why === null ? undefined : (JSON.parse(row.why) as AlertWhy),
  };
}
