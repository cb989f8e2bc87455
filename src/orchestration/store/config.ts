import { own } from "../../base/pure/fields.ts";
import type { Database } from "bun:sqlite";
import { createCache } from "./cache.ts";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { Transaction } from "./store.ts";

/** Rows of one bucket: more than it may hold keys, since unset ones count, too. */
const behindKept = 4_000;

type Bucket = Record<string, string>;

/** Opened buckets kept in memory: every reconcile of a resource reads two. */
const bucketsCached = 2_000;

interface ConfigNoun {
  config: Transaction["config"];
  /** Forgets what was read from writes that were undone. */
  forget(): void;
}

/** Config buckets; every value is sealed on its own and bound to its bucket and key. */
export function createConfig(db: Database, seal: Seal): ConfigNoun {
  const sql = prepare(db);
  const cache = createCache<Bucket>(bucketsCached);

  const read = (scope: string, name: string): Bucket => {
    const entries = sql.bucket.all(scope, name).map(({ key, value }): [string, string] => {
      return [key, seal.open(value, placeOf(scope, name, key))];
    });
    return Object.fromEntries(entries);
  };
  const kept = (scope: string, name: string) => cache.get(`${scope}/${name}`, () => read(scope, name));

  const config: Transaction["config"] = {
    buckets: () => sql.buckets.all(),
    bucket: (scope, name) => ({ ...kept(scope, name) }),
    merged: (scope, name) => ({ ...kept(scope, ""), ...kept(scope, name) }),
    behindSince(scope, name, keys) {
      const times = keys.flatMap((key) => sql.behind.get(scope, name, key)?.at ?? []);
      return times.length === 0 ? undefined : Math.max(...times);
    },
    fellBehind(scope, name, keys, now) {
      for (const key of keys) sql.fellBehind.run(scope, name, key, now);
      sql.trimBehind.run(scope, name, scope, name, behindKept);
    },
    caughtUp(scope, name) {
      sql.caughtUp.run(scope, name);
    },
    patch(scope, name, vars, { now, empty = [] }) {
      const before = kept(scope, name);
      const wanted = (key: string) => (own(vars, key) === "" && !empty.includes(key) ? undefined : own(vars, key));
      const changed = Object.keys(vars).filter((key) => own(before, key) !== wanted(key));
      for (const key of changed) {
        const value = wanted(key);
        if (value === undefined) sql.unset.run(scope, name, key);
        else sql.set.run(scope, name, key, seal.seal(value, placeOf(scope, name, key)), now);
      }
      cache.drop(`${scope}/${name}`);
      return changed;
    },
    wipe(scope, name) {
      cache.drop(`${scope}/${name}`);
      sql.caughtUp.run(scope, name);
      return sql.wipe.run(scope, name).changes > 0;
    },
  };
  return { config, forget: cache.clear };
}

function prepare(db: Database) {
  return {
    bucket: db.query<{ key: string; value: Uint8Array }, [string, string]>(
      "select key, value from config where scope = ? and name = ? order by key",
    ),
    buckets: db.query<{ scope: string; name: string; keys: number }, []>(
      "select scope, name, count(*) as keys from config group by scope, name order by scope, name",
    ),
    set: db.query<unknown, [string, string, string, Uint8Array, number]>(
      "insert into config (scope, name, key, value, updated_at) values (?, ?, ?, ?, ?)" +
        " on conflict (scope, name, key) do update set value = excluded.value, updated_at = excluded.updated_at",
    ),
    behind: db.query<{ at: number }, [string, string, string]>(
      "select at from config_behind where scope = ? and name = ? and key = ?",
    ),
    fellBehind: db.query<unknown, [string, string, string, number]>(
      "insert or replace into config_behind (scope, name, key, at) values (?, ?, ?, ?)",
    ),
    trimBehind: db.query<unknown, [string, string, string, string, number]>(
      "delete from config_behind where scope = ? and name = ? and rowid not in" +
        " (select rowid from config_behind where scope = ? and name = ? order by rowid desc limit ?)",
    ),
    caughtUp: db.query<unknown, [string, string]>("delete from config_behind where scope = ? and name = ?"),
    unset: db.query<unknown, [string, string, string]>("delete from config where scope = ? and name = ? and key = ?"),
    wipe: db.query<unknown, [string, string]>("delete from config where scope = ? and name = ?"),
  };
}

function placeOf(scope: string, name: string, key: string): string {
  return ["config", scope, name, key].join("\0");
}
