import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { Database, SQLiteError } from "bun:sqlite";
import { type LockingMode, onFullDiskToo } from "../../../base/sqlite/database.ts";
import { migrate, refuseNewer, schemaOf } from "../../../base/sqlite/migrate.ts";
import { metricMigrations } from "./schema.ts";

const walBytesKept = 4 * 1024 * 1024;
const walPagesMax = 1_000;
const busyTimeoutMs = 2_000;

/**
 * Opens the database of the metrics, made when missing. A file that is damaged is set aside as `<file>.damaged`, and an
 * empty one begins: the figures of the past are gone then, and nothing else. `onSetAside` receives the reason.
 */
export function openMetricsDatabase(file: string, onSetAside: (why: string) => void): Database {
  try {
    return onFullDiskToo((mode) => connect(file, mode));
  } catch (error) {
    if (!isDamage(error)) throw error;
    setAside(file);
    onSetAside(error instanceof Error ? error.message : String(error));
    return onFullDiskToo((mode) => connect(file, mode));
  }
}

/** Whether the content of the file is at fault, and not the disk or its rights. */
export function isDamage(error: unknown): boolean {
  if (error instanceof RangeError) return true;
  if (!(error instanceof SQLiteError)) return false;
  return /^SQLITE_(CORRUPT|NOTADB|ERROR|SCHEMA|MISMATCH)/.test(error.code ?? "");
}

/** One damaged file is kept, for a person to look at. */
export function setAside(file: string): void {
  for (const end of ["-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
  if (existsSync(file)) renameSync(file, `${file}.damaged`);
}

function connect(file: string, mode: LockingMode): Database {
  const isNew = !existsSync(file) || statSync(file).size === 0;
  const db = new Database(file, { create: true });
  try {
    db.run(`pragma locking_mode = ${mode}`);
    db.run(`pragma busy_timeout = ${busyTimeoutMs}`);
    // Before the first table: pages of deleted rows can be given back to the disk bit by bit.
    if (isNew) db.run("pragma auto_vacuum = incremental");
    db.run("pragma journal_mode = wal");
    // A power cut may cost the last seconds; the end of the process costs nothing.
    db.run("pragma synchronous = normal");
    db.run(`pragma wal_autocheckpoint = ${walPagesMax}`);
    db.run(`pragma journal_size_limit = ${walBytesKept}`);
    refuseNewer(schemaOf(db), file, metricMigrations);
    migrate(db, file, metricMigrations);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
