import { afterEach, beforeEach, expect, test } from "bun:test";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
  await it.apply([deployment("shop", "web")]);
});
afterEach(() => it.close());

const actor = { actor: "ana" };
const put = (branch: string, change: object = {}) =>
  it.controller.putPreview({ of: "shop", branch, host: "x.example.com", for: "2d", ...change }, actor);
const scopes = () => it.controller.listPreviews({}).previews.map(({ scope }) => scope);
const stored = () => it.store.manifests.heads().map(({ scope }) => scope);

test("a preview has a scope, lives longer with each push, and keeps its beginning", async () => {
  const first = await put("cart");
  expect(first).toMatchObject({ scope: "shop-cart", of: "shop", branch: "cart", host: "x.example.com" });
  expect(Date.parse(first.until) - Date.parse(first.since)).toBe(2 * 86_400_000);
  await it.apply([deployment("shop-cart", "web")]);
  const again = await put("cart", { for: "3d", host: undefined });
  expect([again.since, Date.parse(again.until) > Date.parse(first.until), again.host]).toEqual([
    first.since,
    true,
    undefined,
  ]);
  expect(it.controller.listPreviews({ of: "blog" }).previews).toEqual([]);
  expect(scopes()).toEqual(["shop-cart"]);
});

test("a scope that somebody else uses is never taken", async () => {
  await it.apply([deployment("shop-cart", "web")]);
  await expect(put("cart")).rejects.toThrow('the scope "shop-cart" exists, and is not a preview');
  expect(scopes()).toEqual([]);
});

test("a scope with volumes that a delete has kept is never taken", async () => {
  await it.apply([statefulset("shop-cart", "db", { volume_claims: [{ name: "data", mount_path: "/data" }] })]);
  await it.controller.deleteScope("shop-cart", { prune: false, actor: "ana" });
  await it.settle();
  expect(it.store.volumes.all()).toHaveLength(1);
  await expect(put("cart")).rejects.toThrow('the scope "shop-cart" has volumes or files of "db"');
  expect(scopes()).toEqual([]);
});

test("deleting one deletes its scope and nothing else", async () => {
  await put("cart");
  await it.apply([deployment("shop-cart", "web")]);
  await it.controller.deletePreview({ of: "shop", branch: "cart" }, actor);
  expect([scopes(), stored()]).toEqual([[], ["shop"]]);
  await expect(it.controller.deletePreview({ of: "shop", branch: "cart" }, actor)).rejects.toThrow("has no preview");
  await expect(it.controller.deletePreview({ of: "shop", branch: "web" }, actor)).rejects.toThrow("has no preview");
});

test("a branch of another scope whose name comes out the same gets neither the preview nor its end", async () => {
  await put("b-c");
  await it.apply([deployment("shop-b-c", "web")]);
  const other = { of: "shop-b", branch: "c" };
  await expect(put("c", { of: "shop-b" })).rejects.toThrow(
    'the scope "shop-b-c" is the preview of the branch "b-c" of shop',
  );
  await expect(it.controller.deletePreview(other, actor)).rejects.toThrow('shop-b has no preview of the branch "c"');
  expect(it.controller.listPreviews({}).previews).toMatchObject([{ scope: "shop-b-c", of: "shop", branch: "b-c" }]);
  expect(stored()).toEqual(["shop", "shop-b-c"]);
});

test.each([
  [{ of: undefined }, "of"],
  [{ of: "Shop" }, "scope"],
  [{ of: "s".repeat(38) }, "too long for previews"],
  [{ branch: "" }, "branch"],
  [{ branch: "x".repeat(251) }, "longer than 250 characters"],
  [{ for: undefined }, "for"],
  [{ for: "soon" }, '"soon" is not a length of time'],
  [{ for: "0s" }, '"0s" is not a length of time'],
  [{ host: "a b" }, '"a b" is not a host name'],
])("%j is refused", async (change, text) => {
  const refused = (async () => put("cart", change))();
  await expect(refused).rejects.toThrow(text);
  expect(scopes()).toEqual([]);
});

test("no more than the limit at one time", async () => {
  for (let count = 0; count < 100; count++) await put(`b${count}`);
  await expect(put("one-more")).rejects.toThrow("there are 100 previews already");
  expect(await put("b5")).toMatchObject({ scope: "shop-b5" });
});

test("at the end of its time a preview is deleted with its scope, and the event says why", async () => {
  await put("cart", { for: "2h" });
  await put("longer", { for: "3h" });
  await it.apply([deployment("shop-cart", "web"), deployment("shop-longer", "web")]);
  await it.advance(2 * 3_600_000 - 60_000);
  expect(scopes()).toEqual(["shop-cart", "shop-longer"]);
  await it.advance(3 * 60_000);
  await it.settle();
  expect([scopes(), stored().toSorted()]).toEqual([["shop-longer"], ["shop", "shop-longer"]]);
  const events = it.store.events.list({ limit: 100 }).filter(({ action }) => action === "preview.delete");
  expect(events).toMatchObject([{ scope: "shop-cart", detail: { branch: "cart", why: "its time is over" } }]);
});

test("a clock that is a year ahead for an hour ends no preview", async () => {
  await put("cart", { for: "2h" });
  await it.apply([deployment("shop-cart", "web")]);
  it.clock.jump(366 * 24 * 3_600_000);
  await it.advance(3_600_000);
  it.clock.jump(-366 * 24 * 3_600_000);
  expect(scopes()).toEqual(["shop-cart"]);
  await it.advance(3_600_000 + 3 * 60_000);
  await it.settle();
  expect(scopes()).toEqual([]);
});
