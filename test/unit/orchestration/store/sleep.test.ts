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

const asleep = { ...webKey, asleep: true, since: 10 };

test("the last state put is read, also after the server was away", async () => {
  expect(store.sleep.get(webKey)).toBeUndefined();
  await store.write((tx) => tx.sleep.put({ ...asleep, asleep: false }));
  await store.write((tx) => tx.sleep.put(asleep));
  store.close();
  store = openTestStore(at);
  expect(store.sleep.get(webKey)).toEqual(asleep);
  expect(store.sleep.get({ ...webKey, name: "db" })).toBeUndefined();
});

test("falling asleep and waking move the resource, another time does not", async () => {
  const moved: ManifestKey[][] = [];
  store.subscribe((keys) => moved.push(keys));
  await store.write((tx) => tx.sleep.put({ ...asleep, asleep: false }));
  expect(moved).toEqual([]);
  await store.write((tx) => tx.sleep.put(asleep));
  await store.write((tx) => tx.sleep.put({ ...asleep, since: 20 }));
  expect(moved).toEqual([[webKey]]);
  await store.write((tx) => tx.sleep.remove(webKey));
  await store.write((tx) => tx.sleep.remove(webKey));
  expect(moved).toEqual([[webKey], [webKey]]);
  expect(store.sleep.get(webKey)).toBeUndefined();
});

test("a write that is undone is forgotten", async () => {
  const undone = store.write((tx) => {
    tx.sleep.put(asleep);
    throw new Error("no");
  });
  await undone.catch(() => undefined);
  expect(store.sleep.get(webKey)).toBeUndefined();
});
