import type { Database } from "bun:sqlite";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { Webhook } from "./records.ts";

interface Row {
  seq: number;
  id: string;
  instance: number;
  url: string;
  secret: Uint8Array;
  events: string;
  enabled: number;
  created_at: number;
}

export interface Webhooks {
  get(instance: number, id: string): Webhook | undefined;
  bySeq(seq: number): Webhook | undefined;
  /** Oldest first. */
  list(instance: number): Webhook[];
  add(hook: Omit<Webhook, "seq">): Webhook;
  /** Address, secret, events and whether it is enabled. */
  update(hook: Webhook): void;
  /** With its deliveries. False when it was not there. */
  remove(seq: number): boolean;
}

/** Webhooks of instances; the secrets that sign them are sealed. `onChanged` hears of those that may be called otherwise. */
export function createWebhooks(db: Database, seal: Seal, onChanged: () => void): Webhooks {
  const byId = db.query<Row, [number, string]>("select * from hooks where instance = ? and id = ?");
  const bySeq = db.query<Row, [number]>("select * from hooks where seq = ?");
  const list = db.query<Row, [number]>("select * from hooks where instance = ? order by seq");
  const insert = db.query<Row, (string | number | Uint8Array)[]>(
    "insert into hooks (id, instance, url, secret, events, enabled, created_at) values (?, ?, ?, ?, ?, ?, ?) returning *",
  );
  const update = db.query<unknown, (string | number | Uint8Array)[]>(
    "update hooks set url = ?, secret = ?, events = ?, enabled = ? where seq = ?",
  );
  const drop = db.query<unknown, [number]>("delete from hooks where seq = ?");
  const toHook = (row: Row): Webhook => ({
    seq: row.seq,
    id: row.id,
    instance: row.instance,
    url: row.url,
    secret: seal.open(row.secret, placeOf(row.id)),
    events: JSON.parse(row.events) as string[],
    enabled: row.enabled === 1,
    createdAt: row.created_at,
  });
  const optional = (row: Row | null) => (row === null ? undefined : toHook(row));
  return {
    get: (instance, id) => optional(byId.get(instance, id)),
    bySeq: (seq) => optional(bySeq.get(seq)),
    list: (instance) => list.all(instance).map(toHook),
    add({ id, instance, url, secret, events, enabled, createdAt }) {
      const sealed = seal.seal(secret, placeOf(id));
      const row = insert.get(id, instance, url, sealed, JSON.stringify(events), enabled ? 1 : 0, createdAt);
      if (row === null) throw new Error("an insert returned no row");
      return toHook(row);
    },
    update({ seq, id, url, secret, events, enabled }) {
      update.run(url, seal.seal(secret, placeOf(id)), JSON.stringify(events), enabled ? 1 : 0, seq);
      onChanged();
    },
    remove: (seq) => drop.run(seq).changes > 0,
  };
}

function placeOf(id: string): string {
  return ["hooks", id, "secret"].join("\0");
}
