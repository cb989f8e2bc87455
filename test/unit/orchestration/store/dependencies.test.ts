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

const web = { kind: "deployment", scope: "shop", name: "web" };
const api = { kind: "deployment", scope: "shop", name: "api" };

test("dependants are those that read the target, in order", async () => {
  await store.write((tx) => {
    tx.manifests.setDependencies(web, ["asset/shop/logo", "bucket/shop/", "asset/shop/logo"]);
    tx.manifests.setDependencies(api, ["bucket/shop/"]);
  });
  expect(store.manifests.dependants("bucket/shop/")).toEqual([api, web]);
  expect(store.manifests.dependants("asset/shop/logo")).toEqual([web]);
  expect(store.manifests.dependants("bucket/shop/web")).toEqual([]);
});

test("setting replaces", async () => {
  await store.write((tx) => tx.manifests.setDependencies(web, ["asset/shop/logo"]));
  await store.write((tx) => tx.manifests.setDependencies(web, ["asset/shop/icon"]));
  expect(store.manifests.dependants("asset/shop/logo")).toEqual([]);
  expect(store.manifests.dependants("asset/shop/icon")).toEqual([web]);
});

test("what was undone is not remembered, and a delete takes its reads", async () => {
  await store.write((tx) => {
    tx.manifests.put({ ...web, kind: "deployment", spec: { image: "web:1" } }, 1);
    tx.manifests.setDependencies(web, ["asset/shop/logo"]);
  });
  const undone = store.write((tx) => {
    tx.manifests.setDependencies(web, ["asset/shop/icon"]);
    expect(tx.manifests.dependants("asset/shop/icon")).toEqual([web]);
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  expect(store.manifests.dependants("asset/shop/icon")).toEqual([]);
  expect(store.manifests.dependants("asset/shop/logo")).toEqual([web]);
  await store.write((tx) => tx.manifests.delete(web));
  expect(store.manifests.dependants("asset/shop/logo")).toEqual([]);
});
