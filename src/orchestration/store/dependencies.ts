import type { Database } from "bun:sqlite";
import { createCache } from "./cache.ts";
import type { ManifestKey } from "../api/manifest.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

type Noun = Pick<Transaction["manifests"], "setDependencies" | "dependants">;

/** Targets whose readers are kept in memory: every apply asks who reads what it writes. */
const targetsCached = 2_000;

interface DependenciesNoun {
  dependencies: Noun;
  /** Forgets what was read: a manifest was deleted, or writes were undone. */
  forget(): void;
}

/** What each manifest reads beside itself: assets, config buckets, registries. */
export function createDependencies(db: Database): DependenciesNoun {
  const drop = db.query<unknown, KeyColumns>(`delete from dependencies where ${whereKey}`);
  const insert = db.query<unknown, [string, ...KeyColumns]>(
    "insert or ignore into dependencies (target, kind, scope, name) values (?, ?, ?, ?)",
  );
  const byTarget = db.query<ManifestKey, [string]>(
    "select kind, scope, name from dependencies where target = ? order by kind, scope, name",
  );
  const readers = createCache<readonly ManifestKey[]>(targetsCached);
  return {
    dependencies: {
      setDependencies(key, targets) {
        const { changes } = drop.run(...columnsOf(key));
        for (const target of targets) insert.run(target, ...columnsOf(key));
        if (changes > 0 || targets.length > 0) readers.clear();
      },
      dependants: (target) => [...readers.get(target, () => byTarget.all(target))],
    },
    forget: readers.clear,
  };
}
