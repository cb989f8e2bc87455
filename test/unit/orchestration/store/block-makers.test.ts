import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../../../../src/base/sqlite/migrate.ts";
import { stateMigrations } from "../../../../src/orchestration/store/migrations/all.ts";
import { blockMakers } from "../../../../src/orchestration/store/migrations/0026-block-makers.ts";

test("blocks of an older database have an unrecorded maker until the server looks", () => {
  const db = new Database(":memory:", { strict: true });
  migrate(db, "state.db", stateMigrations.slice(0, stateMigrations.indexOf(blockMakers)));
  db.run(
    "insert into blocks (kind, scope, name, plugin, version, spec, revision, created_at, updated_at)" +
      " values ('postgres', 'data', 'main', 'postgres', '1', x'00', 1, 1, 1)",
  );
  migrate(db, "state.db", stateMigrations);
  expect(db.query("select plugin, origin, source from blocks").all()).toEqual([
    { plugin: "postgres", origin: "unrecorded", source: "" },
  ]);
  db.close();
});
