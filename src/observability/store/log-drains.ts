import type { Database } from "bun:sqlite";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { DrainTarget } from "../api/log-drains.ts";
import type { Cursor } from "../core/logs/cursor.ts";
import type { Level } from "../core/logs/line.ts";

export interface DrainRecord {
  name: string;
  target: DrainTarget;
  apps: string[];
  level: Level | undefined;
  createdAt: number;
  /** The lines before it were delivered. */
  cursor: Cursor;
  delivered: number;
  /** Lines that the other side refused, and the last of them. */
  refused: number;
  lastRefused: RefusedLine | undefined;
}

interface RefusedLine {
  /** When it was refused; epoch milliseconds. */
  at: number;
  /** `SCOPE/NAME` */
  app: string;
  result: string;
}

export interface LogDrains {
  get(name: string): DrainRecord | undefined;
  list(): DrainRecord[];
  /** Makes it or replaces it; how far it came stays. */
  put(drain: DrainRecord): void;
  remove(name: string): void;
  /** Lines were delivered. A drain that is gone by now stays gone. */
  advance(name: string, cursor: Cursor, lines: number): void;
  /** One line was refused, and is left out. */
  setAside(name: string, cursor: Cursor, line: RefusedLine): void;
}

interface Row {
  name: string;
  target: Uint8Array;
  apps: string;
  level: Level | null;
  created_at: number;
  at: number;
  skip: number;
  delivered: number;
  refused: number;
  last_refused: string | null;
}

export function createLogDrains(db: Database, seal: Seal): LogDrains {
  const byName = db.query<Row, [string]>("select * from log_drains where name = ?");
  const list = db.query<Row, []>("select * from log_drains order by name");
  const upsert = db.query<unknown, (string | number | Uint8Array | null)[]>(
    "insert into log_drains (name, target, apps, level, created_at, at, skip, delivered) values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (name) do update set target = excluded.target," +
      " apps = excluded.apps, level = excluded.level",
  );
  const drop = db.query<unknown, [string]>("delete from log_drains where name = ?");
  const move = db.query<unknown, [number, number, number, string]>(
    "update log_drains set at = ?, skip = ?, delivered = delivered + ? where name = ?",
  );
  const leave = db.query<unknown, [number, number, string, string]>(
    "update log_drains set at = ?, skip = ?, refused = refused + 1, last_refused = ? where name = ?",
  );
  const toRecord = ({
    name,
    target,
    apps,
    level,
    created_at: createdAt,
    at,
    skip,
    delivered,
    ...row
  }: Row): DrainRecord => ({
    name,
    target: JSON.parse(seal.open(target, placeOf(name))) as DrainTarget,
    apps: JSON.parse(apps) as string[],
    level: level ?? undefined,
    createdAt,
    cursor: { at, skip },
    delivered,
    refused: row.refused,
    lastRefused: row.last_refused === null ? undefined : (JSON.parse(row.last_refused) as RefusedLine),
  });
  return {
    get(name) {
      const row = byName.get(name);
      return row === null ? undefined : toRecord(row);
    },
    list: () => list.all().map(toRecord),
    put({ name, target, apps, level, createdAt, cursor, delivered }) {
      const sealed = seal.seal(JSON.stringify(target), placeOf(name));
      upsert.run(name, sealed, JSON.stringify(apps), level ?? null, createdAt, cursor.at, cursor.skip, delivered);
    },
    remove(name) {
      drop.run(name);
    },
    advance(name, { at, skip }, lines) {
      move.run(at, skip, lines, name);
    },
    setAside(name, { at, skip }, line) {
      leave.run(at, skip, JSON.stringify(line), name);
    },
  };
}

function placeOf(name: string): string {
  return ["log_drains", name, "target"].join("\0");
}
