import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { openTestStore, testRoot } from "../../../support/store-root.ts";

const request = (key: string, at: number) => ({
  key,
  digest: "d",
  at,
  done: true,
  answer: { status: 200, headers: { a: "b" }, body: `the answer to ${key}` },
});

test("the newest are kept, and none that is too old; answers are sealed", async () => {
  const root = testRoot();
  const store = openTestStore(root);
  for (const [index, key] of ["a", "b", "c", "d"].entries()) {
    await store.write((tx) => tx.keyedRequests.put(request(key, index), 0));
  }
  const keys = () => ["a", "b", "c", "d", "e"].filter((key) => store.keyedRequests.get(key) !== undefined);
  expect(keys()).toEqual(["b", "c", "d"]);
  expect(store.keyedRequests.get("d")).toEqual(request("d", 3));
  await store.write((tx) => tx.keyedRequests.put({ ...request("e", 4), done: false, answer: undefined }, 3));
  expect(keys()).toEqual(["d", "e"]);
  expect(store.keyedRequests.get("e")).toMatchObject({ done: false, answer: undefined });
  await store.write((tx) => tx.keyedRequests.remove("d"));
  expect(keys()).toEqual(["e"]);
  store.close();
  expect(readFileSync(root.path).includes("the answer to")).toBe(false);
  root.remove();
});
