import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
  const claims = { volume_claims: [{ name: "data", mount_path: "/data" }] };
  await it.apply([statefulset("shop", "db", claims), deployment("shop", "web", { volumes: ["files:/files"] })]);
  await it.settle();
});
afterEach(() => it.close());

const states = async () => {
  const { volumes } = await it.controller.disk({ wait: true });
  return volumes.map(({ volume, name, state, remove = "" }) => [volume, name, state, remove]);
};

describe("what fills the disk", () => {
  test("is measured in the background, and what was measured is shown until it is old", async () => {
    const first = await it.controller.disk({ wait: false });
    expect([first.measuring, first.engine]).toEqual([true, undefined]);
    const { engine, stores, measured_at: at } = await it.controller.disk({ wait: true });
    expect(engine?.volumes).toEqual({ count: 2, bytes: 2_000 });
    expect(stores.find(({ name }) => name === "platform database")?.bytes).toBeGreaterThan(0);
    const asked = it.runtime.calls.filter((call) => call.startsWith("diskUse")).length;
    expect((await it.controller.disk({ wait: true })).measured_at).toBe(at ?? "");
    expect(it.runtime.calls.filter((call) => call.startsWith("diskUse")).length).toBe(asked);
  });

  test("holds what restic keeps of the backup targets", async () => {
    mkdirSync(join(it.layout.copies, "cache"), { recursive: true });
    writeFileSync(join(it.layout.copies, "cache", "index"), Buffer.alloc(200_000));
    const { stores } = await it.controller.disk({ wait: true });
    expect(stores.find(({ path }) => path === it.layout.copies)?.bytes).toBeGreaterThanOrEqual(200_000);
  });

  test("says why it could not be measured, and keeps what was known", async () => {
    await it.controller.disk({ wait: true });
    it.runtime.engineDown();
    await it.advance(120_000);
    const { error, engine } = await it.controller.disk({ wait: true });
    expect([typeof error, engine?.volumes.count]).toEqual(["string", 2]);
  });

  test("volumes have their app, and of a deleted one the command that removes them", async () => {
    expect(await states()).toEqual([
      ["berth-shop-db-data-0", "db", "used", ""],
      ["berth_shop_files", "web", "used", ""],
    ]);
    const deleted = it.controller.deleteResource(
      { scope: "shop", name: "db", ordinal: undefined },
      { prune: false, actor: "ana" },
    );
    await it.advance(1_000);
    await deleted;
    await it.settle();
    await it.advance(120_000);
    expect((await states())[0]).toEqual(["berth-shop-db-data-0", "db", "leftover", "berth delete shop/db --prune"]);
  });
});

describe("a prune", () => {
  test("removes images that nothing needs, and keeps those of rollbacks, of others and of pods", async () => {
    const foreign = it.runtime.addImage("foreign:1");
    const old = it.runtime.addImage("old:1", { sizeBytes: 500 });
    await it.store.write((tx) => tx.images.pulled(old.id, "old:1", it.clock.now()));
    const plan = await it.controller.planPrune();
    expect(plan).toMatchObject({ images: [{ id: old.id, ref: "old:1", bytes: 500 }], bytes: 500, leftovers: [] });
    const images = () => it.runtime.listImages().then((all) => all.map(({ id }) => id));
    expect(await images()).toContain(old.id);
    const done = await it.controller.prune({ actor: "ana" });
    expect(done).toMatchObject({ images: [{ ref: "old:1" }], bytes: 500 });
    expect(await images()).not.toContain(old.id);
    expect(await images()).toContain(foreign.id);
    expect(it.events("disk.prune")).toMatchObject([{ actor: "ana" }]);
    expect((await it.controller.planPrune()).images).toEqual([]);
  });
});
