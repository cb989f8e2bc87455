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

const web = { kind: "ingress", scope: "shop", name: "web" };
const api = { kind: "ingress", scope: "shop", name: "api" };
const job = { kind: "job", scope: "shop", name: "web" };
const reservation = (name: string, owner: string) => ({ name, owner });

const conflicts = (key: typeof web, ...reservations: { name: string; owner: string }[]) =>
  store.write((tx) => tx.manifests.reservationConflicts(key, reservations));

beforeEach(() =>
  store.write((tx) =>
    tx.manifests.setReservations(web, [reservation("app:shop-web", "shop/web"), reservation("a.test", "web")]),
  ),
);

test("a reservation of another owner conflicts and names its holder", async () => {
  expect(await conflicts(api, reservation("a.test", "api"), reservation("b.test", "api"))).toEqual([
    { name: "a.test", heldBy: web },
  ]);
});

test("the same owner may reserve a name through several manifests", async () => {
  expect(await conflicts(job, reservation("app:shop-web", "shop/web"))).toEqual([]);
  await store.write((tx) => tx.manifests.setReservations(job, [reservation("app:shop-web", "shop/web")]));
  expect(await conflicts(api, reservation("app:shop-web", "other"))).toEqual([{ name: "app:shop-web", heldBy: web }]);
});

test("a manifest does not conflict with itself", async () => {
  expect(await conflicts(web, reservation("a.test", "renamed"))).toEqual([]);
});

test("setting reservations replaces the former ones, and a name reserved twice is one", async () => {
  await store.write((tx) =>
    tx.manifests.setReservations(web, [reservation("c.test", "web"), reservation("c.test", "web")]),
  );
  expect(await conflicts(api, reservation("a.test", "api"), reservation("c.test", "api"))).toEqual([
    { name: "c.test", heldBy: web },
  ]);
});
