import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../../../../src/base/sqlite/migrate.ts";
import { stateMigrations } from "../../../../src/orchestration/store/migrations/all.ts";
import { sharedHosts } from "../../../../src/orchestration/store/migrations/0017-shared-hosts.ts";

test("an older database learns which scope has a host; hosts of several scopes stay shared", () => {
  const db = new Database(":memory:", { strict: true });
  const before = stateMigrations.slice(0, stateMigrations.indexOf(sharedHosts));
  migrate(db, "state.db", before);
  const insert = db.query("insert into claims (claim, owner, kind, scope, name) values (?, ?, 'ingress', ?, ?)");
  insert.run("domain:own.test", "served", "a", "web");
  insert.run("domain:own.test", "served", "a", "api");
  insert.run("domain:both.test", "served", "a", "web");
  insert.run("domain:both.test", "served", "b", "web");
  insert.run("domain:www.test", "ingress/a/web", "a", "web");
  migrate(db, "state.db", stateMigrations);
  const rows = db.query("select claim, owner, scope, name from claims where claim like 'share:%' order by name").all();
  expect(rows).toEqual([
    { claim: "share:own.test", owner: "scope:a", scope: "a", name: "api" },
    { claim: "share:own.test", owner: "scope:a", scope: "a", name: "web" },
  ]);
  db.close();
});
