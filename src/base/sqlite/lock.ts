import { Database, SQLiteError } from "bun:sqlite";
import { existsSync } from "node:fs";
import { keepPrivate } from "./database.ts";
import { Failure } from "../wire/failure.ts";
import { isBusy, sqliteFailure } from "./sqlite-failure.ts";
import { isAlive } from "../words/alive.ts";

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
      const isRecorded = recordPid(db);
      // A reserved lock, for which nothing is written: others can still read who holds it.
      db.run("begin immediate");
      if (!isRecorded || holder(db) === process.pid) return () => db.close();
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
    keepPrivate(lockPath);
    const db = new Database(lockPath);
    // The file is only a lock: nothing in it has to survive a power cut.
    db.run("pragma synchronous = off");
    return db;
  } catch (error) {
    throw new Failure("unavailable", `lock file "${lockPath}" cannot be opened: check its folder`, { cause: error });
  }
}

/** False on a disk too full even for that: the lock itself needs no room. */
function recordPid(db: Database): boolean {
  try {
    writePid(db);
    return true;
  } catch (error) {
    if (!isFull(error)) throw error;
  }
  try {
    // Without a file for the journal the page of the last holder is written over in place.
    db.run("pragma journal_mode = memory");
    writePid(db);
    return true;
  } catch (error) {
    if (!isFull(error)) throw error;
    return false;
  }
}

function writePid(db: Database): void {
  try {
    db.run("begin immediate");
    db.run("create table if not exists holder (id integer primary key check (id = 1), pid integer not null) strict");
    db.run("insert or replace into holder (id, pid) values (1, ?)", [process.pid]);
    db.run("commit");
  } catch (error) {
    if (db.inTransaction) db.run("rollback");
    throw error;
  }
}

/** Undefined where none is recorded, or the one who is has ended: the present one then had no room to say so. */
function holder(db: Database): number | undefined {
  try {
    const pid = db.query<{ pid: number }, []>("select pid from holder").get()?.pid;
    return pid !== undefined && isAlive(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

function inUse(root: string, pid: number | undefined): Failure {
  const who = pid === undefined ? "another process" : `pid ${pid}`;
  return new Failure("conflict", `root "${root}" is in use by ${who}: stop that server first`);
}

function isFull(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code ?? "").startsWith("SQLITE_FULL");
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
