import type { Database } from "bun:sqlite";
import type { Seal } from "../../../base/sqlite/seal.ts";
import type { ChannelTarget } from "../../api/alert-channels.ts";
import type { Severity } from "../../api/alerts.ts";
import type { ChannelRecord, HeartbeatRecord } from "./records.ts";

export interface Channels {
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

export function createChannels(db: Database, seal: Seal): Channels {
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
export interface AlertSettings {
  heartbeat(): HeartbeatRecord | undefined;
  putHeartbeat(heartbeat: HeartbeatRecord | undefined): void;
}

const heartbeatPlace = "alert_settings\0heartbeat";

export function createAlertSettings(db: Database, seal: Seal): AlertSettings {
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
