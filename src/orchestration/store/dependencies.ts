import type { Database } from "bun:sqlite";
import type { ManifestKey } from "../api/manifest.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

type Noun = Pick<Transaction["manifests"], "setDependencies" | "dependants">;

/** What each manifest reads beside itself: assets, config buckets, registries. */
export function createDependencies(db: Database): Noun {
  const drop = db.query<unknown, KeyColumns>(`delete from dependencies where ${whereKey}`);
  const insert = db.query<unknown, [string, ...KeyColumns]>(
    "insert or ignore into dependencies (target, kind, scope, name) values (?, ?, ?, ?)",
  );
  const byTarget = db.query<ManifestKey, [string]>(
    "select kind, scope, name from dependencies where target = ? order by kind, scope, name",
  );
  return {
    setDependencies(key, targets) {
      drop.run(...columnsOf(key));
      for (const target of targets) insert.run(target, ...columnsOf(key));
    },
    dependants: (target) => byTarget.all(target),
  };
}
