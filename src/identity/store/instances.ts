import type { Database } from "bun:sqlite";
import type { InstanceSettings } from "../api/settings.ts";
import type { Instance } from "./records.ts";

interface Row {
  seq: number;
  id: string;
  app_id: string;
  name: string;
  environment: string;
  host: string | null;
  publishable_key: string;
  settings: string;
  created_at: number;
  updated_at: number;
}

export interface Instances {
  get(id: string): Instance | undefined;
  bySeq(seq: number): Instance | undefined;
  byHost(host: string): Instance | undefined;
  byPublishableKey(key: string): Instance | undefined;
  byName(appId: string, name: string): Instance | undefined;
  list(appId?: string): Instance[];
  isEmpty(): boolean;
  /** Inserts; returns the row with its number. */
  add(instance: Omit<Instance, "seq">): Instance;
  /** Name, host, publishable key and settings. */
  update(instance: Instance): void;
  /** With everything in it. False when it was not there. */
  remove(seq: number): boolean;
}

/** `changed` is called after every write. */
export function createInstances(db: Database, changed: () => void): Instances {
  const by = (column: string) => db.query<Row, [string | number]>(`select * from instances where ${column} = ?`);
  const [byId, bySeq, byHost, byKey] = [by("id"), by("seq"), by("host"), by("publishable_key")];
  const byName = db.query<Row, [string, string]>("select * from instances where app_id = ? and name = ?");
  const all = db.query<Row, []>("select * from instances order by seq");
  const ofApp = db.query<Row, [string]>("select * from instances where app_id = ? order by seq");
  const first = db.query<{ seq: number }, []>("select seq from instances limit 1");
  const insert = db.query<Row, (string | number | null)[]>(
    "insert into instances (id, app_id, name, environment, host, publishable_key, settings, created_at, updated_at)" +
      " values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning *",
  );
  const update = db.query<unknown, (string | number | null)[]>(
    "update instances set name = ?, host = ?, publishable_key = ?, settings = ?, updated_at = ? where seq = ?",
  );
  const drop = db.query<unknown, [number]>("delete from instances where seq = ?");
  return {
    get: (id) => toInstance(byId.get(id)),
    bySeq: (seq) => toInstance(bySeq.get(seq)),
    byHost: (host) => toInstance(byHost.get(host)),
    byPublishableKey: (key) => toInstance(byKey.get(key)),
    byName: (appId, name) => toInstance(byName.get(appId, name)),
    list: (appId) => (appId === undefined ? all.all() : ofApp.all(appId)).flatMap((row) => toInstance(row) ?? []),
    isEmpty: () => first.get() === null,
    add({ id, appId, name, environment, host, publishableKey, settings, createdAt, updatedAt }) {
      const identity = [id, appId, name, environment, host ?? null, publishableKey];
      const row = insert.get(...identity, JSON.stringify(settings), createdAt, updatedAt);
      const added = toInstance(row);
      if (added === undefined) throw new Error("an insert returned no row");
      changed();
      return added;
    },
    update({ seq, name, host, publishableKey, settings, updatedAt }) {
      update.run(name, host ?? null, publishableKey, JSON.stringify(settings), updatedAt, seq);
      changed();
    },
    remove(seq) {
      changed();
      return drop.run(seq).changes > 0;
    },
  };
}

function toInstance(row: Row | null): Instance | undefined {
  if (row === null) return undefined;
  return {
    seq: row.seq,
    id: row.id,
    appId: row.app_id,
    name: row.name,
    environment: row.environment === "production" ? "production" : "development",
    host: row.host ?? undefined,
    publishableKey: row.publishable_key,
    settings: JSON.parse(row.settings) as InstanceSettings,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
