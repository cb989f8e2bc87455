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

const key = { kind: "postgres", scope: "data", name: "main" };
const block = {
  ...key,
  plugin: "postgres",
  origin: "bundled" as const,
  source: "",
  version: "1.2",
  spec: { replicas: 2, password: "hunter2" },
};
const asset = { kind: "asset" as const, scope: "data", name: "main" };
const set = { kind: "statefulset" as const, scope: "data", name: "main" };

test("a block comes back as it was put; its revision moves with the spec only", async () => {
  const first = await store.write((tx) => tx.blocks.put(block, 10));
  expect(first).toMatchObject({ block: { ...block, createdAt: 10, updatedAt: 10 }, previous: undefined });
  const second = await store.write((tx) => tx.blocks.put({ ...block, version: "1.3" }, 20));
  expect(second.block.revision).toBe(first.block.revision);
  expect(store.blocks.get(key)).toMatchObject({ version: "1.3", createdAt: 10, updatedAt: 10 });
  const third = await store.write((tx) => tx.blocks.put({ ...block, spec: { replicas: 3 } }, 30));
  expect(third.block.revision).toBeGreaterThan(first.block.revision);
  expect(third.previous?.spec).toEqual(block.spec);
  expect(store.blocks.list({ scope: "data" })).toEqual([third.block]);
  expect(store.blocks.list({ kind: "redis" })).toEqual([]);
});

test("children belong to one block, go with their manifests, and are let go of with the block", async () => {
  const other = { ...block, name: "other" };
  await store.write((tx) => {
    for (const child of [asset, set]) tx.manifests.put({ ...child, spec: {} }, 1);
    tx.blocks.put(block, 1);
    tx.blocks.put(other, 1);
    tx.blocks.setChildren(key, [set, asset]);
  });
  expect(store.blocks.children(key)).toEqual([asset, set]);
  expect(store.blocks.ownerOf(set)).toEqual(key);
  await store.write((tx) => tx.blocks.setChildren(other, [set]));
  expect(store.blocks.children(key)).toEqual([asset]);
  await store.write((tx) => tx.manifests.delete(asset));
  expect(store.blocks.children(key)).toEqual([]);
  expect(await store.write((tx) => tx.blocks.delete(other))).toBe(true);
  expect(store.blocks.ownerOf(set)).toBeUndefined();
  expect(store.manifests.get(set)).toBeDefined();
  expect(await store.write((tx) => tx.blocks.delete(other))).toBe(false);
});

test("what an action applied for a block stays through its expansions, and goes with it", async () => {
  const other = { ...block, name: "other" };
  await store.write((tx) => {
    for (const child of [asset, set]) tx.manifests.put({ ...child, spec: {} }, 1);
    tx.blocks.put(block, 1);
    tx.blocks.setChildren(key, [set]);
    tx.blocks.adopt(key, asset);
    tx.blocks.adopt({ ...key, name: "other" }, set);
  });
  const own = () => [store.blocks.children(key), store.blocks.expanded(key)];
  expect(own()).toEqual([[asset, set], [set]]);
  expect(store.blocks.ownerOf(set)).toEqual(key);
  await store.write((tx) => tx.blocks.setChildren(key, []));
  expect(own()).toEqual([[asset], []]);
  expect(store.blocks.ownerOf(asset)).toEqual(key);
  await store.write((tx) => tx.blocks.setChildren(key, [asset]));
  expect(own()).toEqual([[asset], [asset]]);
  await store.write((tx) => tx.blocks.adopt(key, set));
  await store.write((tx) => tx.blocks.delete(key));
  expect([asset, set].map(store.blocks.ownerOf)).toEqual([undefined, undefined]);
  expect(store.blocks.children(other)).toEqual([]);
});

test("revisions of blocks are never given out again, whatever is deleted", async () => {
  const { block: stored } = await store.write((tx) => tx.blocks.put(block, 1));
  await store.write((tx) => tx.blocks.delete(key));
  store.close();
  store = openTestStore(at);
  const { manifest } = await store.write((tx) => tx.manifests.put({ ...asset, spec: {} }, 1));
  expect(manifest.revision).toBeGreaterThan(stored.revision);
});

test("a block's spec is not in the database file in clear", async () => {
  await store.write((tx) => tx.blocks.put(block, 1));
  store.copyTo(`${at.path}.copy`);
  const bytes = await Bun.file(`${at.path}.copy`).text();
  expect(bytes).toContain("block_children");
  expect(bytes).not.toContain("hunter2");
});

test("a block has the rights of the caller that stored its spec; a caller with more takes the same spec over", async () => {
  const put = (more: object) => store.write((tx) => tx.blocks.put({ ...block, ...more }, 1));
  const lesserOf = () => store.blocks.get(key)?.lesser;
  const first = await put({ lesser: true });
  expect([lesserOf(), first.block.lesser]).toEqual([true, true]);
  await put({ lesser: false });
  expect(lesserOf()).toBeUndefined();
  await put({ lesser: true });
  expect(lesserOf()).toBeUndefined();
  const other = await put({ lesser: true, spec: { replicas: 9 } });
  expect([lesserOf(), other.block.revision > first.block.revision]).toEqual([true, true]);
});
