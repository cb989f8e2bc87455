import type { Database } from "bun:sqlite";
import type { ProviderKind, ProviderOptions } from "../api/providers.ts";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { Provider } from "./records.ts";

interface Row {
  instance: number;
  name: string;
  kind: string;
  enabled: number;
  client_id: string | null;
  client_secret: Uint8Array | null;
  options: string;
  created_at: number;
  updated_at: number;
}

/** Number of the instance that stands for all of them. */
export const globalInstance = 0;

export interface Providers {
  get(instance: number, name: string): Provider | undefined;
  /** Providers of one instance (`globalInstance`: of all), by name. */
  list(instance: number): Provider[];
  /** Inserts or replaces; `createdAt` stays what it was. */
  put(provider: Provider): void;
  remove(instance: number, name: string): boolean;
  /** All of one instance. */
  clear(instance: number): void;
}

/** Client secrets are sealed. */
export function createProviders(db: Database, seal: Seal): Providers {
  const one = db.query<Row, [number, string]>("select * from providers where instance = ? and name = ?");
  const all = db.query<Row, [number]>("select * from providers where instance = ? order by name");
  const upsert = db.query<unknown, (string | number | Uint8Array | null)[]>(
    "insert into providers (instance, name, kind, enabled, client_id, client_secret, options, created_at, updated_at)" +
      " values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (instance, name) do update set kind = excluded.kind," +
      " enabled = excluded.enabled, client_id = excluded.client_id, client_secret = excluded.client_secret," +
      " options = excluded.options, updated_at = excluded.updated_at",
  );
  const drop = db.query<unknown, [number, string]>("delete from providers where instance = ? and name = ?");
  const dropAll = db.query<unknown, [number]>("delete from providers where instance = ?");
  const read = (row: Row): Provider => ({
    instance: row.instance,
    name: row.name,
    kind: row.kind as ProviderKind,
    enabled: row.enabled === 1,
    clientId: row.client_id ?? undefined,
    clientSecret: row.client_secret === null ? undefined : seal.open(row.client_secret, placeOf(row)),
    options: JSON.parse(row.options) as ProviderOptions,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  });
  return {
    get(instance, name) {
      const row = one.get(instance, name);
      return row === null ? undefined : read(row);
    },
    list: (instance) => all.all(instance).map(read),
    put(provider) {
      const { instance, name, kind, enabled, clientId, clientSecret, options, createdAt, updatedAt } = provider;
      const sealed = clientSecret === undefined ? null : seal.seal(clientSecret, placeOf(provider));
      const row = [instance, name, kind, enabled ? 1 : 0, clientId ?? null, sealed, JSON.stringify(options)];
      upsert.run(...row, createdAt, updatedAt);
    },
    remove: (instance, name) => drop.run(instance, name).changes > 0,
    clear(instance) {
      dropAll.run(instance);
    },
  };
}

function placeOf({ instance, name }: { instance: number; name: string }): string {
  return ["providers", String(instance), name, "client_secret"].join("\0");
}
