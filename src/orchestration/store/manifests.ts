import type { Database } from "bun:sqlite";
import { Failure } from "../../base/wire/failure.ts";
import { keyOf, keyText } from "../api/manifest-key.ts";
import { type CoreKind, formatKey, type ManifestKey, type Spec, type StoredManifest } from "../api/manifest.ts";
import { type Cache, createCache } from "./cache.ts";
import { inOrder, orderedJson } from "../../base/pure/canonical.ts";
import { deepFreeze } from "../../base/pure/deep-freeze.ts";
import { columnsOf, filteredSelect, type KeyColumns, whereKey } from "./rows.ts";
import type { SpecSealer } from "./sealed-spec.ts";
import type { ManifestHead, ManifestReads, PutResult, Transaction } from "./store.ts";
import type { Versions } from "./versions.ts";

interface Row {
  id: number;
  kind: CoreKind;
  scope: string;
  name: string;
  spec: string;
  sealed: number;
  revision: number;
  generation: number;
  created_at: number;
  updated_at: number;
}

interface ManifestsNoun {
  manifests: Omit<ManifestReads, "dependants"> & Pick<Transaction["manifests"], "put" | "delete" | "raiseGeneration">;
  /** Forgets what was read from writes that were undone. */
  forget(): void;
}

/** Rows of other tables that mean nothing without their manifest. */
const dependentTables = [
  "status",
  "looks",
  "probe_readiness",
  "earlier_restarts",
  "asset_files",
  "seen_schedules",
  "frozen",
  "claims",
  "dependencies",
  "image_pins",
  "init_images",
  "releases",
  "runs",
  "last_instants",
  "autoscale",
  "canaries",
  "sleep",
  "block_children",
];

export function createManifests(db: Database, given: Pick<Parts, "sealer" | "versions" | "onMoved">): ManifestsNoun {
  const cache = createCache<StoredManifest>(manifestsCached);
  const parts: Parts = { sql: prepare(db), cache, heads: createHeads(db), ...given };
  const { sql, heads } = parts;
  const select = filteredSelect<Row>(
    db,
    { kind: "kind = ?", scope: "scope = ?", name: "name = ?" },
    (clauses) => `select * from manifests where true${clauses} order by kind, scope, name`,
  );
  return {
    forget() {
      heads.forget();
      cache.clear();
    },
    manifests: {
      get: (key) => get(parts, key),
      list: (filter = {}) => select({ ...filter }).map((row) => open(parts, row)),
      heads: heads.all,
      count: () => sql.count.get()?.count ?? 0,
      put: (manifest, now) => put(parts, manifest, now),
      delete: (key) => remove(parts, key),
      raiseGeneration: (key) => raiseGeneration(parts, key),
    },
  };
}

/** Manifests kept in memory, frozen: every look at a resource asks for its own several times. */
const manifestsCached = 2_000;
/** Longer specs are read again each time, as are those with secrets: these stay sealed until they are needed. */
const cachedTextMax = 16 * 1024;

interface Parts {
  sql: ReturnType<typeof prepare>;
  cache: Cache<StoredManifest>;
  heads: Heads;
  versions: Versions;
  sealer: SpecSealer<ManifestKey>;
  onMoved: (key: ManifestKey) => void;
}

function get(parts: Parts, key: ManifestKey): StoredManifest | undefined {
  const known = parts.cache.peek(keyText(key));
  if (known !== undefined) return known;
  const row = find(parts, key);
  return row && kept(parts, row, open(parts, row));
}

/** The manifest of the row, kept for the next one who asks. */
function kept({ cache }: Parts, row: Pick<Row, "spec" | "sealed">, manifest: StoredManifest): StoredManifest {
  if (row.sealed === 1 || row.spec.length > cachedTextMax) cache.drop(keyText(manifest));
  else cache.set(keyText(manifest), deepFreeze(manifest));
  return manifest;
}

function find({ sql }: Parts, key: ManifestKey): Row | undefined {
  return sql.byKey.get(...columnsOf(key)) ?? undefined;
}

function open({ sealer }: Parts, row: Row): StoredManifest {
  return toManifest(row, sealer.open(row, { text: row.spec, sealed: row.sealed === 1 }));
}

function put(parts: Parts, given: ManifestKey & { kind: CoreKind; spec: Spec }, now: number): PutResult {
  const previous = get(parts, given);
  const spec = inOrder(given.spec);
  const text = JSON.stringify(spec);
  if (previous !== undefined && text === orderedJson(previous.spec)) {
    return { manifest: previous, outcome: "unchanged", previous };
  }
  const revision = parts.versions.next();
  const { kind, scope, name } = given;
  const { generation, createdAt } = previous ?? { generation: revision, createdAt: now };
  // What its writer can no longer change is kept as it is, with all that was read from it already.
  const own = Object.isFrozen(spec) ? spec : JSON.parse(text);
  const manifest = { kind, scope, name, revision, generation, spec: own, createdAt, updatedAt: now };
  const sealed = parts.sealer.seal(manifest, spec, text);
  const row = { spec: sealed.text, sealed: sealed.sealed ? 1 : 0 };
  write(parts, { ...manifest, ...row, isNew: previous === undefined });
  parts.heads.put(headOf(manifest));
  parts.onMoved(keyOf(manifest));
  return { manifest: kept(parts, row, manifest), outcome: previous ? "updated" : "created", previous };
}

type Writing = Omit<StoredManifest, "spec"> & Pick<Row, "spec" | "sealed"> & { isNew: boolean };

function write({ sql }: Parts, { spec, sealed, revision, generation, createdAt, updatedAt, isNew, ...key }: Writing) {
  if (isNew) sql.insert.run(...columnsOf(key), spec, sealed, revision, generation, createdAt, updatedAt);
  else sql.update.run(spec, sealed, revision, updatedAt, ...columnsOf(key));
}

function remove({ sql, cache, heads, versions, onMoved }: Parts, key: ManifestKey): boolean {
  cache.drop(keyText(key));
  if (sql.delete.run(...columnsOf(key)).changes === 0) return false;
  for (const statement of sql.deleteDependent) statement.run(...columnsOf(key));
  versions.keep();
  heads.drop(key);
  onMoved(keyOf(key));
  return true;
}

function raiseGeneration(parts: Parts, key: ManifestKey): number {
  const row = find(parts, key);
  if (!row) throw new Failure("not_found", `${formatKey(key)} does not exist`);
  const generation = parts.versions.next();
  parts.sql.raise.run(generation, row.id);
  parts.cache.drop(keyText(key));
  parts.heads.put(headOf({ ...row, generation }));
  parts.onMoved(keyOf(key));
  return generation;
}

type Versioned = Omit<Row, "id" | "spec" | "sealed">;

function headOf({ kind, scope, name, revision, generation }: ManifestHead): ManifestHead {
  return { kind, scope, name, revision, generation };
}

function toManifest(row: Versioned, spec: Spec): StoredManifest {
  return { ...headOf(row), spec, createdAt: row.created_at, updatedAt: row.updated_at };
}

function prepare(db: Database) {
  return {
    byKey: db.query<Row, KeyColumns>(`select * from manifests where ${whereKey}`),
    count: db.query<{ count: number }, []>("select count(*) as count from manifests"),
    insert: db.query<unknown, [...KeyColumns, string, number, number, number, number, number]>(
      "insert into manifests (kind, scope, name, spec, sealed, revision, generation, created_at, updated_at)" +
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    update: db.query<unknown, [string, number, number, number, ...KeyColumns]>(
      `update manifests set spec = ?, sealed = ?, revision = ?, updated_at = ? where ${whereKey}`,
    ),
    raise: db.query<unknown, [number, number]>("update manifests set generation = ? where id = ?"),
    delete: db.query<unknown, KeyColumns>(`delete from manifests where ${whereKey}`),
    deleteDependent: dependentTables.map((table) =>
      db.query<unknown, KeyColumns>(`delete from ${table} where ${whereKey}`),
    ),
  };
}

/** Identity and versions of every manifest, in memory: read once, then kept up with each change. */
interface Heads {
  all(): ManifestHead[];
  put(head: ManifestHead): void;
  drop(key: { kind: string; scope: string; name: string }): void;
  /** Drops the rows in memory: the next question reads them from the database. */
  forget(): void;
}

function createHeads(db: Database): Heads {
  const select = db.query<ManifestHead, []>("select kind, scope, name, revision, generation from manifests");
  let heads: Map<string, ManifestHead> | undefined;
  return {
    all() {
      heads ??= new Map(select.all().map((head) => [keyText(head), head]));
      return [...heads.values()];
    },
    put(head) {
      heads?.set(keyText(head), head);
    },
    drop(key) {
      heads?.delete(keyText(key));
    },
    forget() {
      heads = undefined;
    },
  };
}
