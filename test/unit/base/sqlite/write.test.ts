import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { ManifestKey } from "../../../../src/orchestration/api/manifest.ts";
import { createWriter, type Writer } from "../../../../src/base/sqlite/write.ts";

const key = (name: string): ManifestKey => ({ kind: "job", scope: "s", name });

let db: Database;
let writer: Writer<ManifestKey>;
let moved: string[][];
let undone: number;

beforeEach(() => {
  db = new Database(":memory:");
  db.run("create table t (v text) strict");
  moved = [];
  undone = 0;
  writer = createTestWriter();
});
afterEach(() => db.close());

function createTestWriter(options: { gatherMs?: number; onBegin?: () => void } = {}): Writer<ManifestKey> {
  return createWriter({
    db,
    file: "state.db",
    onMoved: (keys) => moved.push(keys.map(({ name }) => name)),
    onUndone: () => undone++,
    keyText: ({ kind, scope, name }) => `${kind}/${scope}/${name}`,
    ...options,
  });
}

const insert = (value: string) => db.query<unknown, [string]>("insert into t values (?)").run(value);
const values = () =>
  db
    .query<{ v: string }, []>("select v from t order by rowid")
    .all()
    .map(({ v }) => v);

test("a change resolves with its result after the commit", async () => {
  const result = await writer.write(() => {
    insert("a");
    return 42;
  });
  expect(result).toBe(42);
  expect(db.inTransaction).toBe(false);
  expect(values()).toEqual(["a"]);
});

test("whoever has to know is told before each transaction, once for all that share it", async () => {
  const told: boolean[] = [];
  writer = createTestWriter({ onBegin: () => told.push(db.inTransaction) });
  await Promise.all([writer.write(() => insert("a")), writer.write(() => insert("b"))]);
  await writer.write(() => insert("c"));
  expect(told).toEqual([false, false]);
});

test("nothing runs before the caller has yielded, and all that wait run in order", async () => {
  const both = Promise.all([writer.write(() => insert("a")), writer.write(() => insert("b"))]);
  expect(values()).toEqual([]);
  await both;
  expect(values()).toEqual(["a", "b"]);
});

test("a change that throws is undone alone", async () => {
  const results = await Promise.allSettled([
    writer.write(() => insert("a")),
    writer.write((moves) => {
      insert("b");
      moves.add(key("b"));
      throw new Error("no");
    }),
    writer.write((moves) => {
      insert("c");
      moves.add(key("c"));
    }),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(results[1]).toMatchObject({ reason: { message: "no" } });
  expect(values()).toEqual(["a", "c"]);
  expect(moved).toEqual([["c"]]);
  expect(undone).toBe(1);
});

test("a lone change that throws is undone", async () => {
  const lone = writer.write(() => {
    insert("a");
    throw new Error("no");
  });
  expect(lone).rejects.toThrow("no");
  await lone.catch(() => undefined);
  expect(values()).toEqual([]);
  expect([db.inTransaction, undone]).toEqual([false, 1]);
  await writer.write(() => insert("b"));
  expect(values()).toEqual(["b"]);
});

test("listeners hear of each moved key once per commit, and only when something moved", async () => {
  await writer.write(() => insert("a"));
  await Promise.all([
    writer.write((moves) => moves.add(key("a"))),
    writer.write((moves) => {
      moves.add(key("b"));
      moves.add(key("a"));
    }),
  ]);
  expect(moved).toEqual([["a", "b"]]);
});

test("a full disk fails every change of the commit with storage_full, and writing goes on when there is space", async () => {
  const pages = db.query<{ page_count: number }, []>("pragma page_count").get()?.page_count ?? 0;
  db.run(`pragma max_page_count = ${pages + 2}`);
  const results = await Promise.allSettled([
    writer.write(() => insert("small")),
    writer.write(() => insert("x".repeat(100_000))),
    writer.write(() => insert("after")),
  ]);
  for (const result of results) {
    expect(result).toMatchObject({ status: "rejected", reason: { name: "Failure", code: "storage_full" } });
  }
  expect(values()).toEqual([]);
  db.run("pragma max_page_count = 10000");
  await writer.write(() => insert("again"));
  expect(values()).toEqual(["again"]);
});

test("a change that fails on its own and the failure of the commit are told apart", async () => {
  const results = await Promise.allSettled([
    writer.write(() => {
      throw new Error("own fault");
    }),
    writer.write(() => db.run("rollback")),
    writer.write(() => insert("c")),
  ]);
  expect(results[0]).toMatchObject({ status: "rejected", reason: { message: "own fault" } });
  expect(results.slice(1).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(values()).toEqual([]);
});

test("an asynchronous change is refused and undone", async () => {
  const change = writer.write(async () => insert("a"));
  await expect(change).rejects.toThrow("must be synchronous");
  expect(values()).toEqual([]);
});

test("close runs everything that waits, however much, and refuses what comes later", async () => {
  const all = Array.from({ length: 1_000 }, (_, index) => writer.write(() => insert(`${index}`)));
  writer.close();
  expect(values()).toHaveLength(1_000);
  await Promise.all(all);
  await expect(writer.write(() => insert("late"))).rejects.toMatchObject({ code: "unavailable" });
});

test("more than one commit holds is still written in order", async () => {
  await Promise.all(Array.from({ length: 600 }, (_, index) => writer.write(() => insert(`${index}`))));
  expect(values()).toEqual(Array.from({ length: 600 }, (_, index) => `${index}`));
});

test("a commit is synced unless nothing in it has to be durable", async () => {
  db.run("pragma synchronous = full");
  const level = () => db.query<{ synchronous: number }, []>("pragma synchronous").get()?.synchronous;
  const [full, normal] = [2, 1];
  expect(await writer.write(level)).toBe(full);
  expect(await writer.write(level, { durable: false })).toBe(normal);
  expect(await writer.write(level)).toBe(full);
  const mixed = [writer.write(level, { durable: false }), writer.write(level), writer.write(level, { durable: false })];
  expect(await Promise.all(mixed)).toEqual([full, full, full]);
});

test("what need not be durable waits for what must, and shares its commit in the order of the calls", async () => {
  const gathering = createTestWriter({ gatherMs: 60_000 });
  const status = gathering.write(() => insert("status"), { durable: false });
  await new Promise((resolve) => setImmediate(resolve));
  expect(values()).toEqual([]);
  await Promise.all([status, gathering.write(() => insert("apply"))]);
  expect(values()).toEqual(["status", "apply"]);
});

test("what need not be durable is written alone when nothing else comes, and before the writer closes", async () => {
  await createTestWriter({ gatherMs: 1 }).write(() => insert("a"), { durable: false });
  const closing = createTestWriter({ gatherMs: 60_000 });
  const last = closing.write(() => insert("b"), { durable: false });
  closing.close();
  await last;
  expect(values()).toEqual(["a", "b"]);
});
