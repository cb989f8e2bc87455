import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Delivery } from "../../../../src/orchestration/store/records.ts";
import type { Store } from "../../../../src/orchestration/store/store.ts";
import { expectFailure } from "../../../support/failure.ts";
import { deliveryOf, webKey } from "../../../support/records.ts";
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

const put = (...deliveries: Delivery[]) =>
  store.write((tx) => {
    for (const delivery of deliveries) tx.deliveries.put(delivery);
  });
const listed = () => store.deliveries.list(webKey, 100).map(({ id }) => id);
const due = (now: number, limit = 100) => store.deliveries.due(now, limit).map(({ id }) => id);

test("a delivery comes back whole, also after the server was away", async () => {
  const full = deliveryOf("a", { headers: { A: "1", __proto_: "x" }, body: '{"ü":1}' });
  const bare = deliveryOf("b", { headers: {}, body: "", lastResult: undefined });
  await put(full, bare);
  store.close();
  store = openTestStore(at);
  expect(store.deliveries.list(webKey, 10)).toEqual([bare, full]);
  expect(store.deliveries.list(webKey, 1)).toEqual([bare]);
  expect(store.deliveries.list({ ...webKey, name: "db" }, 10)).toEqual([]);
});

test("an update keeps the place in the list and replaces what a try changes", async () => {
  await put(deliveryOf("a"), deliveryOf("b"));
  const after = deliveryOf("a", { status: "delivered", attempts: 2, nextAt: 300, lastResult: "200" });
  await put(after);
  expect(store.deliveries.list(webKey, 10)).toEqual([deliveryOf("b"), after]);
});

test("due are the waiting ones whose time has come, longest waiting first, no more than asked for", async () => {
  await put(
    deliveryOf("late", { nextAt: 90 }),
    deliveryOf("later", { nextAt: 101 }),
    deliveryOf("now", { nextAt: 100 }),
    deliveryOf("first", { nextAt: 80, name: "db" }),
    deliveryOf("done", { nextAt: 70, status: "delivered" }),
    deliveryOf("gone", { nextAt: 70, status: "dropped" }),
  );
  expect(due(100)).toEqual(["first", "late", "now"]);
  expect(due(100, 2)).toEqual(["first", "late"]);
  expect(due(79)).toEqual([]);
});

test("beyond the cap the oldest that no longer wait go, never one that waits", async () => {
  await put(
    deliveryOf("w1"),
    deliveryOf("d1", { status: "delivered" }),
    deliveryOf("d2", { status: "dropped", name: "db" }),
    deliveryOf("w2"),
  );
  expect(listed()).toEqual(["w2", "w1"]);
  expect(store.deliveries.list({ ...webKey, name: "db" }, 9)).toHaveLength(1);
  await put(deliveryOf("w3"), deliveryOf("w4"));
  expect(listed()).toEqual(["w4", "w3", "w2", "w1"]);
  await put(deliveryOf("w1", { status: "delivered" }));
  expect(listed()).toEqual(["w4", "w3", "w2"]);
});

test("an id of another resource is refused and nothing is written", async () => {
  await put(deliveryOf("a"));
  const failure = await expectFailure(put(deliveryOf("a", { name: "db", body: "other" })), "conflict");
  expect(failure.message).toContain('delivery id "a"');
  expect(store.deliveries.list(webKey, 9)).toEqual([deliveryOf("a")]);
});

test("waiting ones outlive their manifest", async () => {
  await store.write((tx) => tx.manifests.put({ ...webKey, kind: "deployment", spec: {} }, 1));
  await put(deliveryOf("a"));
  await store.write((tx) => tx.manifests.delete(webKey));
  expect(due(100)).toEqual(["a"]);
});
