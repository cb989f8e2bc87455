import type { Database } from "bun:sqlite";
import { keyOf } from "../api/manifest-key.ts";
import type { RunReason } from "../api/reasons.ts";
import type { RunRecord } from "./records.ts";
import { columnsOf, idTaken, type KeyColumns, sameOwner, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

interface Row {
  seq: number;
  id: string;
  kind: string;
  scope: string;
  name: string;
  status: RunRecord["status"];
  triggered_by: RunRecord["trigger"];
  instant: number | null;
  attempt: number;
  started_at: number | null;
  ended_at: number | null;
  exit_code: number | null;
  error: string | null;
  reason: RunReason | null;
  tail: string;
}

/** Runs of jobs and cron jobs. No instant of a schedule has two. */
export function createRuns(db: Database): Transaction["runs"] {
  const sql = prepare(db);
  const isTaken = ({ id, instant, ...run }: RunRecord) => {
    if (instant === undefined) return false;
    const holder = sql.byInstant.get(...columnsOf(run), instant);
    return holder !== null && holder.id !== id;
  };
  return {
    get(id) {
      const row = sql.byId.get(id);
      return row ? toRun(row) : undefined;
    },
    list: (key, limit = -1) => sql.byKey.all(...columnsOf(key), limit).map(toRun),
    unfinished: () => sql.unfinished.all().map(toRun),
    unfinishedOf: (key) => sql.unfinishedOf.all(...columnsOf(key)).map(toRun),
    lastInstant: (key) => sql.lastInstant.get(...columnsOf(key))?.instant,
    put(run) {
      if (isTaken(run)) return false;
      const { changes } = sql.upsert.run(run.id, ...columnsOf(run), ...valuesOf(run));
      if (changes === 0) throw idTaken("run", run.id);
      if (run.instant !== undefined) sql.raiseInstant.run(...columnsOf(run), run.instant);
      return true;
    },
    dropMissed: (key, { after, until }) => void sql.dropMissed.run(...columnsOf(key), after, until),
    trim(key, keep) {
      const columns = columnsOf(key);
      const succeeded = sql.trimSucceeded.all(...columns, ...columns, keep.succeeded);
      const failed = sql.trimFailed.all(...columns, ...columns, keep.failed);
      return [...succeeded, ...failed].map(({ id }) => id);
    },
  };
}

const unfinished = "status in ('scheduled', 'running')";
const succeeded = "status = 'succeeded'";
const failed = "status not in ('scheduled', 'running', 'succeeded')";

function prepare(db: Database) {
  const trim = (which: string) =>
    db.query<{ id: string }, [...KeyColumns, ...KeyColumns, number]>(
      `delete from runs where ${whereKey} and ${which}` +
        ` and seq not in (select seq from runs where ${whereKey} and ${which} order by seq desc limit ?) returning id`,
    );
  return {
    byId: db.query<Row, [string]>("select * from runs where id = ?"),
    byKey: db.query<Row, [...KeyColumns, number]>(`select * from runs where ${whereKey} order by seq desc limit ?`),
    byInstant: db.query<{ id: string }, [...KeyColumns, number]>(
      `select id from runs where ${whereKey} and instant = ?`,
    ),
    unfinished: db.query<Row, []>(`select * from runs where ${unfinished} order by seq`),
    unfinishedOf: db.query<Row, KeyColumns>(
      // The other index holds what is under way everywhere: at the instant of a thousand cron jobs, all of that.
      `select * from runs indexed by runs_by_key where ${whereKey} and ${unfinished} order by seq desc`,
    ),
    lastInstant: db.query<{ instant: number }, KeyColumns>(`select instant from last_instants where ${whereKey}`),
    upsert: db.query<unknown, [string, ...KeyColumns, ...(string | number | null)[]]>(
      "insert into runs (id, kind, scope, name, status, triggered_by, instant, attempt, started_at, ended_at," +
        " exit_code, error, reason, tail) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" +
        " on conflict (id) do update set status = excluded.status, triggered_by = excluded.triggered_by," +
        " instant = excluded.instant, attempt = excluded.attempt, started_at = excluded.started_at," +
        " ended_at = excluded.ended_at, exit_code = excluded.exit_code, error = excluded.error, reason = excluded.reason, tail = excluded.tail" +
        ` where ${sameOwner}`,
    ),
    raiseInstant: db.query<unknown, [...KeyColumns, number]>(
      "insert into last_instants (kind, scope, name, instant) values (?, ?, ?, ?)" +
        " on conflict (kind, scope, name) do update set instant = max(instant, excluded.instant)",
    ),
    dropMissed: db.query<unknown, [...KeyColumns, number, number]>(
      `delete from runs where ${whereKey} and status = 'missed' and instant > ? and instant <= ?`,
    ),
    trimSucceeded: trim(succeeded),
    trimFailed: trim(failed),
  };
}

/** In the order of the columns in `upsert`. */
function valuesOf(run: RunRecord): (string | number | null)[] {
  return [
    ...[run.status, run.trigger, run.instant ?? null, run.attempt, run.startedAt ?? null, run.endedAt ?? null],
    ...[run.exitCode ?? null, run.error ?? null, run.reason ?? null, JSON.stringify(run.tail)],
  ];
}

function toRun(row: Row): RunRecord {
  return {
    ...keyOf(row),
    id: row.id,
    status: row.status,
    trigger: row.triggered_by,
    instant: row.instant ?? undefined,
    attempt: row.attempt,
    startedAt: row.started_at ?? undefined,
    endedAt: row.ended_at ?? undefined,
    exitCode: row.exit_code ?? undefined,
    error: row.error ?? undefined,
    ...(row.reason === null ? {} : { reason: row.reason }),
    tail: JSON.parse(row.tail),
  };
}
