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

const patch = (scope: string, name: string, vars: Record<string, string>) =>
  store.write((tx) => tx.config.patch(scope, name, vars, { now: 1 }));

test("the app level wins over the scope level in the merged view", async () => {
  await patch("shop", "", { A: "scope", B: "scope" });
  await patch("shop", "web", { B: "app", C: "app" });
  expect(store.config.bucket("shop", "")).toEqual({ A: "scope", B: "scope" });
  expect(store.config.bucket("shop", "web")).toEqual({ B: "app", C: "app" });
  expect(store.config.merged("shop", "web")).toEqual({ A: "scope", B: "app", C: "app" });
  expect(store.config.merged("shop", "other")).toEqual({ A: "scope", B: "scope" });
});

test("patch names the keys whose value changed", async () => {
  expect(await patch("shop", "web", { A: "1", B: "2" })).toEqual(["A", "B"]);
  expect(await patch("shop", "web", { A: "1", B: "3", C: "" })).toEqual(["B"]);
  expect(await patch("shop", "web", { A: "" })).toEqual(["A"]);
  expect(store.config.bucket("shop", "web")).toEqual({ B: "3" });
});

test("wipe empties one level and says whether there was something", async () => {
  await patch("shop", "", { A: "1" });
  await patch("shop", "web", { A: "2" });
  expect(await store.write((tx) => tx.config.wipe("shop", "web"))).toBe(true);
  expect(await store.write((tx) => tx.config.wipe("shop", "web"))).toBe(false);
  expect(store.config.merged("shop", "web")).toEqual({ A: "1" });
});

test("what was undone is not seen, though it was read inside", async () => {
  await patch("shop", "web", { A: "1" });
  const undone = store.write((tx) => {
    tx.config.patch("shop", "web", { A: "2" }, { now: 1 });
    expect(tx.config.bucket("shop", "web")).toEqual({ A: "2" });
    throw new Error("no");
  });
  await expect(undone).rejects.toThrow("no");
  expect(store.config.bucket("shop", "web")).toEqual({ A: "1" });
});

test("a caller cannot alter what others read", async () => {
  await patch("shop", "web", { A: "1" });
  store.config.bucket("shop", "web").A = "2";
  expect(store.config.bucket("shop", "web")).toEqual({ A: "1" });
});

test("keys that objects already have are keys like others", async () => {
  const vars = JSON.parse('{"__proto__":"1","constructor":"2","toString":"3"}');
  expect(await patch("shop", "web", vars)).toEqual(["__proto__", "constructor", "toString"]);
  expect(JSON.stringify(store.config.bucket("shop", "web"))).toBe('{"__proto__":"1","constructor":"2","toString":"3"}');
});

test("a value that was moved to another key by hand is not taken", async () => {
  await patch("shop", "web", { A: "1", B: "2" });
  store.close();
  const raw = new Database(at.path);
  raw.run("update config set key = case key when 'A' then 'x' else 'A' end");
  raw.close();
  store = openTestStore(at);
  expect(() => store.config.bucket("shop", "web")).toThrow('sealed value "config/shop/web/A" cannot be opened');
});

test("neither key file nor database show a value", async () => {
  const value = "correct horse battery staple";
  await patch("shop", "web", { PASSWORD: value });
  const files = await Promise.all([at.path, `${at.path}-wal`].map((file) => Bun.file(file).bytes()));
  expect(files.some((bytes) => Buffer.from(bytes).includes("PASSWORD"))).toBe(true);
  for (const bytes of files) expect(Buffer.from(bytes).includes(value)).toBe(false);
});

test("the empty string is a value of the keys that are named, and stands before the scope's value", async () => {
  await patch("shop", "", { A: "scope" });
  const set = () => store.write((tx) => tx.config.patch("shop", "web", { A: "", B: "" }, { now: 1, empty: ["A"] }));
  expect(await set()).toEqual(["A"]);
  expect(await set()).toEqual([]);
  expect(store.config.merged("shop", "web")).toEqual({ A: "" });
  expect(await patch("shop", "web", { A: "" })).toEqual(["A"]);
  expect(store.config.merged("shop", "web")).toEqual({ A: "scope" });
});
