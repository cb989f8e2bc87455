import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { openLazily } from "./lazy-database.ts";
import { Database, SQLiteError } from "bun:sqlite";
import { migrate, schemaOf } from "./migrate.ts";
import { damaged, isBusy, sqliteFailure } from "./sqlite-failure.ts";

/** How long a connection waits for one of another process, milliseconds: blocks the event loop, so kept short. */
const busyTimeoutMs = 2_000;
/** The write-ahead log is cut back to this after a large transaction. */
const walBytesKept = 16 * 1024 * 1024;
/** Pages of 4 KiB in the log before it is worked into the database: the same few pages change again and again. */
const walPagesMax = 1_000;
/** The size of so many pages, each with its frame's head of 24 bytes, after the head of the log; and a little more for the last commit. */
const walBytesMade = 32 + (walPagesMax + 100) * (4_096 + 24);
/** A file system in memory, as statfs names it: it has no journal, so a log that grows there costs nothing. */
const tmpfs = 0x01021994;
/** Where less is free on the disk, no room is taken beforehand: a server has several databases, and others need room too. */
const freeBytesLeast = 64 * 1024 * 1024;

/**
 * Opens the database at `file`, made and migrated when missing. Fails `unavailable` when the file is damaged (the
 * message says what and how to restore), `conflict` when its schema is of a newer berth.
 */
export function openDatabase(file: string, migrations: readonly string[]): Database {
  if (!existsSync(file)) createDatabase(file, migrations);
  return openExisting(file, (db) => {
    checkSound(db, file);
    migrate(db, file, migrations);
    lengthenLog(db, `${file}-wal`);
  });
}

/**
 * Gives the log its length beforehand: a sync of a file that has grown waits for the journal of the file system as well,
 * and takes about twice as long. SQLite reads a log up to the first frame without a valid checksum, and zeros have none. The
 * log stays as it is while another connection writes: what that one appends would be overwritten.
 */
function lengthenLog(db: Database, log: string): void {
  db.run("pragma busy_timeout = 0");
  try {
    db.transaction(() => appendZeros(log)).immediate();
  } catch (error) {
    if (!isBusy(error)) throw error;
  } finally {
    db.run(`pragma busy_timeout = ${busyTimeoutMs}`);
  }
}

const zeros = new Uint8Array(65_536);

function appendZeros(log: string): void {
  if (!existsSync(log)) return;
  const { bavail, bsize, type } = statfsSync(log);
  if (type === tmpfs || bavail * bsize < freeBytesLeast) return;
  const fd = openSync(log, "r+");
  const { size } = fstatSync(fd);
  try {
    for (let end = size; end < walBytesMade;)
      end += writeSync(fd, zeros, 0, Math.min(zeros.length, walBytesMade - end), end);
  } catch {
    // The disk is full: the log grows with each commit, as far as there is room.
    ftruncateSync(fd, size);
  } finally {
    closeSync(fd);
  }
}

/** A connection to a database that must be there; `prepare` runs first, and the connection is closed when it fails. */
function openExisting(file: string, prepare: (db: Database) => void = () => undefined): Database {
  try {
    // SQLite takes an empty file for a new database: a cut-off one must not look like an empty desired state.
    if (statSync(file).size === 0) throw damaged(file, "the file is empty");
    keepPrivate(file);
    return connect(file, prepare);
  } catch (error) {
    throw sqliteFailure(error, file);
  }
}

function connect(file: string, prepare: (db: Database) => void): Database {
  return onFullDiskToo((mode) => connectAs(file, mode, prepare));
}

/** The first pragma of a connection: who else may use the file. */
export type LockingMode = "normal" | "exclusive";

/**
 * Opens a database also on a full disk. What connections share is kept in our memory then: no other process can read
 * along until the next start.
 */
export function onFullDiskToo(open: (mode: LockingMode) => Database): Database {
  try {
    return open("normal");
  } catch (error) {
    if (!hasNoRoomToShare(error)) throw error;
  }
  return open("exclusive");
}

function connectAs(file: string, mode: LockingMode, prepare: (db: Database) => void): Database {
  const db = openLazily(file, { readwrite: true, create: false });
  try {
    db.run(`pragma locking_mode = ${mode}`);
    setUp(db);
    prepare(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A full disk has no place for the file over which connections to a write-ahead log find each other. */
function hasNoRoomToShare(error: unknown): boolean {
  const code = error instanceof SQLiteError ? (error.code ?? "") : "";
  return code.startsWith("SQLITE_IOERR_SHM") || code.startsWith("SQLITE_FULL");
}

/** Runs `pragma quick_check`: "ok", or the first faults in one line. */
export function quickCheck(db: Database): string {
  const rows = db.query<{ quick_check: string }, []>("pragma quick_check(3)").all();
  const lines = rows.flatMap((row) => row.quick_check.split("\n")).filter((line) => !line.startsWith("***"));
  return lines.slice(0, 3).join("; ");
}

/** Fails `unavailable` when the content of the database is damaged. */
export function checkContent(db: Database, file: string): void {
  const result = quickCheck(db);
  if (result !== "ok") throw damaged(file, result);
}

/** Opens a database that must be there, for as long as `use` takes. */
export function withDatabase<T>(file: string, use: (db: Database) => T): T {
  const db = openExisting(file);
  try {
    return use(db);
  } finally {
    db.close();
  }
}

/** A consistent copy of what `db` holds, as a private file that must not exist yet. */
export function copyInto(db: Database, target: string): void {
  try {
    createPrivateFile(target);
  } catch (error) {
    throw sqliteFailure(error, target);
  }
  try {
    db.query("vacuum into ?").run(target);
  } catch (error) {
    rmSync(target, { force: true });
    throw sqliteFailure(error, target);
  }
}

/** Migrated under another name and then renamed, so that `file` is never half made. */
function createDatabase(file: string, migrations: readonly string[]): void {
  const fresh = `${file}.new`;
  for (const leftover of [fresh, `${fresh}-wal`, `${fresh}-shm`]) rmSync(leftover, { force: true });
  let db: Database | undefined;
  try {
    createPrivateFile(fresh);
    db = new Database(fresh);
    setUp(db);
    migrate(db, fresh, migrations);
    db.run("pragma wal_checkpoint(truncate)");
  } catch (error) {
    throw sqliteFailure(error, file);
  } finally {
    db?.close();
  }
  setLogAside(file);
  renameSync(fresh, file);
}

/**
 * The log of a database that was moved away without it: SQLite would write what it holds over the new one. It is kept,
 * for an operator who moves the database back.
 */
function setLogAside(file: string): void {
  rmSync(`${file}-shm`, { force: true });
  if (existsSync(`${file}-wal`)) renameSync(`${file}-wal`, `${file}-wal.left`);
}

function setUp(db: Database): void {
  db.run(`pragma busy_timeout = ${busyTimeoutMs}`);
  db.run("pragma journal_mode = wal");
  db.run("pragma synchronous = full");
  db.run("pragma foreign_keys = on");
  db.run(`pragma wal_autocheckpoint = ${walPagesMax}`);
  db.run(`pragma journal_size_limit = ${walBytesKept}`);
}

function checkSound(db: Database, file: string): void {
  checkContent(db, file);
  if (schemaOf(db) === 0) throw damaged(file, "it has no tables of ours");
}

/** SQLite gives its log files the mode of the database. */
function createPrivateFile(file: string): void {
  closeSync(openSync(file, "wx", 0o600));
}

/** Keeps a database from other users, whatever the umask: made when it is missing, and closed where it lay open. */
export function keepPrivate(file: string): void {
  closeSync(openSync(file, "a", 0o600));
  for (const one of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(one)) chmodSync(one, 0o600);
}

/** What of a database counts for its digest: not the tables of `without`, and of those of `only` what its query reads. */
export interface Counted {
  without: readonly string[];
  only: Readonly<Record<string, string>>;
}

/** A digest of the rows of a database. Tables whose rows say when they were written are counted by that, which is quick. */
export function contentDigest(file: string, { without, only }: Counted): string {
  return withDatabase(file, (db) => {
    const hash = new Bun.CryptoHasher("sha256");
    const all = "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name";
    const tables = db.query<{ name: string }, []>(all);
    for (const { name } of tables.all().filter((table) => !without.includes(table.name))) {
      hash.update(`\0${name}\0`);
      for (const row of db.query<Record<string, unknown>, []>(rowsOf(name)).iterate()) {
        for (const value of Object.values(row)) hash.update(value instanceof Uint8Array ? value : `${String(value)}\0`);
      }
      function rowsOf(table: string): string {
        if (only[table] !== undefined) return only[table];
        const columns = db.query<{ name: string }, []>(`select name from pragma_table_info('${table}')`).all();
        if (!columns.some((column) => column.name === "updated_at")) return `select * from "${table}"`;
        return `select count(*), max(updated_at), sum(updated_at % 1000000007) from "${table}"`;
      }
    }
    return hash.digest("hex");
  });
}
