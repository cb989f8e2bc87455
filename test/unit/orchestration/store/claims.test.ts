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
const claim = (name: string, owner: string) => ({ claim: name, owner });

const conflicts = (key: typeof web, ...claims: { claim: string; owner: string }[]) =>
  store.write((tx) => tx.manifests.claimConflicts(key, claims));

beforeEach(() =>
  store.write((tx) => tx.manifests.setClaims(web, [claim("app:shop-web", "shop/web"), claim("a.test", "web")])),
);

test("a claim of another owner conflicts and names its holder", async () => {
  expect(await conflicts(api, claim("a.test", "api"), claim("b.test", "api"))).toEqual([
    { claim: "a.test", heldBy: web },
  ]);
});

test("the same owner may hold a claim through several manifests", async () => {
  expect(await conflicts(job, claim("app:shop-web", "shop/web"))).toEqual([]);
  await store.write((tx) => tx.manifests.setClaims(job, [claim("app:shop-web", "shop/web")]));
  expect(await conflicts(api, claim("app:shop-web", "other"))).toEqual([{ claim: "app:shop-web", heldBy: web }]);
});

test("a manifest does not conflict with itself", async () => {
  expect(await conflicts(web, claim("a.test", "renamed"))).toEqual([]);
});

test("setting claims replaces the former ones, a claim named twice is one", async () => {
  await store.write((tx) => tx.manifests.setClaims(web, [claim("c.test", "web"), claim("c.test", "web")]));
  expect(await conflicts(api, claim("a.test", "api"), claim("c.test", "api"))).toEqual([
    { claim: "c.test", heldBy: web },
  ]);
});
