import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
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

const put = (kind: "certificate" | "account", id: string, text: string) =>
  store.write((tx) => tx.certificates.put(kind, { id, text, updatedAt: 5 }));

test("a document comes back as it was put, also from the disk, and each kind has its own ids", async () => {
  await put("certificate", "b", "second");
  await put("certificate", "a", "first");
  await put("account", "a", "other");
  store.close();
  store = openTestStore(at);
  expect(store.certificates.list("certificate")).toEqual([
    { id: "a", text: "first", updatedAt: 5 },
    { id: "b", text: "second", updatedAt: 5 },
  ]);
  expect(store.certificates.get("account", "a")?.text).toBe("other");
  expect(store.certificates.get("order", "a")).toBeUndefined();
});

test("a document is replaced and removed", async () => {
  await put("certificate", "a", "first");
  await put("certificate", "a", "second");
  expect(store.certificates.list("certificate").map(({ text }) => text)).toEqual(["second"]);
  await store.write((tx) => tx.certificates.remove("certificate", "a"));
  expect(store.certificates.list("certificate")).toEqual([]);
});

test("no private key is in any file", async () => {
  await put("certificate", "a", "hush-private-key");
  for (const file of [at.path, `${at.path}-wal`]) expect(readFileSync(file).includes("hush-private-key")).toBe(false);
});

test("a document that was moved to another row does not open there", async () => {
  await put("certificate", "a", "first");
  store.close();
  const db = new Database(at.path);
  db.run("update certificates set id = 'z'");
  db.close();
  store = openTestStore(at);
  expect(() => store.certificates.list("certificate")).toThrow(
    'sealed value "certificates/certificate/z" cannot be opened',
  );
});
