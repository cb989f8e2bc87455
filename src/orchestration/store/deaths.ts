import type { Database } from "bun:sqlite";
import { keyOf } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";
import type { DeathRecord } from "./records.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

interface Row extends ManifestKey {
  replica_id: string;
  container_id: string;
  at: number;
  exit_code: number | null;
  oom_killed: number;
  killed: number;
  reason: string;
  image: string;
  hash: string;
  release_id: string | null;
  logs: string;
  probes: string;
  hint: string | null;
}

/** How replicas died, per resource the newest `deathsKept`, none older than `deathsKeptMs`; they outlive the manifest. */
export function createDeaths(
  db: Database,
  { deathsKept, deathsKeptMs }: { deathsKept: number; deathsKeptMs: number },
): Transaction["deaths"] {
  const sql = prepare(db);
  return {
    list: (key) => sql.byKey.all(...columnsOf(key)).map(toDeath),
    put(death) {
      const key = columnsOf(death);
      sql.insert.run(...key, ...valuesOf(death));
      sql.dropOld.run(death.at - deathsKeptMs);
      sql.trim.run(...key, ...key, deathsKept);
    },
  };
}

function prepare(db: Database) {
  return {
    byKey: db.query<Row, KeyColumns>(`select * from deaths where ${whereKey} order by at desc, seq desc`),
    insert: db.query<unknown, [...KeyColumns, ...(string | number | null)[]]>(
      "insert or replace into deaths (kind, scope, name, replica_id, container_id, at, exit_code, oom_killed, reason," +
        " image, hash, release_id, logs, probes, killed, hint) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    dropOld: db.query<unknown, [number]>("delete from deaths where at < ?"),
    trim: db.query<unknown, [...KeyColumns, ...KeyColumns, number]>(
      `delete from deaths where ${whereKey} and seq not in` +
        ` (select seq from deaths where ${whereKey} order by at desc, seq desc limit ?)`,
    ),
  };
}

/** In the order of the columns in `insert`. */
function valuesOf(death: DeathRecord): (string | number | null)[] {
  return [
    ...[death.replicaId, death.containerId, death.at, death.exitCode ?? null, Number(death.oomKilled), death.reason],
    ...[death.image, death.hash, death.releaseId ?? null, JSON.stringify(death.logs), JSON.stringify(death.probes)],
    ...[Number(death.killed === true), death.hint ?? null],
  ];
}

function toDeath(row: Row): DeathRecord {
  return {
    ...keyOf(row),
    replicaId: row.replica_id,
    containerId: row.container_id,
    at: row.at,
    exitCode: row.exit_code ?? undefined,
    oomKilled: row.oom_killed === 1,
    ...(row.killed === 1 ? { killed: true } : {}),
    reason: row.reason,
    image: row.image,
    hash: row.hash,
    releaseId: row.release_id ?? undefined,
    logs: JSON.parse(row.logs),
    probes: JSON.parse(row.probes),
    ...(row.hint === null ? {} : { hint: row.hint }),
  };
}
