import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync, readdirSync, renameSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { openDatabase } from "../../../../src/base/sqlite/database.ts";
import { stateMigrations } from "../../../../src/orchestration/store/migrations/all.ts";
import { onDisk as disk, type TestRoot, testRoot } from "../../../support/store-root.ts";

let at: TestRoot;
beforeEach(() => {
  at = testRoot();
});
/** In memory, a log that grows costs nothing and has no length beforehand. */
const onDisk = () => {
  at.remove();
  at = testRoot(disk);
};
afterEach(() => at.remove());

const pragma = (db: Database, name: string) =>
  Object.values(db.query<Record<string, unknown>, []>(`pragma ${name}`).get() ?? {})[0];

function failure(file: string): { code?: string; message: string } {
  try {
    openDatabase(file, stateMigrations).close();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("opening did not fail");
}

test("a missing database is made, private, durable and of the newest schema", () => {
  const db = openDatabase(at.path, stateMigrations);
  expect(pragma(db, "journal_mode")).toBe("wal");
  expect(pragma(db, "synchronous")).toBe(2);
  expect(pragma(db, "foreign_keys")).toBe(1);
  expect(pragma(db, "user_version")).toBe(stateMigrations.length);
  expect(statSync(at.path).mode & 0o777).toBe(0o600);
  expect(statSync(`${at.path}-wal`).mode & 0o777).toBe(0o600);
  db.close();
});

test.skipIf(disk === undefined)(
  "the log has its length from the start: no commit makes it longer, and the next checkpoint leaves it",
  () => {
    onDisk();
    const db = openDatabase(at.path, stateMigrations);
    const bytes = () => statSync(`${at.path}-wal`).size;
    const before = bytes();
    expect(before).toBeGreaterThan(4 * 1024 * 1024);
    db.run("pragma synchronous = off");
    for (let n = 0; n < 3_000; n++) db.run("insert or replace into meta values ('installation_id', ?)", [`${n}`]);
    expect(bytes()).toBe(before);
    db.close();
  },
);

test("the log is left as it is while another connection writes, which goes on", () => {
  onDisk();
  const db = openDatabase(at.path, stateMigrations);
  db.run("pragma wal_checkpoint(truncate)");
  db.run("begin immediate");
  const second = openDatabase(at.path, stateMigrations);
  expect(statSync(`${at.path}-wal`).size).toBe(0);
  db.run("insert into meta values ('installation_id', 'x')");
  db.run("commit");
  expect(second.query("select value from meta").all()).toEqual([{ value: "x" }]);
  second.close();
  db.close();
});

test.skipIf(disk === undefined)(
  "what is in the log of a server that was killed is read, and the log is made longer behind it",
  () => {
    onDisk();
    const db = openDatabase(at.path, stateMigrations);
    db.run("insert into meta values ('installation_id', 'x')");
    const killed = `${at.path}.killed`;
    // As far as SQLite wrote it, as a server of an earlier version leaves it.
    const frames = readFileSync(`${at.path}-wal`).findLastIndex((byte) => byte !== 0) + 1;
    const used = 32 + Math.ceil((frames - 32) / 4_120) * 4_120;
    writeFileSync(killed, readFileSync(at.path));
    writeFileSync(`${killed}-wal`, readFileSync(`${at.path}-wal`).subarray(0, used));
    db.close();
    const next = openDatabase(killed, stateMigrations);
    expect(next.query("select value from meta").all()).toEqual([{ value: "x" }]);
    expect(statSync(`${killed}-wal`).size).toBeGreaterThan(4 * 1024 * 1024);
    next.run("update meta set value = 'y'");
    next.close();
    const last = openDatabase(killed, stateMigrations);
    expect(last.query("select value from meta").all()).toEqual([{ value: "y" }]);
    last.close();
  },
);

test("every table is strict", () => {
  const db = openDatabase(at.path, stateMigrations);
  const loose = db.query(
    "select name from pragma_table_list where schema = 'main' and strict = 0 and name not like 'sqlite_%'",
  );
  expect(loose.all()).toEqual([]);
  db.close();
});

test("opening again keeps what is there", () => {
  const first = openDatabase(at.path, stateMigrations);
  first.run("insert into meta values ('installation_id', 'x')");
  first.close();
  const second = openDatabase(at.path, stateMigrations);
  expect(second.query("select value from meta").all()).toEqual([{ value: "x" }]);
  second.close();
});

test("the log of a database that was moved away is not taken for that of the new one", () => {
  const moved = openDatabase(at.path, stateMigrations);
  moved.run("insert into meta values ('installation_id', 'x')");
  renameSync(at.path, `${at.path}.away`);
  const fresh = openDatabase(at.path, stateMigrations);
  expect(fresh.query("select value from meta").all()).toEqual([]);
  expect(statSync(`${at.path}-wal.left`).size).toBeGreaterThan(0);
  fresh.close();
  moved.close();
});

test("what a crash left of making one is overwritten", () => {
  writeFileSync(`${at.path}.new`, "half");
  openDatabase(at.path, stateMigrations).close();
  expect(readdirSync(at.root).sort()).toEqual(["run", "state.db"]);
});

test("a file that is not a database is refused and left as it is", () => {
  writeFileSync(at.path, "these are not the tables you are looking for ".repeat(200));
  const { code, message } = failure(at.path);
  expect(code).toBe("unavailable");
  expect(message).toContain(`database "${at.path}" is damaged (file is not a database)`);
  expect(message).toContain("berth restore FILE");
  expect(message).toContain("containers are untouched");
  expect(readFileSync(at.path, "utf8")).toStartWith("these are not");
});

test("an empty file is refused: it must not pass for an empty state", () => {
  writeFileSync(at.path, "");
  expect(failure(at.path).message).toContain("the file is empty");
});

test("a database without our tables is refused", () => {
  const other = new Database(at.path);
  other.run("create table theirs (id integer)");
  other.close();
  expect(failure(at.path).message).toContain("no tables of ours");
});

test("a damaged page is refused with what quick_check says", () => {
  const db = openDatabase(at.path, stateMigrations);
  const insert = db.query<unknown, [string]>("insert into events (at, actor, action) values (1, 'a', ?)");
  for (let index = 0; index < 500; index++) insert.run("x".repeat(200));
  db.close();
  const bytes = readFileSync(at.path);
  bytes.fill(0xff, bytes.length - 40_000, bytes.length - 20_000);
  writeFileSync(at.path, bytes);
  const { code, message } = failure(at.path);
  expect(code).toBe("unavailable");
  expect(message).toMatch(/is damaged \(.+\): restore a backup/);
});

test("a cut-off file is refused", () => {
  openDatabase(at.path, stateMigrations).close();
  truncateSync(at.path, statSync(at.path).size - 5_000);
  expect(failure(at.path).message).toContain("is damaged");
});

test("a newer schema is refused with both versions", () => {
  const db = openDatabase(at.path, stateMigrations);
  db.run("pragma user_version = 999");
  db.close();
  const { code, message } = failure(at.path);
  expect(code).toBe("conflict");
  expect(message).toContain(`schema 999 and this berth knows up to ${stateMigrations.length}`);
});

test("a folder that is not there is named", () => {
  const file = `${at.root}/missing/state.db`;
  expect(failure(file)).toMatchObject({ name: "Failure", code: "unavailable" });
  expect(failure(file).message).toContain(file);
  expect(existsSync(file)).toBe(false);
});
