import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "bun:sqlite";
import { openDatabase } from "../../../src/base/sqlite/database.ts";
import { createStateDigest } from "../../../src/local/state-digest.ts";
import { stateMigrations } from "../../../src/orchestration/store/migrations/all.ts";
import { identityMigrations } from "../../../src/identity/store/open-store.ts";

let folder: string;
let state: Database;
let identity: Database;
let digest: () => string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-digest."));
  const layout = { database: join(folder, "state.db"), identityDatabase: join(folder, "identity.db") };
  state = openDatabase(layout.database, stateMigrations);
  identity = openDatabase(layout.identityDatabase, identityMigrations);
  digest = createStateDigest(layout);
});
afterEach(() => {
  state.close();
  identity.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Gives every column of a table a value of its type, and what is named here. */
function insert(db: Database, table: string, values: Record<string, unknown> = {}) {
  db.run("pragma foreign_keys = off");
  const columns = db
    .query<{ name: string; type: string; pk: number }, []>(`select name, type, pk from pragma_table_info('${table}')`)
    .all();
  const row = columns.map(
    ({ name, type }) => values[name] ?? (type === "INTEGER" ? 1 : type === "BLOB" ? Buffer.from("x") : "x"),
  );
  db.query(
    `insert into ${table} (${columns.map(({ name }) => name).join()}) values (${columns.map(() => "?").join()})`,
  ).run(...(row as never[]));
}

const wanted: [string, () => Database, string, Record<string, unknown>][] = [
  ["a manifest", () => state, "manifests", { updated_at: 5 }],
  ["config", () => state, "config", { updated_at: 5 }],
  ["a certificate", () => state, "certificates", { updated_at: 5 }],
  ["a user", () => identity, "users", { updated_at: 5, placeholder: 0 }],
  ["a session", () => identity, "sessions", {}],
  ["a signing key", () => identity, "signing_pairs", {}],
];

test.each(wanted)("%s that is written changes the digest, and so does its end", (_, db, table, values) => {
  const before = digest();
  insert(db(), table, values);
  const written = digest();
  expect(written).not.toBe(before);
  expect(digest()).toBe(written);
  db().run(`delete from ${table}`);
  expect(digest()).toBe(before);
});

test.each([
  ["an event", () => state, "events"],
  ["a run of a job", () => state, "runs"],
  ["a status", () => state, "status"],
  ["a run of a copy", () => state, "backups"],
  ["a mail", () => identity, "mails"],
  ["an audit entry", () => identity, "audit"],
] as [string, () => Database, string][])("%s changes no digest", (_, db, table) => {
  const before = digest();
  insert(db(), table);
  expect(digest()).toBe(before);
});

test("a session that is used changes no digest, and one that is revoked does", () => {
  insert(identity, "sessions");
  const before = digest();
  identity.run("update sessions set last_activity_at = 99");
  expect(digest()).toBe(before);
  identity.run("update sessions set revoked_at = 99");
  expect(digest()).not.toBe(before);
});
