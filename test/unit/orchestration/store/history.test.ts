import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openDatabase } from "../../../../src/base/sqlite/database.ts";
import type { Spec } from "../../../../src/orchestration/api/manifest.ts";
import { stateMigrations } from "../../../../src/orchestration/store/migrations/all.ts";
import type { Store } from "../../../../src/orchestration/store/store.ts";
import { openTestStore, type TestRoot, testLimits, testRoot } from "../../../support/store-root.ts";

let at: TestRoot;
let store: Store;
beforeEach(() => {
  at = testRoot();
  store = openTestStore(at);
});
afterEach(() => {
  store.close();
  at.remove();
});

const keyOf = (name: string) => ({ kind: "deployment" as const, scope: "shop", name });
const put = (name: string, spec: Spec, now: number) =>
  store.write((tx) => {
    tx.manifests.put({ ...keyOf(name), spec }, now);
    tx.events.append({ actor: "ana", action: "manifest.apply", ...keyOf(name) }, now);
  });
const drop = (name: string, now: number) =>
  store.write((tx) => {
    tx.manifests.delete(keyOf(name));
    tx.events.append({ actor: "ana", action: "manifest.delete", ...keyOf(name) }, now);
  });
const wantedAt = (time: number) => store.history.at(time, {}).map(({ name, spec }) => `${name} ${spec.image}`);

function reopen(limits: Partial<typeof testLimits>): void {
  store.close();
  store = openTestStore(at, { limits: { ...testLimits, ...limits } });
}

test("every time between the first change and now has its state, also of what was deleted", async () => {
  expect(store.history.begins()).toBeUndefined();
  await put("web", { image: "a" }, 10);
  await put("db", { image: "p" }, 20);
  await put("web", { image: "b" }, 30);
  await drop("web", 40);
  expect(store.history.begins()).toBe(10);
  expect([10, 29, 30, 40].map(wantedAt)).toEqual([["web a"], ["db p", "web a"], ["db p", "web b"], ["db p"]]);
  expect(store.history.list({ limit: 9 }).map(({ name, isDelete }) => `${name} ${isDelete}`)).toEqual([
    ...["web true", "web false", "db false", "web false"],
  ]);
});

test("what is not seen is passed over: a page is full all the same, and no spec of it is opened", async () => {
  for (const at of [1, 2, 3]) {
    await put("web", { image: `${at}` }, at);
    for (const name of ["db", "cache"]) await put(name, { image: `${at}` }, at);
  }
  const seen = (names: string[], page: { limit: number; before?: number; scope?: string }) =>
    store.history
      .list({ ...page, isSeen: ({ name }) => names.includes(name) })
      .map(({ name, seq }) => `${name} ${seq}`);
  expect(seen(["web"], { limit: 2 })).toEqual(["web 7", "web 4"]);
  expect(seen(["web", "db"], { limit: 9, before: 5 })).toEqual(["web 4", "db 2", "web 1"]);
  expect(seen(["web"], { limit: 9, scope: "other" })).toEqual([]);
  expect(seen([], { limit: 9 })).toEqual([]);
  const asked: string[] = [];
  const isSeen = ({ name }: { name: string }) => asked.push(name) > 0 && name === "db";
  expect(store.history.at(2, { isSeen }).map(({ name, spec }) => `${name} ${spec.image}`)).toEqual(["db 2"]);
  expect(asked.sort()).toEqual(["cache", "db", "web"]);
});

test("a delete of what was not wanted, another event, and a change that was undone are not in it", async () => {
  await drop("web", 10);
  await store.write((tx) => tx.events.append({ actor: "ana", action: "restart", ...keyOf("web") }, 20));
  const undone = store.write((tx) => {
    tx.manifests.put({ ...keyOf("web"), spec: { image: "a" } }, 30);
    tx.events.append({ actor: "ana", action: "manifest.apply", ...keyOf("web") }, 30);
    throw new Error("no");
  });
  await undone.catch(() => undefined);
  expect(store.history.list({ limit: 9 })).toEqual([]);
});

test("a secret is sealed in it, and opened for what is restored", async () => {
  const hub = { kind: "registry" as const, scope: "", name: "hub" };
  await store.write((tx) => {
    tx.manifests.put({ ...hub, spec: { url: "hub.test", token: "hunter2" } }, 1);
    tx.events.append({ actor: "ana", action: "manifest.apply", ...hub }, 1);
  });
  expect(store.history.at(1, {})[0]?.spec).toEqual({ url: "hub.test", token: "hunter2" });
  const raw = new Database(at.path, { readonly: true });
  expect(JSON.stringify(raw.query("select * from history").all())).not.toContain("hunter2");
  raw.close();
});

describe("the oldest go first", () => {
  const limits = { "changes in all": { historyKept: 64 }, bytes: { historyBytesKept: 64 * 30 } };
  test.each(Object.entries(limits))("beyond so many %s, and the state before the rest stays", async (_, limit) => {
    reopen(limit);
    await put("old", { image: "o", note: "0123456789" }, 1);
    await put("gone", { image: "g", note: "0123456789" }, 2);
    await drop("gone", 3);
    for (let now = 10; now < 210; now++) await put("web", { image: `${now}`, note: "012345" }, now);
    const begins = store.history.begins() ?? 0;
    expect(begins).toBeGreaterThan(100);
    const rows = store.history.list({ limit: 999 });
    expect(rows.length).toBeLessThan(80);
    expect(rows.map(({ name }) => name)).not.toContain("gone");
    for (const time of [begins, begins + 1, 209]) expect(wantedAt(time)).toEqual(["old o", `web ${time}`]);
    reopen(limit);
    await put("web", { image: "last" }, 300);
    expect(wantedAt(300)).toEqual(["old o", "web last"]);
    expect(store.history.list({ limit: 999 }).length).toBeLessThan(80);
  });
});

test("what is stored before there is a history is where it begins", async () => {
  store.close();
  at.remove();
  at = testRoot();
  const before = Date.now();
  const earlier = openDatabase(at.path, stateMigrations.slice(0, 30));
  earlier.run(
    "insert into manifests (kind, scope, name, spec, sealed, revision, generation, created_at, updated_at)" +
      " values ('deployment', 'shop', 'web', '{\"image\":\"a\"}', 0, 1, 1, 5, 7)",
  );
  earlier.close();
  store = openTestStore(at);
  const begins = store.history.begins() ?? 0;
  expect(begins).toBeGreaterThanOrEqual(before);
  expect(wantedAt(begins)).toEqual(["web a"]);
  expect(store.history.list({ limit: 9 })).toMatchObject([{ name: "web", at: 7, action: "history.begin" }]);
});
