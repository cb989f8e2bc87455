import { afterEach, beforeEach, expect, test } from "bun:test";
import type { DeathRecord } from "../../../../src/orchestration/store/records.ts";
import type { Store } from "../../../../src/orchestration/store/store.ts";
import { deathOf, webKey } from "../../../support/records.ts";
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

const put = (...deaths: DeathRecord[]) =>
  store.write((tx) => {
    for (const death of deaths) tx.deaths.put(death);
  });
const containers = (key = webKey) => store.deaths.list(key).map(({ containerId }) => containerId);

test("a death comes back whole, with and without its optional fields", async () => {
  const full = deathOf("a", 1, { killed: true });
  const bare = deathOf("b", 2, { exitCode: undefined, oomKilled: false, releaseId: undefined, logs: [], probes: [] });
  await put(full, bare);
  expect(store.deaths.list(webKey)).toEqual([bare, full]);
  expect(containers({ ...webKey, name: "db" })).toEqual([]);
});

test("newest first by the time of death, whatever order they were told in", async () => {
  await put(deathOf("b", 20), deathOf("c", 30), deathOf("a", 10));
  expect(containers()).toEqual(["c", "b", "a"]);
});

test("the newest are kept per resource", async () => {
  await put(...[1, 2, 3, 4, 5].map((n) => deathOf(`c${n}`, n)), deathOf("x", 1, { name: "db" }));
  expect(containers()).toEqual(["c5", "c4", "c3"]);
  expect(containers({ ...webKey, name: "db" })).toEqual(["x"]);
  await put(deathOf("late", 2));
  expect(containers()).toEqual(["c5", "c4", "c3"]);
});

test("told twice, a death is kept once as last told; the next death of the same container is another one", async () => {
  await put(deathOf("a", 1, { reason: "exited" }), deathOf("a", 1, { reason: "out of memory" }), deathOf("a", 2));
  expect(store.deaths.list(webKey)).toEqual([deathOf("a", 2), deathOf("a", 1, { reason: "out of memory" })]);
});

test("those beyond the age go, of every resource", async () => {
  await put(deathOf("x", 999, { name: "db" }), deathOf("a", 1_000), deathOf("b", 2_000));
  expect(containers({ ...webKey, name: "db" })).toEqual([]);
  expect(containers()).toEqual(["b", "a"]);
});

test("they outlive their manifest", async () => {
  await store.write((tx) => tx.manifests.put({ ...webKey, kind: "deployment", spec: {} }, 1));
  await put(deathOf("a", 1));
  await store.write((tx) => tx.manifests.delete(webKey));
  expect(containers()).toEqual(["a"]);
});
