import type { Database } from "bun:sqlite";
import type { Seal } from "../../../base/sqlite/seal.ts";
import { type Alerts, createAlerts } from "./alerts.ts";
import { type AlertDeliveries, createAlertDeliveries } from "./deliveries.ts";
import { createOutages, type Outages } from "./outages.ts";
import type { RuleBody } from "../../api/alert-rules.ts";
import type { Matcher } from "../../api/alert-silences.ts";
import type { ChannelRecord, HeartbeatRecord, SilenceRecord, StoredRule } from "./records.ts";
import type { ChannelTarget } from "../../api/alert-channels.ts";
import type { Severity } from "../../api/alerts.ts";

interface Channels {
  get(name: string): ChannelRecord | undefined;
  list(): ChannelRecord[];
  /** Makes it or replaces it; when it was made stays. */
  put(channel: ChannelRecord): void;
  /** With its deliveries. */
  remove(name: string): void;
}

interface Row {
  name: string;
  target: Uint8Array;
  min_severity: Severity;
  apps: string;
  lines: number;
  created_at: number;
}

function createChannels(db: Database, seal: Seal): Channels {
  const byName = db.query<Row, [string]>("select * from alert_channels where name = ?");
  const list = db.query<Row, []>("select * from alert_channels order by name");
  const upsert = db.query<unknown, (string | number | Uint8Array)[]>(
    "insert into alert_channels values (?, ?, ?, ?, ?, ?) on conflict (name) do update set target = excluded.target," +
      " min_severity = excluded.min_severity, apps = excluded.apps, lines = excluded.lines",
  );
  const drop = db.query<unknown, [string]>("delete from alert_channels where name = ?");
  const toRecord = ({ name, target, min_severity: minSeverity, apps, lines, created_at: createdAt }: Row) => ({
    name,
    target: JSON.parse(seal.open(target, placeOf(name))) as ChannelTarget,
    minSeverity,
    apps: JSON.parse(apps) as string[],
    lines: lines === 1,
    createdAt,
  });
  return {
    get(name) {
      const row = byName.get(name);
      return row === null ? undefined : toRecord(row);
    },
    list: () => list.all().map(toRecord),
    put({ name, target, minSeverity, apps, lines, createdAt }) {
      const sealed = seal.seal(JSON.stringify(target), placeOf(name));
      upsert.run(name, sealed, minSeverity, JSON.stringify(apps), lines ? 1 : 0, createdAt);
    },
    remove(name) {
      drop.run(name);
    },
  };
}

function placeOf(name: string): string {
  return ["alert_channels", name, "target"].join("\0");
}

/** Settings of the room that are secret. */
interface AlertSettings {
  heartbeat(): HeartbeatRecord | undefined;
  putHeartbeat(heartbeat: HeartbeatRecord | undefined): void;
}

const heartbeatPlace = "alert_settings\0heartbeat";

function createAlertSettings(db: Database, seal: Seal): AlertSettings {
  const get = db.query<{ value: Uint8Array }, []>("select value from alert_settings where key = 'heartbeat'");
  const put = db.query<unknown, [Uint8Array]>("insert or replace into alert_settings values ('heartbeat', ?)");
  const drop = db.query<unknown, []>("delete from alert_settings where key = 'heartbeat'");
  return {
    heartbeat() {
      const row = get.get();
      return row === null ? undefined : (JSON.parse(seal.open(row.value, heartbeatPlace)) as HeartbeatRecord);
    },
    putHeartbeat(heartbeat) {
      if (heartbeat === undefined) drop.run();
      else put.run(seal.seal(JSON.stringify(heartbeat), heartbeatPlace));
    },
  };
}

/** The nouns of alerts and incidents. Call what writes only inside a write of the store. */
export interface AlertNouns {
  alerts: Alerts;
  rules: AlertRules;
  silences: Silences;
  channels: Channels;
  settings: AlertSettings;
  deliveries: AlertDeliveries;
  heard: Heard;
  outages: Outages;
}

export function createAlertNouns(db: Database, seal: Seal): AlertNouns {
  return {
    alerts: createAlerts(db),
    rules: createAlertRules(db),
    silences: createSilences(db),
    channels: createChannels(db, seal),
    settings: createAlertSettings(db, seal),
    deliveries: createAlertDeliveries(db),
    heard: createHeard(db),
    outages: createOutages(db),
  };
}

/** Alerts that a channel heard of, or may have, and whose end it has not got yet. */
interface Heard {
  has(channel: string, alert: string): boolean;
  /** The group that an alert was in when the channel heard of it: a rule can group its alerts otherwise meanwhile. */
  group(channel: string, alert: string): string | undefined;
  /** The alerts of a group that a channel takes to fire. */
  ofGroup(channel: string, group: string): string[];
  add(channel: string, alert: string): void;
  remove(channel: string, alert: string): void;
  /** Drops those whose alert is not on record any more. */
  trim(): void;
}

function createHeard(db: Database): Heard {
  const group = db.query<{ group_key: string }, [string, string]>(
    "select group_key from alert_heard where channel = ? and alert = ?",
  );
  const ofGroup = db.query<{ alert: string }, [string, string]>(
    "select alert from alert_heard where channel = ? and group_key = ?",
  );
  // From the tables, because either may be gone by now.
  const add = db.query<unknown, [string, string]>(
    "insert or ignore into alert_heard select c.name, a.id, a.group_key from alert_channels as c, alerts as a" +
      " where c.name = ? and a.id = ?",
  );
  const remove = db.query<unknown, [string, string]>("delete from alert_heard where channel = ? and alert = ?");
  const trim = db.query<unknown, []>("delete from alert_heard where alert not in (select id from alerts)");
  return {
    has: (channel, alert) => group.get(channel, alert) !== null,
    group: (channel, alert) => group.get(channel, alert)?.group_key,
    ofGroup: (channel, group) => ofGroup.all(channel, group).map(({ alert }) => alert),
    add(channel, alert) {
      add.run(channel, alert);
    },
    remove(channel, alert) {
      remove.run(channel, alert);
    },
    trim() {
      trim.run();
    },
  };
}

interface AlertRules {
  list(): StoredRule[];
  put(rule: StoredRule): void;
  /** False when it was not there. */
  remove(name: string): boolean;
}

function createAlertRules(db: Database): AlertRules {
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

interface Silences {
  /** Those that hold at a time, and those that will end last first. */
  list(now: number): SilenceRecord[];
  add(silence: SilenceRecord): void;
  remove(id: string): SilenceRecord | undefined;
  /** Drops what ended before a time. */
  purge(before: number): void;
}

function createSilences(db: Database): Silences {
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
