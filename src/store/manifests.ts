import type { Database } from "bun:sqlite";
import { Failure } from "../api/failure.ts";
import { type CoreKind, formatKey, type ManifestKey, type Spec, type StoredManifest } from "../api/manifest.ts";
import { canonicalJson } from "./canonical.ts";
import { createHeads } from "./heads.ts";
import { columnsOf, filteredSelect, type KeyColumns, keyOf, whereKey } from "./rows.ts";
import type { SpecSealer } from "./sealed-spec.ts";
import type { ManifestReads, PutResult, Transaction } from "./store.ts";
import { createVersions } from "./versions.ts";

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

export interface ManifestsNoun {
  manifests: Omit<ManifestReads, "dependants"> & Pick<Transaction["manifests"], "put" | "delete" | "raiseGeneration">;
  /** Forgets what was read from writes that were undone. */
  forget(): void;
}

/** Rows of other tables that mean nothing without their manifest. */
const dependentTables = [
  "status",
  "frozen",
  "claims",
  "dependencies",
  "image_pins",
  "releases",
  "runs",
  "last_instants",
  "autoscale",
];

export function createManifests(
  db: Database,
  sealer: SpecSealer<ManifestKey>,
  onMoved: (key: ManifestKey) => void,
): ManifestsNoun {
  const sql = prepare(db);
  const heads = createHeads(db);
  const versions = createVersions(db);
  const select = filteredSelect<Row>(
    db,
    { kind: "kind = ?", scope: "scope = ?", name: "name = ?" },
    (clauses) => `select * from manifests where true${clauses} order by kind, scope, name`,
  );
  const find = (key: ManifestKey) => sql.byKey.get(...columnsOf(key)) ?? undefined;
  const open = (row: Row): StoredManifest =>
    toManifest(row, sealer.open(row, { text: row.spec, sealed: row.sealed === 1 }));

  const store = (row: Row, opened: Spec, text: string): StoredManifest => {
    const { text: spec, sealed } = sealer.seal(row, opened, text);
    if (row.id > 0) sql.update.run(spec, sealed ? 1 : 0, row.revision, row.updated_at, row.id);
    else {
      const { revision, generation, created_at, updated_at } = row;
      sql.insert.run(...columnsOf(row), spec, sealed ? 1 : 0, revision, generation, created_at, updated_at);
    }
    heads.put(headOf(row));
    onMoved(keyOf(row));
    return toManifest(row, JSON.parse(text));
  };

  const put = (manifest: ManifestKey & { kind: CoreKind; spec: Spec }, now: number): PutResult => {
    const text = canonicalJson(manifest.spec);
    const row = find(manifest);
    const previous = row && open(row);
    if (row && previous && text === (row.sealed === 1 ? canonicalJson(previous.spec) : row.spec)) {
      return { manifest: previous, outcome: "unchanged", previous };
    }
    const revision = versions.next();
    const { kind, scope, name } = manifest;
    const fresh = { id: 0, kind, scope, name, spec: "", sealed: 0, generation: revision, created_at: now };
    const stored = store({ ...(row ?? fresh), revision, updated_at: now }, manifest.spec, text);
    return { manifest: stored, outcome: row ? "updated" : "created", previous };
  };

  return {
    forget: heads.forget,
    manifests: {
      get(key) {
        const row = find(key);
        return row && open(row);
      },
      list: (filter = {}) => select({ ...filter }).map(open),
      heads: heads.all,
      count: () => sql.count.get()?.count ?? 0,
      put,
      delete(key) {
        if (sql.delete.run(...columnsOf(key)).changes === 0) return false;
        for (const statement of sql.deleteDependent) statement.run(...columnsOf(key));
        versions.keep();
        heads.drop(key);
        onMoved(keyOf(key));
        return true;
      },
      raiseGeneration(key) {
        const row = find(key);
        if (!row) throw new Failure("not_found", `${formatKey(key)} does not exist`);
        const generation = versions.next();
        sql.raise.run(generation, row.id);
        heads.put(headOf({ ...row, generation }));
        onMoved(keyOf(key));
        return generation;
      },
    },
  };
}

function headOf({ kind, scope, name, revision, generation }: Row) {
  return { kind, scope, name, revision, generation };
}

function toManifest(row: Row, spec: Spec): StoredManifest {
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
    update: db.query<unknown, [string, number, number, number, number]>(
      "update manifests set spec = ?, sealed = ?, revision = ?, updated_at = ? where id = ?",
    ),
    raise: db.query<unknown, [number, number]>("update manifests set generation = ? where id = ?"),
    delete: db.query<unknown, KeyColumns>(`delete from manifests where ${whereKey}`),
    deleteDependent: dependentTables.map((table) =>
      db.query<unknown, KeyColumns>(`delete from ${table} where ${whereKey}`),
    ),
  };
}
