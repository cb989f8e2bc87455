import { existsSync, rmSync, statSync } from "node:fs";
import { keepPrivate } from "../../../base/sqlite/database.ts";
import { Database } from "bun:sqlite";

/** The trigram index is a file of its own, made from the database and rebuilt whenever it is in doubt. */
const indexSchema = /* sql */ `
create table if not exists meta (
  key text primary key,
  value text not null
) strict;

-- How far an instance's rows are in its index, and how many were put there.
create table if not exists progress (
  kind text not null,
  instance integer not null,
  upto integer not null,
  added integer not null,
  primary key (kind, instance)
) strict, without rowid;

-- Times of creation within a run of rows: what lies outside of what is looked for need not be read.
create table if not exists zones (
  kind text not null,
  instance integer not null,
  low integer not null,
  high integer not null,
  earliest integer not null,
  latest integer not null,
  primary key (kind, instance, low)
) strict, without rowid;
`;

export interface IndexFile {
  db: Database;
  /** Consumed entries of `search_changes`. */
  changes(): number;
  setChanges(n: number): void;
}

/** Version of the layout of the file, and of its content: a file of another version is rebuilt. */
const layout = "2";

/**
 * Opens the index at `path` for writing. One that was made from another file than the database at `source`, or that is
 * damaged, is thrown away: everything in it can be made again.
 */
export function openIndexFile(path: string, source: string): IndexFile {
  const origin = originOf(source);
  try {
    const kept = open(path);
    if (kept.meta("origin") === origin && kept.meta("layout") === layout) return kept;
    kept.db.close();
  } catch {
    // Not a database any more: rebuilt below.
  }
  removeIndexFile(path);
  const fresh = open(path);
  fresh.setMeta("origin", origin);
  fresh.setMeta("layout", layout);
  return fresh;
}

function removeIndexFile(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) rmSync(file, { force: true });
}

/** A restored or copied database is another file, whatever it holds. */
function originOf(source: string): string {
  const { dev, ino, birthtimeMs } = statSync(source);
  return `${dev}:${ino}:${birthtimeMs}`;
}

function open(path: string) {
  // What it holds tells of addresses and names; SQLite gives its log files the same mode.
  keepPrivate(path);
  const db = new Database(path, { create: false, readwrite: true });
  try {
    db.run("pragma journal_mode = wal");
    db.run("pragma synchronous = normal");
    db.run("pragma busy_timeout = 2000");
    db.run("pragma journal_size_limit = 16777216");
    db.run(indexSchema);
  } catch (error) {
    db.close();
    throw error;
  }
  const read = db.query<{ value: string }, [string]>("select value from meta where key = ?");
  const write = db.query<unknown, [string, string]>("insert or replace into meta (key, value) values (?, ?)");
  return {
    db,
    meta: (key: string) => read.get(key)?.value,
    setMeta: (key: string, value: string) => {
      write.run(key, value);
    },
    changes: () => Number(read.get("changes")?.value ?? 0),
    setChanges: (n: number) => {
      write.run("changes", String(n));
    },
  };
}
