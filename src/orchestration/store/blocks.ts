import type { Database } from "bun:sqlite";
import { keyOf, keyText } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import { canonicalJson } from "../../base/pure/canonical.ts";
import type { BlockRecord } from "./plugin-records.ts";
import { columnsOf, filteredSelect, type KeyColumns, whereKey } from "./rows.ts";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { Transaction } from "./store.ts";
import type { Versions } from "./versions.ts";

interface Row {
  kind: string;
  scope: string;
  name: string;
  plugin: string;
  version: string;
  spec: Uint8Array;
  revision: number;
  created_at: number;
  updated_at: number;
}

/** The plugin blocks that were applied, and which manifests each was expanded into. */
export function createBlocks(db: Database, seal: Seal, versions: Versions): Transaction["blocks"] {
  const sql = prepare(db);
  const open = (row: Row) => toBlock(row, JSON.parse(seal.open(row.spec, placeOf(row))));
  const select = filteredSelect<Row>(
    db,
    { kind: "kind = ?", scope: "scope = ?", name: "name = ?" },
    (clauses) => `select * from blocks where true${clauses} order by kind, scope, name`,
  );
  const get = (key: ManifestKey) => {
    const row = sql.byKey.get(...columnsOf(key));
    return row ? open(row) : undefined;
  };
  const childrenOf = (block: ManifestKey) => sql.children.all(...columnsOf(block)).map(keyOf);
  return {
    get,
    list: (filter = {}) => select({ ...filter }).map(open),
    keys: () => sql.keys.all().map((row) => ({ ...keyOf(row), plugin: row.plugin })),
    children: childrenOf,
    ownerOf(child) {
      const row = sql.owner.get(...columnsOf(child));
      return row ? { kind: row.block_kind, scope: row.block_scope, name: row.block_name } : undefined;
    },
    put(block, now) {
      const { kind, scope, name, plugin, version, spec } = block;
      const text = canonicalJson(spec);
      const known = get(block);
      const isSame = known !== undefined && canonicalJson(known.spec) === text;
      if (isSame && known.plugin === plugin && known.version === version) return { block: known, previous: known };
      const revision = isSame ? known.revision : versions.next();
      const createdAt = known?.createdAt ?? now;
      const updatedAt = isSame ? known.updatedAt : now;
      const sealed = seal.seal(text, placeOf(block));
      sql.upsert.run(kind, scope, name, plugin, version, sealed, revision, createdAt, updatedAt);
      return { block: { ...block, revision, createdAt, updatedAt }, previous: known };
    },
    setChildren(block, children) {
      if (sameKeys(childrenOf(block), children)) return;
      sql.forget.run(...columnsOf(block));
      for (const child of children) sql.adopt.run(...columnsOf(child), ...columnsOf(block));
    },
    delete(block) {
      sql.forget.run(...columnsOf(block));
      if (sql.delete.run(...columnsOf(block)).changes === 0) return false;
      versions.keep();
      return true;
    },
  };
}

function sameKeys(some: readonly ManifestKey[], others: readonly ManifestKey[]): boolean {
  const ids = new Set(some.map(keyText));
  return ids.size === others.length && others.every((key) => ids.has(keyText(key)));
}

function prepare(db: Database) {
  const whereBlock = "block_kind = ? and block_scope = ? and block_name = ?";
  return {
    byKey: db.query<Row, KeyColumns>(`select * from blocks where ${whereKey}`),
    upsert: db.query<unknown, (string | number | Uint8Array)[]>(
      "insert into blocks (kind, scope, name, plugin, version, spec, revision, created_at, updated_at)" +
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (kind, scope, name) do update set plugin = excluded.plugin," +
        " version = excluded.version, spec = excluded.spec, revision = excluded.revision, updated_at = excluded.updated_at",
    ),
    keys: db.query<Pick<Row, "kind" | "scope" | "name" | "plugin">, []>(
      "select kind, scope, name, plugin from blocks order by kind, scope, name",
    ),
    delete: db.query<unknown, KeyColumns>(`delete from blocks where ${whereKey}`),
    children: db.query<ManifestKey, KeyColumns>(
      `select kind, scope, name from block_children where ${whereBlock} order by kind, scope, name`,
    ),
    owner: db.query<{ block_kind: string; block_scope: string; block_name: string }, KeyColumns>(
      `select block_kind, block_scope, block_name from block_children where ${whereKey}`,
    ),
    forget: db.query<unknown, KeyColumns>(`delete from block_children where ${whereBlock}`),
    adopt: db.query<unknown, [...KeyColumns, ...KeyColumns]>(
      "insert into block_children (kind, scope, name, block_kind, block_scope, block_name) values (?, ?, ?, ?, ?, ?)" +
        " on conflict (kind, scope, name) do update set block_kind = excluded.block_kind," +
        " block_scope = excluded.block_scope, block_name = excluded.block_name",
    ),
  };
}

function placeOf(key: ManifestKey): string {
  return ["blocks", ...columnsOf(key), "spec"].join("\0");
}

function toBlock(row: Row, spec: BlockRecord["spec"]): BlockRecord {
  const { plugin, version, revision } = row;
  return { ...keyOf(row), plugin, version, spec, revision, createdAt: row.created_at, updatedAt: row.updated_at };
}
