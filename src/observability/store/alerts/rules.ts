import type { Database } from "bun:sqlite";
import type { RuleBody } from "../../api/alert-rules.ts";
import type { Matcher } from "../../api/alert-silences.ts";
import type { SilenceRecord, StoredRule } from "./records.ts";

export interface AlertRules {
  list(): StoredRule[];
  put(rule: StoredRule): void;
  /** False when it was not there. */
  remove(name: string): boolean;
}

export function createAlertRules(db: Database): AlertRules {
  interface Row {
    name: string;
    body: string;
    updated_at: number;
    updated_by: string;
  }
  const list = db.query<Row, []>("select * from alert_rules order by name");
  const upsert = db.query<unknown, [string, string, number, string]>(
    "insert or replace into alert_rules values (?, ?, ?, ?)",
  );
  const drop = db.query<unknown, [string]>("delete from alert_rules where name = ?");
  return {
    list: () =>
      list.all().map(({ name, body, updated_at: updatedAt, updated_by: updatedBy }) => {
        return { name, body: JSON.parse(body) as RuleBody, updatedAt, updatedBy };
      }),
    put({ name, body, updatedAt, updatedBy }) {
      upsert.run(name, JSON.stringify(body), updatedAt, updatedBy);
    },
    remove: (name) => drop.run(name).changes > 0,
  };
}

export interface Silences {
  /** Those that hold at a time, and those that will end last first. */
  list(now: number): SilenceRecord[];
  add(silence: SilenceRecord): void;
  remove(id: string): SilenceRecord | undefined;
  /** Drops what ended before a time. */
  purge(before: number): void;
}

export function createSilences(db: Database): Silences {
  interface Row {
    id: string;
    matcher: string;
    by: string;
    reason: string | null;
    created_at: number;
    until: number;
  }
  const list = db.query<Row, [number]>("select * from alert_silences where until > ? order by until desc");
  const insert = db.query<unknown, (string | number | null)[]>("insert into alert_silences values (?, ?, ?, ?, ?, ?)");
  const drop = db.query<Row, [string]>("delete from alert_silences where id = ? returning *");
  const purge = db.query<unknown, [number]>("delete from alert_silences where until < ?");
  const toRecord = ({ id, matcher, by, reason, created_at: createdAt, until }: Row): SilenceRecord => {
    return { id, matcher: JSON.parse(matcher) as Matcher, by, reason: reason ?? undefined, createdAt, until };
  };
  return {
    list: (now) => list.all(now).map(toRecord),
    add({ id, matcher, by, reason, createdAt, until }) {
      insert.run(id, JSON.stringify(matcher), by, reason ?? null, createdAt, until);
    },
    remove(id) {
      const row = drop.get(id);
      return row === null ? undefined : toRecord(row);
    },
    purge(before) {
      purge.run(before);
    },
  };
}
