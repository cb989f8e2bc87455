import { afterEach, beforeEach, expect, test } from "bun:test";
import { sha256Hex } from "../../../src/core/digest.ts";
import { deployment } from "../../support/manifests.ts";
import { type World, world } from "../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const asset = (text: string) => ({ kind: "asset", scope: "shop", name: "page", spec: { files: { index: text } } });
const reader = deployment("shop", "web", { volumes: ["${asset.page.index}:/www/index.html:ro"] });
const twoHours = 2 * 60 * 60_000 + 60_000;

test("files that no manifest and no release refers to are removed, the others stay", async () => {
  await it.apply([asset("one"), reader]);
  await it.settle();
  const stray = await it.assets.put(new TextEncoder().encode("nobody's"));
  await it.apply(asset("two"));
  await it.settle();
  await it.advance(twoHours);
  const left = await it.assets.list();
  expect(left).not.toContain(stray);
  // "one" belongs to a release that a rollback can return to.
  expect(left.sort()).toEqual([sha256Hex("one"), sha256Hex("two")].sort());
  await it.controller.deleteScope("shop", { prune: false, actor: "test" });
  await it.advance(twoHours);
  expect(await it.assets.list()).toEqual([]);
});

test("a file that was needed at the last look is not removed at this one", async () => {
  await it.apply(asset("one"));
  await it.settle();
  await it.advance(59 * 60_000);
  await it.controller.deleteManifest({ kind: "asset", scope: "shop", name: "page" }, { prune: false, actor: "test" });
  await it.advance(2 * 60_000);
  expect(await it.assets.list()).toEqual([sha256Hex("one")]);
});
