import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Store } from "../../../../src/orchestration/store/store.ts";
import { openTestStore, type TestRoot, testRoot } from "../../../support/store-root.ts";

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

const freeze = { scope: "shop", name: "", reason: "freeze", actor: "ada", at: 1, until: undefined };

test("locks of a scope are as they were written last, also after a read", async () => {
  expect(store.locks.list("shop")).toEqual([]);
  await store.write((tx) => tx.locks.put(freeze));
  expect(store.locks.list("shop")).toEqual([freeze]);
  await store.write((tx) => tx.locks.put({ ...freeze, reason: "audit", until: 9 }));
  expect(store.locks.list("shop")).toEqual([{ ...freeze, reason: "audit", until: 9 }]);
  expect(store.locks.list()).toEqual([{ ...freeze, reason: "audit", until: 9 }]);
  await store.write((tx) => tx.locks.remove("shop", ""));
  expect(store.locks.list("shop")).toEqual([]);
});

test("a lock that was undone is not remembered", async () => {
  const undone = store.write((tx) => {
    tx.locks.put(freeze);
    expect(tx.locks.list("shop")).toEqual([freeze]);
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  expect(store.locks.list("shop")).toEqual([]);
});
