import { afterEach, beforeEach, expect, test } from "bun:test";
import type { ManifestKey } from "../../../../src/orchestration/api/manifest.ts";
import { canaryBegin } from "../../../../src/orchestration/core/plan/canary.ts";
import type { CanaryRecord, Store } from "../../../../src/orchestration/store/store.ts";
import { webKey } from "../../../support/records.ts";
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

const record: CanaryRecord = {
  ...webKey,
  ...canaryBegin,
  releaseId: "0t85s0067",
  hash: "b",
  generation: 3,
  baseHash: "a",
  mode: "steps",
  share: 0.05,
};

test("the last record put is read, also after the server was away", async () => {
  expect(store.canaries.get(webKey)).toBeUndefined();
  await store.write((tx) => tx.canaries.put(record));
  await store.write((tx) => tx.canaries.put({ ...record, step: 1, share: 1 / 3 }));
  store.close();
  store = openTestStore(at);
  expect(store.canaries.get(webKey)).toEqual({ ...record, step: 1, share: 1 / 3 });
  expect(store.canaries.get({ ...webKey, name: "db" })).toBeUndefined();
});

test("everything but the time that passes moves the resource", async () => {
  const moved: ManifestKey[][] = [];
  store.subscribe((keys) => moved.push(keys));
  await store.write((tx) => tx.canaries.put(record));
  await store.write((tx) => tx.canaries.put({ ...record, elapsedMs: 5_000 }));
  expect(moved).toEqual([[webKey]]);
  await store.write((tx) => tx.canaries.put({ ...record, isPaused: true }));
  await store.write((tx) => tx.canaries.remove(webKey));
  await store.write((tx) => tx.canaries.remove(webKey));
  expect(moved).toHaveLength(3);
});

test("what was undone is not remembered, and a delete takes the record", async () => {
  const broken = store.write((tx) => {
    tx.canaries.put(record);
    throw new Error("undone");
  });
  await expect(broken).rejects.toThrow("undone");
  expect(store.canaries.get(webKey)).toBeUndefined();
  await store.write((tx) => tx.manifests.put({ ...webKey, kind: "deployment", spec: {} }, 1));
  await store.write((tx) => tx.canaries.put(record));
  await store.write((tx) => tx.manifests.delete(webKey));
  expect(store.canaries.get(webKey)).toBeUndefined();
});
