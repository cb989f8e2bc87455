import { Database, SQLiteError } from "bun:sqlite";
import { existsSync } from "node:fs";
import { Failure } from "../api/failure.ts";
import { sqliteFailure } from "./sqlite-failure.ts";

/** Attempts to see our own pid recorded under the lock; only a race between two starting servers needs a second. */
const attemptsMax = 20;

/**
 * Makes this process the only writer of `root` until the returned function is called or the process ends, however it
 * ends: the operating system drops the lock of SQLite with the process. Fails `conflict` naming the pid that holds it.
 */
export function takeLock(lockPath: string, root: string): () => void {
  const db = openLockFile(lockPath);
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      recordPid(db);
      // A reserved lock: others can still read who holds it.
      db.run("begin immediate");
      if (holder(db) === process.pid) return () => db.close();
      db.run("rollback");
    }
    throw new Failure("conflict", `root "${root}" is being taken by another process: try again`);
  } catch (error) {
    const failure = isBusy(error) ? inUse(root, holder(db)) : sqliteFailure(error, lockPath);
    db.close();
    throw failure;
  }
}

function openLockFile(lockPath: string): Database {
  try {
    const db = new Database(lockPath);
    // The file is only a lock: nothing in it has to survive a power cut.
    db.run("pragma synchronous = off");
    return db;
  } catch (error) {
    throw new Failure("unavailable", `lock file "${lockPath}" cannot be opened: check its folder`, { cause: error });
  }
}

function recordPid(db: Database): void {
  db.run("begin immediate");
  db.run("create table if not exists holder (id integer primary key check (id = 1), pid integer not null) strict");
  db.run("insert or replace into holder (id, pid) values (1, ?)", [process.pid]);
  db.run("commit");
}

function holder(db: Database): number | undefined {
  try {
    return db.query<{ pid: number }, []>("select pid from holder").get()?.pid;
  } catch {
    return undefined;
  }
}

function inUse(root: string, pid: number | undefined): Failure {
  const who = pid === undefined ? "another process" : `pid ${pid}`;
  return new Failure("conflict", `root "${root}" is in use by ${who}: stop that server first`);
}

function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code ?? "").startsWith("SQLITE_BUSY");
}

/** Pid of the process that holds the root's lock; undefined when none does. */
export function lockHolder(lockPath: string): number | undefined {
  if (!existsSync(lockPath)) return undefined;
  const db = openLockFile(lockPath);
  try {
    db.run("begin immediate");
    db.run("rollback");
    return undefined;
  } catch (error) {
    if (isBusy(error)) return holder(db);
    throw error;
  } finally {
    db.close();
  }
}
