import type { Database } from "bun:sqlite";
import type { PluginRunRecord } from "./plugin-records.ts";
import { filteredSelect } from "./rows.ts";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { Transaction } from "./store.ts";

interface Row {
  id: string;
  plugin: string;
  version: string;
  command: string;
  actor: string;
  status: PluginRunRecord["status"];
  started_at: number;
  ended_at: number | null;
  exit_code: number | null;
  told: Uint8Array;
}

type Told = Pick<PluginRunRecord, "args" | "applied" | "error" | "tail">;

/** Runs of plugins, the newest `kept` of them; those under way are kept beyond it. */
export function createPluginRuns(db: Database, seal: Seal, kept: number): Transaction["pluginRuns"] {
  const sql = prepare(db);
  const open = (row: Row) => toRun(row, JSON.parse(seal.open(row.told, placeOf(row.id))));
  const select = filteredSelect<Row>(
    db,
    { plugin: "plugin = ?" },
    (clauses) => `select * from plugin_runs where true${clauses} order by seq desc limit ?`,
  );
  return {
    list: ({ plugin, limit }) => select({ plugin }, limit).map(open),
    unfinished: () => sql.unfinished.all().map(open),
    put(run) {
      const { id, plugin, version, command, actor, status, startedAt, endedAt, exitCode } = run;
      const told: Told = { args: run.args, applied: run.applied, error: run.error, tail: run.tail };
      const state = [status, startedAt, endedAt ?? null, exitCode ?? null];
      sql.upsert.run(id, plugin, version, command, actor, ...state, seal.seal(JSON.stringify(told), placeOf(id)));
      sql.trim.run(kept);
    },
  };
}

function prepare(db: Database) {
  return {
    unfinished: db.query<Row, []>("select * from plugin_runs where status = 'running' order by seq"),
    upsert: db.query<unknown, (string | number | Uint8Array | null)[]>(
      "insert into plugin_runs (id, plugin, version, command, actor, status, started_at, ended_at, exit_code, told)" +
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" +
        " on conflict (id) do update set status = excluded.status, ended_at = excluded.ended_at," +
        " exit_code = excluded.exit_code, told = excluded.told",
    ),
    trim: db.query<unknown, [number]>(
      "delete from plugin_runs where seq <= (select max(seq) from plugin_runs) - ? and status <> 'running'",
    ),
  };
}

function placeOf(id: string): string {
  return ["plugin_runs", id, "told"].join("\0");
}

function toRun(row: Row, told: Told): PluginRunRecord {
  return {
    id: row.id,
    plugin: row.plugin,
    version: row.version,
    command: row.command,
    actor: row.actor,
    status: row.status,
    startedAt: row.started_at,
    endedAt: row.ended_at ?? undefined,
    exitCode: row.exit_code ?? undefined,
    args: told.args,
    applied: told.applied,
    error: told.error,
    tail: told.tail,
  };
}
