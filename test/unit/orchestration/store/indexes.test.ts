import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createAutoscale } from "../../../../src/orchestration/store/autoscale.ts";
import { createBlocks } from "../../../../src/orchestration/store/blocks.ts";
import { openDatabase } from "../../../../src/base/sqlite/database.ts";
import { stateMigrations } from "../../../../src/orchestration/store/migrations/all.ts";
import { createDeaths } from "../../../../src/orchestration/store/deaths.ts";
import { createDeliveries } from "../../../../src/orchestration/store/deliveries.ts";
import { createPluginRuns } from "../../../../src/orchestration/store/plugin-runs.ts";
import { createReleases } from "../../../../src/orchestration/store/releases.ts";
import { createRuns } from "../../../../src/orchestration/store/runs.ts";
import { createSeal } from "../../../../src/base/sqlite/seal.ts";
import { createSpecSealer } from "../../../../src/orchestration/store/sealed-spec.ts";
import { mapTestSecrets, type TestRoot, testKey, testLimits, testRoot } from "../../../support/store-root.ts";

let at: TestRoot;
let db: Database;
beforeAll(() => {
  at = testRoot();
  db = openDatabase(at.path, stateMigrations);
});
afterAll(() => {
  db.close();
  at.remove();
});

/** The select statements that `create` prepares. */
function selectsOf(create: (db: Database) => unknown): string[] {
  const seen: string[] = [];
  const recording = new Proxy(db, {
    get(target, name) {
      if (name !== "query") return Reflect.get(target, name);
      return (sql: string) => {
        seen.push(sql);
        return target.query(sql);
      };
    },
  });
  create(recording);
  return seen.filter((sql) => sql.startsWith("select"));
}

/** How SQLite would go about it. A connection of its own, because an explained statement stays open on it. */
function planOf(sql: string): string {
  const own = new Database(at.path, { readonly: true });
  const rows = own.query<{ detail: string }, []>(`explain query plan ${sql}`).all();
  own.close();
  return rows.map((row) => row.detail).join("; ");
}

const seal = createSeal(testKey);
const nouns: Record<string, (db: Database) => unknown> = {
  releases: (db) =>
    createReleases(
      db,
      createSpecSealer(seal, mapTestSecrets, ({ id }) => [id]),
      3,
    ),
  runs: createRuns,
  autoscale: (db) => createAutoscale(db, () => undefined),
  deaths: (db) => createDeaths(db, testLimits),
  deliveries: (db) => createDeliveries(db, seal, 3),
  pluginRuns: (db) => createPluginRuns(db, seal, 3),
  blocks: (db) => createBlocks(db, seal, { next: () => 1, keep: () => undefined }),
};

/** Reads of a whole table, which is kept in memory from then on. */
const readOnce = ["select * from autoscale", "select * from block_children"];

for (const [noun, create] of Object.entries(nouns)) {
  test(`every read of ${noun} goes by an index and sorts nothing`, () => {
    const selects = selectsOf(create);
    expect(selects).not.toEqual([]);
    for (const sql of selects) {
      const plan = planOf(sql);
      if (!readOnce.includes(sql)) expect(plan).toMatch(/USING (COVERING )?INDEX/);
      expect(plan).not.toContain("TEMP B-TREE");
    }
  });
}

test("a table without an index on the column is told apart", () => {
  expect(planOf("select * from runs where error = 'x'")).toBe("SCAN runs");
});
