import type { Database } from "bun:sqlite";
import type { GitSource } from "../api/builds.ts";
import type { BuildAsked, BuildRecord } from "./build-records.ts";
import { filteredSelect } from "./rows.ts";
import type { Transaction } from "./store.ts";

interface Row {
  scope: string;
  name: string;
  id: string;
  status: BuildRecord["status"];
  context: string;
  dockerfile: string;
  target: string | null;
  image: string;
  image_id: string | null;
  actor: string;
  started_at: number;
  ended_at: number | null;
  error: string | null;
  log: string;
  request: string;
  image_bytes: number | null;
  git: string | null;
}

/** Builds: the newest `kept` of each app stay. */
export function createBuilds(db: Database, kept: number): Transaction["builds"] {
  const sql = {
    get: db.query<Row, [string, string, string]>("select * from builds where scope = ? and name = ? and id = ?"),
    list: filteredSelect<Row>(
      db,
      { scope: "scope = ?", name: "name = ?" },
      (clauses) => `select * from builds where true ${clauses} order by started_at desc, id limit ?`,
    ),
    unfinished: db.query<Row, []>("select * from builds where status in ('queued', 'building')"),
    images: db.query<{ image_id: string }, [number]>(
      "select distinct image_id from builds where image_id is not null and ended_at >= ?",
    ),
    put: db.query<unknown, (string | number | null)[]>(
      "insert or replace into builds (scope, name, id, status, context, dockerfile, target, image, image_id, actor," +
        " started_at, ended_at, error, log, request, image_bytes, git) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    trim: db.query<unknown, [string, string, string, string, number]>(
      "delete from builds where scope = ? and name = ? and id not in" +
        " (select id from builds where scope = ? and name = ? order by started_at desc, id limit ?)",
    ),
  };
  return {
    get(scope, name, id) {
      const row = sql.get.get(scope, name, id);
      return row === null ? undefined : toBuild(row);
    },
    list: (filter, limit) => sql.list({ ...filter }, limit).map(toBuild),
    unfinished: () => sql.unfinished.all().map(toBuild),
    imagesSince: (since) => sql.images.all(since).map(({ image_id }) => image_id),
    put(build) {
      const { scope, name, id, status, context, dockerfile, target, image, imageId, actor } = build;
      const { startedAt, endedAt, error, log, asked, imageBytes, git } = build;
      const what = [scope, name, id, status, context, dockerfile, target ?? null, image, imageId ?? null, actor];
      const more = [JSON.stringify(asked ?? {}), imageBytes ?? null, git === undefined ? null : JSON.stringify(git)];
      sql.put.run(...what, startedAt, endedAt ?? null, error ?? null, log, ...more);
      sql.trim.run(scope, name, scope, name, kept);
    },
  };
}

function toBuild({
  image_id,
  image_bytes,
  started_at,
  ended_at,
  target,
  error,
  request,
  git,
  ...row
}: Row): BuildRecord {
  return {
    ...row,
    target: target ?? undefined,
    imageId: image_id ?? undefined,
    imageBytes: image_bytes ?? undefined,
    asked: JSON.parse(request) as BuildAsked,
    git: git === null ? undefined : (JSON.parse(git) as GitSource),
    startedAt: started_at,
    endedAt: ended_at ?? undefined,
    error: error ?? undefined,
  };
}
