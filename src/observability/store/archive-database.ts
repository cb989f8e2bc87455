import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { type Database, SQLiteError } from "bun:sqlite";
import { openLazily } from "../../base/sqlite/lazy-database.ts";
import { keepPrivate, type LockingMode, onFullDiskToo } from "../../base/sqlite/database.ts";
import { migrate, refuseNewer, schemaOf } from "../../base/sqlite/migrate.ts";

const walBytesKept = 4 * 1024 * 1024;
const walPagesMax = 1_000;
const busyTimeoutMs = 2_000;

interface ArchiveOptions {
  migrations: readonly string[];
  /** Tables that all reads go through. */
  reads: readonly string[];
  /** Receives the reason. */
  onSetAside: (why: string) => void;
}

/**
 * Opens a database of the past, such as that of the metrics, made when missing, for `use`. A file that is damaged is set
 * aside as `<file>.damaged`, and an empty one begins: what was in it is gone then, and nothing else.
 */
export function openArchive<T>(
  file: string,
  { migrations, reads, onSetAside }: ArchiveOptions,
  use: (db: Database) => T,
): T {
  const open = () => {
    const db = onFullDiskToo((mode) => connect(file, { migrations, mode }));
    try {
      // A file can be damaged in places that opening does not touch.
      for (const table of reads) db.query(`select count(*) from ${table}`).get();
      return use(db);
    } catch (error) {
      db.close();
      throw error;
    }
  };
  try {
    return open();
  } catch (error) {
    if (!isDamage(error)) throw error;
    setAside(file);
    onSetAside(error instanceof Error ? error.message : String(error));
    return open();
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

function connect(file: string, { migrations, mode }: { migrations: readonly string[]; mode: LockingMode }): Database {
  const isNew = !existsSync(file) || statSync(file).size === 0;
  keepPrivate(file);
  const db = openLazily(file, { create: true });
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
    refuseNewer(schemaOf(db), file, migrations);
    migrate(db, file, migrations);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
