import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { ManifestKey } from "../api/manifest.ts";
import type { SeenSchedule } from "../core/plan/cron-windows.ts";
import type { AssetFiles, EarlierRestarts, Look, LookWrites, PodReadiness } from "./look-records.ts";
import { keyText } from "../api/manifest-key.ts";
import { createCache } from "./cache.ts";
import { deepFreeze } from "../../base/pure/deep-freeze.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";

/** Rows of one table, by the resource that they belong to. */
interface KeptRows<T> {
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
function createKeptRows<T, Row extends Record<keyof Row, SQLQueryBindings>>(
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

/** Tables of `look-records.ts`; `forget` is about one resource (its manifest was deleted), or all (writes were undone). */
export function createLooks(db: Database): { nouns: LookWrites; forget(id?: string): void } {
  const looks = createKeptRows(db, looksTable);
  const probeReadiness = createKeptRows(db, readinessTable);
  const earlierRestarts = createKeptRows(db, restartsTable);
  const assetFiles = createKeptRows(db, filesTable);
  const seenSchedules = createKeptRows(db, schedulesTable);
  return {
    nouns: {
      looks: single(looks),
      probeReadiness,
      earlierRestarts,
      assetFiles: single(assetFiles),
      seenSchedules: single(seenSchedules),
    },
    forget(id) {
      for (const rows of [looks, probeReadiness, earlierRestarts, assetFiles, seenSchedules]) rows.forget(id);
    },
  };
}

function single<T>({ list, put }: KeptRows<T>) {
  return {
    get: (key: ManifestKey) => list(key)[0],
    put: (key: ManifestKey, value: T) => put(key, [value]),
  };
}

const looksTable = {
  table: "looks",
  many: false,
  columns: [
    "phase",
    "revision",
    "generation",
    "replicas",
    "error",
    "unready",
    "good_generation",
    "good_replicas",
    "halted_generation",
    "halted_reason",
  ],
  seal: ({ phase, revision, generation, replicas, error, unready, memory }: Look): LookRow => ({
    phase,
    revision,
    generation,
    replicas,
    error: error ?? null,
    unready: unready ?? null,
    good_generation: memory.goodGeneration ?? null,
    good_replicas: memory.goodReplicas ?? null,
    halted_generation: memory.halted?.generation ?? null,
    halted_reason: memory.halted?.reason ?? null,
  }),
  open: ({ phase, revision, generation, replicas, error, unready, ...row }: LookRow): Look => ({
    phase,
    revision,
    generation,
    replicas,
    error: error ?? undefined,
    unready: unready ?? undefined,
    memory: {
      goodGeneration: row.good_generation ?? undefined,
      goodReplicas: row.good_replicas ?? undefined,
      halted:
        row.halted_generation === null
          ? undefined
          : { generation: row.halted_generation, reason: row.halted_reason ?? "" },
    },
  }),
} as const;

interface LookRow {
  phase: Look["phase"];
  revision: number;
  generation: number;
  replicas: number;
  error: string | null;
  unready: string | null;
  good_generation: number | null;
  good_replicas: number | null;
  halted_generation: number | null;
  halted_reason: string | null;
}

const readinessTable = {
  table: "probe_readiness",
  many: true,
  columns: ["pod", "startup_passed", "readiness", "at"],
  seal: ({ pod, startupPassed, readiness, transitionAt }: PodReadiness): ReadinessRow => ({
    pod,
    startup_passed: startupPassed ? 1 : 0,
    readiness,
    at: transitionAt,
  }),
  open: ({ pod, startup_passed, readiness, at }: ReadinessRow): PodReadiness => ({
    pod,
    startupPassed: startup_passed === 1,
    readiness,
    transitionAt: at,
  }),
} as const;

interface ReadinessRow {
  pod: string;
  startup_passed: number;
  readiness: PodReadiness["readiness"];
  at: number;
}

const restartsTable = {
  table: "earlier_restarts",
  many: true,
  columns: ["container", "count"],
  seal: (row: EarlierRestarts) => row,
  open: (row: EarlierRestarts) => row,
} as const;

const filesTable = {
  table: "asset_files",
  many: false,
  columns: ["revision", "files", "errors", "at"],
  seal: ({ files, errors, ...row }: AssetFiles): FilesRow => ({
    ...row,
    files: JSON.stringify(files),
    errors: JSON.stringify(errors),
  }),
  open: ({ files, errors, ...row }: FilesRow): AssetFiles => ({
    ...row,
    files: JSON.parse(files),
    errors: JSON.parse(errors),
  }),
} as const;

interface FilesRow {
  revision: number;
  files: string;
  errors: string;
  at: number;
}

const schedulesTable = {
  table: "seen_schedules",
  many: false,
  columns: ["expression", "timezone", "suspended", "since", "decided_until", "missed_after", "missed_until"],
  seal: ({ suspended, decidedUntil, missed, ...schedule }: SeenSchedule): ScheduleRow => ({
    ...schedule,
    suspended: suspended ? 1 : 0,
    decided_until: decidedUntil ?? null,
    missed_after: missed?.after ?? null,
    missed_until: missed?.until ?? null,
  }),
  open: ({ suspended, decided_until, missed_after: after, missed_until: until, ...schedule }: ScheduleRow) => ({
    ...schedule,
    suspended: suspended === 1,
    ...(decided_until === null ? {} : { decidedUntil: decided_until }),
    ...(after === null || until === null ? {} : { missed: { after, until } }),
  }),
} as const;

interface ScheduleRow {
  expression: string;
  timezone: string;
  suspended: number;
  since: number;
  decided_until: number | null;
  missed_after: number | null;
  missed_until: number | null;
}
