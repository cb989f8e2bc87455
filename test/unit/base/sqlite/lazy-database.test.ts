import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openLazily } from "../../../../src/base/sqlite/lazy-database.ts";
import { openMetricsStore } from "../../../../src/observability/store/metrics/metrics-store.ts";
import { openTracesStore } from "../../../../src/observability/store/traces/traces-store.ts";
import { openTestIdentityStore } from "../../../support/identity-store.ts";
import { openTestObservabilityStore } from "../../../support/observability.ts";
import { openTestStore, type TestRoot, testRoot } from "../../../support/store-root.ts";

describe("a statement", () => {
  let db: Database;
  beforeEach(() => {
    db = openLazily(":memory:", {});
  });
  afterEach(() => db.close());

  test("may name a table that is made later", () => {
    const add = db.query<undefined, [number]>("insert into t values (?)");
    const rows = db.query<{ a: number }, []>("select a from t order by a");
    db.run("create table t (a)");
    expect(add.run(2)).toMatchObject({ changes: 1 });
    add.run(1);
    expect(rows.get()).toEqual({ a: 1 });
    expect(rows.all()).toEqual([{ a: 1 }, { a: 2 }]);
    expect([...rows.iterate()]).toEqual([{ a: 1 }, { a: 2 }]);
  });

  test("that SQLite refuses throws when it runs", () => {
    const wrong = db.query("select a from nowhere");
    expect(() => wrong.all()).toThrow("no such table: nowhere");
  });

  test("can be finalized before it has run, and after", () => {
    const one = db.query<{ one: number }, []>("select 1 as one");
    one.finalize();
    expect(one.get()).toEqual({ one: 1 });
    one.finalize();
  });
});

describe("with statements that are prepared at once", () => {
  const memory = openLazily(":memory:", {});
  const lazily: Database = Object.getPrototypeOf(memory);
  memory.close();
  const { query } = lazily;
  let prepared = 0;
  let at: TestRoot;
  beforeEach(() => {
    at = testRoot();
    prepared = 0;
    lazily.query = function (this: Database, sql: string) {
      prepared += 1;
      return Database.prototype.query.call(this, sql) as never;
    };
  });
  afterEach(() => {
    lazily.query = query;
    at.remove();
  });

  const stores: Record<string, () => { close(): void }> = {
    "the state": () => openTestStore(at),
    identity: () => ({ close: openTestIdentityStore().remove }),
    observability: () => ({ close: openTestObservabilityStore().remove }),
    metrics: () => openMetricsStore(join(at.root, "metrics.db"), () => undefined),
    traces: () => openTracesStore(join(at.root, "traces.db"), () => undefined),
  };
  test.each(Object.entries(stores))("the store of %s opens: SQLite takes each of its statements", (_, open) => {
    open().close();
    expect(prepared).toBeGreaterThan(2);
  });
});
