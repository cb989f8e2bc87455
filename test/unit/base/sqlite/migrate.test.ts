import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate, schemaOf } from "../../../../src/base/sqlite/migrate.ts";
import { stateMigrations } from "../../../../src/orchestration/store/migrations/all.ts";
import { first } from "../../../../src/orchestration/store/migrations/0001-first.ts";

const tables = "select name, sql from sqlite_schema order by name";

test("a database of the first schema is brought up to date, keeps its rows, and is like a new one", () => {
  const old = new Database(":memory:");
  old.run(first);
  old.run("pragma user_version = 1");
  old.run("insert into meta (key, value) values ('installation_id', 'x')");
  migrate(old, "old.db", stateMigrations);
  const fresh = new Database(":memory:");
  migrate(fresh, "fresh.db", stateMigrations);
  expect(schemaOf(old)).toBe(stateMigrations.length);
  expect(old.query(tables).all()).toEqual(fresh.query(tables).all());
  expect(old.query<{ value: string }, []>("select value from meta").get()?.value).toBe("x");
});

test("migrating again changes nothing, and a newer schema is refused", () => {
  const db = new Database(":memory:");
  migrate(db, "state.db", stateMigrations);
  migrate(db, "state.db", stateMigrations);
  expect(schemaOf(db)).toBe(stateMigrations.length);
  db.run(`pragma user_version = ${stateMigrations.length + 1}`);
  expect(() => migrate(db, "state.db", stateMigrations)).toThrow(`"state.db" has schema ${stateMigrations.length + 1}`);
});
