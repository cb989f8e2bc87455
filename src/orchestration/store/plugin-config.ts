import type { Database } from "bun:sqlite";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { Maker } from "../core/plugins/maker.ts";
import type { PluginConfigReads, PluginConfigWrites } from "./plugin-config-records.ts";

const whereMaker = "plugin = ? and origin = ? and source = ?";

/** What operators set for plugins; every value is sealed on its own and bound to its plugin, origin and key. */
export function createPluginConfig(db: Database, seal: Seal): PluginConfigReads & PluginConfigWrites {
  const all = db.query<{ key: string; value: Uint8Array }, [string, string, string]>(
    `select key, value from plugin_config where ${whereMaker} order by key`,
  );
  const upsert = db.query<unknown, [string, string, string, string, Uint8Array, number]>(
    "insert or replace into plugin_config (plugin, origin, source, key, value, updated_at) values (?, ?, ?, ?, ?, ?)",
  );
  const drop = db.query<unknown, [string, string, string, string]>(
    `delete from plugin_config where ${whereMaker} and key = ?`,
  );
  const dropAll = db.query<unknown, [string]>("delete from plugin_config where plugin = ? and origin <> 'bundled'");
  return {
    of(maker) {
      const rows = all.all(...columnsOf(maker));
      return Object.fromEntries(rows.map(({ key, value }) => [key, seal.open(value, placeOf(maker, key))]));
    },
    set(maker, key, value, now) {
      upsert.run(...columnsOf(maker), key, seal.seal(value, placeOf(maker, key)), now);
    },
    unset(maker, key) {
      drop.run(...columnsOf(maker), key);
    },
    forget(name) {
      dropAll.run(name);
    },
  };
}

function columnsOf({ plugin, origin, source }: Maker): [string, string, string] {
  return [plugin, origin, source];
}

function placeOf(maker: Maker, key: string): string {
  return ["plugin_config", ...columnsOf(maker), key].join("\0");
}
