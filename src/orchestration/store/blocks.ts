import type { Database } from "bun:sqlite";
import { keyOf, keyText } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import { isOwn, type Maker } from "../core/plugins/maker.ts";
import { orderedJson } from "../../base/pure/canonical.ts";
import { createKeptTable } from "./kept-table.ts";
import type { BlockRecord } from "./plugin-records.ts";
import { columnsOf, filteredSelect, type KeyColumns, whereKey } from "./rows.ts";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { Transaction } from "./store.ts";
import type { Versions } from "./versions.ts";

interface Row extends Maker {
  kind: string;
  scope: string;
  name: string;
  version: string;
  spec: Uint8Array;
  lesser: number;
  warnings: string;
  revision: number;
  created_at: number;
  updated_at: number;
}

interface ChildRow extends ManifestKey {
  block_kind: string;
  block_scope: string;
  block_name: string;
}

interface BlocksNoun {
  blocks: Transaction["blocks"];
  /** Forgets whose child one resource is (its manifest was deleted), or all (writes were undone). */
  forget(child?: ManifestKey): void;
}

/** The plugin blocks that were applied, and which manifests each was expanded into: every apply and every look asks that. */
export function createBlocks(db: Database, seal: Seal, versions: Versions): BlocksNoun {
  const sql = prepare(db);
  const owners = createKeptTable(() => sql.owners.all().map((row) => [row, ownerIn(row)]));
  const open = (row: Row) => toBlock(row, JSON.parse(seal.open(row.spec, blockPlace(row))));
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
  const expandedOf = (block: ManifestKey) => sql.expanded.all(...columnsOf(block)).map(keyOf);
  const leave = (children: readonly ManifestKey[]) => {
    for (const child of children) {
      owners.set(child, undefined);
      sql.forget.run(...columnsOf(child));
    }
  };
  const blocks: Transaction["blocks"] = {
    get,
    list: (filter = {}) => select({ ...filter }).map(open),
    keys: () => sql.keys.all().map((row) => ({ ...keyOf(row), ...makerIn(row) })),
    children: childrenOf,
    expanded: expandedOf,
    ownerOf: owners.get,
    put(block, now) {
      const { kind, scope, name, plugin, origin, source, version, spec } = block;
      const text = orderedJson(spec);
      const known = get(block);
      const isSame = known !== undefined && orderedJson(known.spec) === text;
      // The same spec from a caller with more rights counts as theirs.
      const lesser = block.lesser === true && (!isSame || known.lesser === true);
      const isTheirs = isSame && lesser === (known.lesser === true);
      const { warnings = [] } = block;
      const isToldSame = String(warnings) === String(known?.warnings ?? []);
      if (isTheirs && isToldSame && isOwn(known, block) && known.version === version)
        return { block: known, previous: known };
      const revision = isSame ? known.revision : versions.next();
      const createdAt = known?.createdAt ?? now;
      const updatedAt = isSame ? known.updatedAt : now;
      const sealed = seal.seal(text, blockPlace(block));
      sql.upsert.run(
        kind,
        scope,
        name,
        plugin,
        origin,
        source,
        version,
        sealed,
        Number(lesser),
        JSON.stringify(warnings),
        revision,
        createdAt,
        updatedAt,
      );
      const more = { ...(warnings.length > 0 ? { warnings } : {}), ...(lesser ? { lesser } : {}) };
      const written = { ...keyOf(block), ...makerIn(block), version, spec, ...more };
      return { block: { ...written, revision, createdAt, updatedAt }, previous: known };
    },
    setMaker(block, { plugin, origin, source }) {
      sql.setMaker.run(plugin, origin, source, ...columnsOf(block));
    },
    setChildren(block, children) {
      const before = expandedOf(block);
      if (sameKeys(before, children)) return;
      leave(before);
      for (const child of children) {
        sql.adopt.run(...columnsOf(child), ...columnsOf(block), 0);
        owners.set(child, keyOf(block));
      }
    },
    adopt(block, child) {
      if (owners.get(child) !== undefined) return;
      sql.adopt.run(...columnsOf(child), ...columnsOf(block), 1);
      owners.set(child, keyOf(block));
    },
    release: (child) => leave([child]),
    delete(block) {
      leave(childrenOf(block));
      if (sql.delete.run(...columnsOf(block)).changes === 0) return false;
      versions.keep();
      return true;
    },
  };
  return { blocks, forget: owners.forget };
}

function ownerIn({ block_kind: kind, block_scope: scope, block_name: name }: ChildRow): ManifestKey {
  return { kind, scope, name };
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
      "insert into blocks (kind, scope, name, plugin, origin, source, version, spec, lesser, warnings, revision, created_at, updated_at)" +
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (kind, scope, name) do update set plugin = excluded.plugin, origin = excluded.origin, source = excluded.source," +
        " version = excluded.version, spec = excluded.spec, lesser = excluded.lesser, warnings = excluded.warnings, revision = excluded.revision, updated_at = excluded.updated_at",
    ),
    keys: db.query<ManifestKey & Maker, []>(
      "select kind, scope, name, plugin, origin, source from blocks order by kind, scope, name",
    ),
    setMaker: db.query<unknown, [string, string, string, ...KeyColumns]>(
      `update blocks set plugin = ?, origin = ?, source = ? where ${whereKey}`,
    ),
    delete: db.query<unknown, KeyColumns>(`delete from blocks where ${whereKey}`),
    children: db.query<ManifestKey, KeyColumns>(
      `select kind, scope, name from block_children where ${whereBlock} order by kind, scope, name`,
    ),
    owners: db.query<ChildRow, []>("select * from block_children"),
    expanded: db.query<ManifestKey, KeyColumns>(
      `select kind, scope, name from block_children where ${whereBlock} and by_action = 0 order by kind, scope, name`,
    ),
    forget: db.query<unknown, KeyColumns>(`delete from block_children where ${whereKey}`),
    adopt: db.query<unknown, [...KeyColumns, ...KeyColumns, number]>(
      "insert into block_children (kind, scope, name, block_kind, block_scope, block_name, by_action)" +
        " values (?, ?, ?, ?, ?, ?, ?) on conflict (kind, scope, name) do update set block_kind = excluded.block_kind," +
        " block_scope = excluded.block_scope, block_name = excluded.block_name, by_action = excluded.by_action",
    ),
  };
}

function makerIn({ plugin, origin, source }: Maker): Maker {
  return { plugin, origin, source };
}

/** What the sealed spec of a block is bound to. */
export function blockPlace(key: ManifestKey): string {
  return ["blocks", ...columnsOf(key), "spec"].join("\0");
}

function toBlock(row: Row, spec: BlockRecord["spec"]): BlockRecord {
  const { version, revision } = row;
  const rights = row.lesser === 1 ? { lesser: true } : {};
  const warnings: string[] = JSON.parse(row.warnings);
  return {
    ...keyOf(row),
    ...makerIn(row),
    version,
    spec,
    ...rights,
    ...(warnings.length > 0 ? { warnings } : {}),
    revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
