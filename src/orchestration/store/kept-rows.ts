import type { Database, SQLQueryBindings } from "bun:sqlite";
import { keyText } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import { createCache } from "./cache.ts";
import { deepFreeze } from "../../base/pure/deep-freeze.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";

/** Rows of one table, by the resource that they belong to. */
export interface KeptRows<T> {
  /** Ordered by the first column; frozen. */
  list(key: ManifestKey): readonly T[];
  /** Replaces the rows of the resource: writes those that are new or different, removes those not given, freezes them. */
  put(key: ManifestKey, rows: readonly T[]): void;
  /** Forgets one resource (its manifest was deleted), or all (writes were undone). */
  forget(id?: string): void;
}

interface Table<T, Row> {
  table: string;
  /** Those after kind, scope and name; with `many`, the first tells rows of one resource apart. */
  columns: readonly [keyof Row & string, ...(keyof Row & string)[]];
  /** Otherwise there is one row of each resource, and exactly one is put. */
  many: boolean;
  seal(value: T): Row;
  open(row: Row): T;
}

const resourcesCached = 20_000;

/** Rows that every look at a resource asks for and few looks change: they are kept in memory as well. */
export function createKeptRows<T, Row extends Record<keyof Row, SQLQueryBindings>>(
  db: Database,
  { table, columns, many, seal, open }: Table<T, Row>,
): KeptRows<T> {
  const [first] = columns;
  const select = db.query<Row, KeyColumns>(
    `select ${columns.join(", ")} from ${table} where ${whereKey} order by ${first}`,
  );
  const upsert = db.query<unknown, SQLQueryBindings[]>(
    `insert or replace into ${table} (kind, scope, name, ${columns.join(", ")})` +
      ` values (?, ?, ?${", ?".repeat(columns.length)})`,
  );
  const drop = db.query<unknown, SQLQueryBindings[]>(`delete from ${table} where ${whereKey} and ${first} = ?`);
  const cache = createCache<readonly T[]>(resourcesCached);
  const list = (key: ManifestKey) =>
    cache.get(keyText(key), () => deepFreeze(select.all(...columnsOf(key)).map((row) => open(row))));
  return {
    list,
    put(key, rows) {
      const known = list(key);
      if (Bun.deepEquals(known, rows)) return;
      const gone = new Map(many ? known.map((value) => [seal(value)[first], value]) : []);
      for (const value of rows) {
        const row = seal(value);
        if (!Bun.deepEquals(gone.get(row[first]), value)) {
          upsert.run(...columnsOf(key), ...columns.map((column) => row[column]));
        }
        gone.delete(row[first]);
      }
      for (const id of gone.keys()) drop.run(...columnsOf(key), id);
      cache.set(keyText(key), deepFreeze([...rows]));
    },
    forget: (id) => (id === undefined ? cache.clear() : cache.drop(id)),
  };
}
