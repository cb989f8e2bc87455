import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, existsSync, renameSync, statSync, writeFileSync } from "node:fs";
import { secret } from "../../../../src/base/words/secret.ts";
import {
  confirmRestore,
  copyDatabase,
  noteCopy,
  notedCopy,
  prepareRestored,
} from "../../../../src/orchestration/store/copy.ts";
import type { Store } from "../../../../src/orchestration/store/store.ts";
import { openTestStore, type TestRoot, testKey, testRoot } from "../../../support/store-root.ts";

let at: TestRoot;
let copy: string;
beforeEach(() => {
  at = testRoot();
  copy = `${at.root}/copy.db`;
});
afterEach(() => at.remove());

const web = { kind: "deployment" as const, scope: "shop", name: "web" };
const put = (store: Store, image: string) => store.write((tx) => tx.manifests.put({ ...web, spec: { image } }, 1));

/** Opens `copy` in the place of the original. */
function reopen(): Store {
  renameSync(copy, at.path);
  return openTestStore(at);
}

test("a copy of a store in use holds what was committed, and is private", async () => {
  const store = openTestStore(at);
  await put(store, "a");
  copyDatabase(at.path, copy);
  await put(store, "b");
  store.close();
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  const copied = reopen();
  expect(copied.manifests.get(web)?.spec).toEqual({ image: "a" });
  copied.close();
});

test("a store copies itself while it is in use", async () => {
  const store = openTestStore(at);
  await put(store, "a");
  store.copyTo(copy);
  store.close();
  const copied = reopen();
  expect(copied.manifests.count()).toBe(1);
  copied.close();
});

test("a copy never overwrites", () => {
  openTestStore(at).close();
  writeFileSync(copy, "mine");
  expect(() => copyDatabase(at.path, copy)).toThrow(copy);
  expect(statSync(copy).size).toBe(4);
});

test("a missing or damaged source fails and leaves no copy", () => {
  expect(() => copyDatabase(at.path, copy)).toThrow(`database "${at.path}" cannot be used`);
  writeFileSync(at.path, "junk".repeat(2_000));
  chmodSync(at.path, 0o600);
  expect(() => copyDatabase(at.path, copy)).toThrow("is damaged");
  expect(existsSync(copy)).toBe(false);
});

test("a restored database holds collection until confirmed, seen by a running store at once", async () => {
  const first = openTestStore(at);
  const { revision } = (await put(first, "a")).manifest;
  first.close();
  prepareRestored(at.path, testKey);
  const store = openTestStore(at);
  expect(store.collectionHeld).toBe(true);
  expect((await put(store, "b")).manifest.revision).toBeGreaterThan(revision + 1_000);
  expect(confirmRestore(at.path)).toBe(true);
  expect(store.collectionHeld).toBe(false);
  expect(confirmRestore(at.path)).toBe(false);
  store.close();
});

test.each(["everything", "removal"] as const)(
  "a restored database repeats no delete that the copy began: %s",
  async (hold) => {
    const first = openTestStore(at);
    await first.write((tx) => tx.deletions.put({ ...web, at: 1, prune: true }));
    first.close();
    prepareRestored(at.path, testKey, hold);
    const store = openTestStore(at);
    expect(store.deletions.list()).toEqual([]);
    // What is deleted from now on is asked for.
    await store.write((tx) => tx.deletions.put({ ...web, at: 2, prune: true }));
    expect(store.deletions.list()).toHaveLength(1);
    store.close();
  },
);

test("a restored database knows which copy it is until it is confirmed, or restored once more", () => {
  openTestStore(at).close();
  for (const end of [() => confirmRestore(at.path), () => prepareRestored(at.path, testKey)]) {
    prepareRestored(at.path, testKey);
    expect(notedCopy(at.path)).toBeUndefined();
    noteCopy(at.path, "aabbccdd");
    expect(notedCopy(at.path)).toBe("aabbccdd");
    end();
    expect(notedCopy(at.path)).toBeUndefined();
  }
});

test("a restored database must fit its key", () => {
  openTestStore(at).close();
  const other = secret<Uint8Array>(new Uint8Array(32).fill(1));
  expect(() => prepareRestored(at.path, other)).toThrow("does not fit");
  const store = openTestStore(at);
  expect(store.collectionHeld).toBe(false);
  store.close();
});
