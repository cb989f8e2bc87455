import { afterEach, beforeEach, expect, test } from "bun:test";
import type { ManifestKey } from "../../../../src/orchestration/api/manifest.ts";
import type { Store } from "../../../../src/orchestration/store/store.ts";
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

const state = { ...webKey, replicas: 3, lastUpAt: 10, lastDownAt: undefined };

test("the last state put is read, also after the server was away", async () => {
  expect(store.autoscale.get(webKey)).toBeUndefined();
  await store.write((tx) => tx.autoscale.put({ ...state, lastUpAt: undefined, lastDownAt: 5 }));
  await store.write((tx) => tx.autoscale.put(state));
  store.close();
  store = openTestStore(at);
  expect(store.autoscale.get(webKey)).toEqual(state);
  expect(store.autoscale.get({ ...webKey, name: "db" })).toBeUndefined();
});

test("a new count moves the resource, the same one with other times does not", async () => {
  const moved: ManifestKey[][] = [];
  store.subscribe((keys) => moved.push(keys));
  await store.write((tx) => tx.autoscale.put(state));
  await store.write((tx) => tx.autoscale.put({ ...state, lastDownAt: 20 }));
  expect(moved).toEqual([[webKey]]);
  await store.write((tx) => tx.autoscale.put({ ...state, replicas: 4 }));
  await store.write((tx) => tx.autoscale.remove(webKey));
  await store.write((tx) => tx.autoscale.remove(webKey));
  expect(moved).toEqual([[webKey], [webKey], [webKey]]);
  expect(store.autoscale.get(webKey)).toBeUndefined();
});

test("an apply keeps it, a delete takes it", async () => {
  const manifest = { ...webKey, kind: "deployment" as const };
  await store.write((tx) => tx.manifests.put({ ...manifest, spec: {} }, 1));
  await store.write((tx) => tx.autoscale.put(state));
  await store.write((tx) => tx.manifests.put({ ...manifest, spec: { image: "app:2" } }, 2));
  expect(store.autoscale.get(webKey)).toEqual(state);
  await store.write((tx) => tx.manifests.delete(webKey));
  expect(store.autoscale.get(webKey)).toBeUndefined();
});
