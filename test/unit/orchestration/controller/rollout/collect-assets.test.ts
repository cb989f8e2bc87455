import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { sha256Hex } from "../../../../../src/base/pure/digest.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

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
  await it.advance(60_000);
  await it.controller.deleteManifest({ kind: "asset", scope: "shop", name: "page" }, { prune: false, actor: "test" });
  await it.advance(31_000);
  expect(await it.assets.list()).toEqual([sha256Hex("one")]);
  await it.advance(30_000);
  expect(await it.assets.list()).toEqual([]);
});

test("an apply that is refused leaves no files behind, but for those that others use", async () => {
  await it.apply(asset("kept"));
  await it.settle();
  const wrong = deployment("shop", "web", { volumes: ["${asset.missing.index}:/x:ro"] });
  const other = { ...asset("kept"), name: "other", spec: { files: { index: "kept", more: "gone" } } };
  await expectFailure(it.apply([other, wrong]), "invalid");
  expect(await it.assets.list()).toEqual([sha256Hex("kept")]);
});

describe("deleting an asset that something reads", () => {
  const told =
    'asset/shop/page is read by deployment/shop/web, "page.index" in spec.volumes[0]: its containers keep the file, ' +
    "and no change of it can be applied until the asset is back or the reference is gone";
  const page = { kind: "asset", scope: "shop", name: "page" };
  const by = { prune: false, actor: "test" };
  beforeEach(async () => {
    await it.apply([asset("one"), reader]);
    await it.settle();
  });

  test("warns, and what runs keeps its file", async () => {
    expect((await it.controller.deleteManifest(page, by)).warnings).toEqual([told]);
    await it.advance(5 * 60_000);
    expect(await it.assets.list()).toEqual([sha256Hex("one")]);
  });

  test("warns in an apply with prune, too", async () => {
    const { warnings } = await it.apply({ ...asset("two"), name: "another" }, { prune: true, dryRun: true });
    expect(warnings).toEqual([told]);
  });

  test("says nothing where the reader goes as well", async () => {
    const { warnings } = await it.controller.deleteScope("shop", by);
    expect(warnings).toBeUndefined();
  });
});
