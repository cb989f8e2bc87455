import type { Database } from "bun:sqlite";
import type { OutageRecord } from "./records.ts";

type App = Pick<OutageRecord, "scope" | "name">;

/** Spans in which an app was down, and how available it is meant to be. */
export interface Outages {
  open(): OutageRecord[];
  /** Those that reach into a span, oldest first. */
  between(app: Partial<App>, from: number, to: number): OutageRecord[];
  add(outage: Omit<OutageRecord, "seq">): void;
  /** Where it ends, when it was last seen, its cause and its requests. */
  update(outage: OutageRecord): void;
  /** Percent; undefined where none is set. */
  target(app: App): number | undefined;
  targets(): (App & { percent: number })[];
  putTarget(app: App, percent: number | undefined): void;
  /** Drops what ended before a time. */
  purge(before: number): void;
}

interface Row {
  seq: number;
  kind: string;
  scope: string;
  name: string;
  from_at: number;
  to_at: number | null;
  seen_at: number;
  cause: string;
  cause_ref: string | null;
  cause_text: string;
  failed_requests: number;
}

type Value = string | number | null;

export function createOutages(db: Database): Outages {
  const open = db.query<Row, []>("select * from outages where to_at is null order by seq");
  const between = db.query<Row, Value[]>(
    "select * from outages where scope = coalesce(?, scope) and name = coalesce(?, name) and from_at < ?" +
      " and coalesce(to_at, seen_at) >= ? order by from_at, seq",
  );
  const insert = db.query<unknown, Value[]>(
    "insert into outages (kind, scope, name, from_at, to_at, seen_at, cause, cause_ref, cause_text, failed_requests)" +
      " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const update = db.query<unknown, Value[]>(
    "update outages set to_at = ?, seen_at = ?, cause = ?, cause_ref = ?, cause_text = ?, failed_requests = ? where seq = ?",
  );
  const target = db.query<{ percent: number }, [string, string]>(
    "select percent from availability_targets where scope = ? and name = ?",
  );
  const targets = db.query<{ scope: string; name: string; percent: number }, []>("select * from availability_targets");
  const putTarget = db.query<unknown, [string, string, number]>(
    "insert or replace into availability_targets values (?, ?, ?)",
  );
  const dropTarget = db.query<unknown, [string, string]>(
    "delete from availability_targets where scope = ? and name = ?",
  );
  const purge = db.query<unknown, [number]>("delete from outages where to_at < ?");
  return {
    open: () => open.all().map(toRecord),
    between: ({ scope, name }, from, to) => between.all(scope ?? null, name ?? null, to, from).map(toRecord),
    add({ kind, scope, name, from, to, seenAt, cause, causeRef, causeText, failedRequests }) {
      insert.run(kind, scope, name, from, to ?? null, seenAt, cause, causeRef ?? null, causeText, failedRequests);
    },
    update({ seq, to, seenAt, cause, causeRef, causeText, failedRequests }) {
      update.run(to ?? null, seenAt, cause, causeRef ?? null, causeText, failedRequests, seq);
    },
    target: ({ scope, name }) => target.get(scope, name)?.percent,
    targets: () => targets.all(),
    putTarget({ scope, name }, percent) {
      if (percent === undefined) dropTarget.run(scope, name);
      else putTarget.run(scope, name, percent);
    },
    purge(before) {
      purge.run(before);
    },
  };
}

function toRecord(row: Row): OutageRecord {
  return {
    seq: row.seq,
    kind: row.kind,
    scope: row.scope,
    name: row.name,
    from: row.from_at,
    to: row.to_at ?? undefined,
    seenAt: row.seen_at,
    cause: row.cause,
    causeRef: row.cause_ref ?? undefined,
    causeText: row.cause_text,
    failedRequests: row.failed_requests,
  };
}
