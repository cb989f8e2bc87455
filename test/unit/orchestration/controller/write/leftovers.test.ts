import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
  const claims = { volume_claims: [{ name: "data", mount_path: "/data" }] };
  await it.apply([
    statefulset("shop", "db", claims),
    deployment("shop", "web", { volumes: ["files:/files"] }),
    deployment("blog", "web"),
  ]);
  await it.controller.setConfig({ scope: "shop", name: "db" }, { A: "1", B: "2" }, { restart: false, actor: "ana" });
  await it.controller.setConfig({ scope: "shop", name: undefined }, { C: "3" }, { restart: false, actor: "ana" });
  mkdirSync(join(it.layout.apps, "shop-web"), { recursive: true });
  await it.settle();
});
afterEach(() => it.close());

const listed = (scope?: string, name?: string) => it.controller.listLeftovers({ scope, name });
const volumes = () => it.runtime.listVolumes({}).then((all) => all.map(({ name }) => name).sort());
const wiping = { prune: true, actor: "ana" };

/** Lets what was asked for come to its end. */
async function done<T>(asked: Promise<T>): Promise<T> {
  await it.advance(1_000);
  return asked;
}

async function deletedSoftly(): Promise<void> {
  await done(it.controller.deleteScope("shop", { prune: false, actor: "ana" }));
}

const left = { scope: "shop", name: "", kinds: [], volumes: [], config_keys: 0, folders: [], kept: [] };
const ofDb = { ...left, name: "db", kinds: ["statefulset"], volumes: ["berth-shop-db-data-0"], config_keys: 2 };
const ofWeb = () => ({
  ...left,
  name: "web",
  kinds: ["deployment"],
  volumes: ["berth_shop_files"],
  folders: [join(it.layout.apps, "shop-web")],
});

describe("what a delete without prune leaves", () => {
  test("is nothing while everything is stored, and is listed afterwards, by scope and by name", async () => {
    expect(await listed()).toEqual({ leftovers: [] });
    await deletedSoftly();
    expect(await listed()).toEqual({ leftovers: [{ ...left, config_keys: 1 }, ofDb, ofWeb()] });
    expect(await listed("blog")).toEqual({ leftovers: [] });
    expect((await listed("shop", "db")).leftovers).toEqual([ofDb]);
  });

  test("is listed from our own records while the engine is away", async () => {
    await deletedSoftly();
    it.runtime.engineDown();
    await it.advance(2_000);
    const { leftovers, errors } = await listed("shop", "db");
    expect(leftovers).toEqual([ofDb]);
    expect(errors?.[0]).toStartWith("volumes: ");
  });

  test("goes with DELETE /apply, which finds the scope by itself", async () => {
    await deletedSoftly();
    const { pruned } = await done(it.controller.deleteManifest({ kind: "statefulset", name: "db" }, wiping));
    expect(pruned).toMatchObject({ config_wiped: true, volumes_removed: ["berth-shop-db-data-0"] });
    expect((await listed("shop", "db")).leftovers).toEqual([]);
    const again = it.controller.deleteManifest({ kind: "statefulset", scope: "shop", name: "db" }, wiping);
    await expectFailure(again, "not_found");
  });

  test("stays where the delete does not prune", async () => {
    await deletedSoftly();
    const target = { kind: "statefulset", scope: "shop", name: "db" };
    await expectFailure(it.controller.deleteManifest(target, { prune: false, actor: "ana" }), "not_found");
    expect(await volumes()).toEqual(["berth-shop-db-data-0", "berth_shop_files"]);
  });

  test("goes with DELETE /resource, whatever its kind was", async () => {
    await deletedSoftly();
    const where = { scope: "shop", name: "web", ordinal: undefined };
    const { resources_wiped: wiped } = await done(it.controller.deleteResource(where, wiping));
    expect(wiped).toMatchObject([
      { kind: "deployment", pruned: { app_dir_removed: true, volumes_removed: ["berth_shop_files"] } },
    ]);
    expect(existsSync(join(it.layout.apps, "shop-web"))).toBe(false);
  });

  test("is called config where no resource left it", async () => {
    await it.controller.setConfig({ scope: "solo", name: "shared" }, { A: "1" }, { restart: false, actor: "ana" });
    const wiped = await done(it.controller.deleteScope("solo", wiping));
    expect(wiped.resources_wiped).toMatchObject([{ kind: "config", name: "shared", pruned: { config_wiped: true } }]);
  });

  test("goes with DELETE /scope, with the config of the scope, and nothing of other scopes", async () => {
    await it.controller.setConfig({ scope: "blog", name: "old" }, { A: "1" }, { restart: false, actor: "ana" });
    await deletedSoftly();
    const wiped = await done(it.controller.deleteScope("shop", wiping));
    expect(wiped).toMatchObject({ scope_config_wiped: true, errors: [] });
    expect(wiped.resources_wiped.map(({ kind, name }) => `${kind}/${name}`)).toEqual([
      "statefulset/db",
      "deployment/web",
    ]);
    expect(await volumes()).toEqual([]);
    expect((await listed()).leftovers.map(({ scope, name }) => `${scope}/${name}`)).toEqual(["blog/old"]);
  });

  test("the config of a namesake that is stored stays", async () => {
    await it.controller.deleteManifest(
      { kind: "statefulset", scope: "shop", name: "db" },
      { prune: false, actor: "a" },
    );
    await it.apply(deployment("shop", "db"));
    await it.settle();
    expect((await listed("shop", "db")).leftovers).toEqual([{ ...ofDb, config_keys: 0 }]);
    const where = { kind: "statefulset", scope: "shop", name: "db" };
    const { pruned } = await done(it.controller.deleteManifest(where, wiping));
    expect(pruned).toMatchObject({ config_wiped: false, volumes_removed: ["berth-shop-db-data-0"] });
    expect(it.store.config.bucket("shop", "db")).toEqual({ A: "1", B: "2" });
  });
});

test("a volume that no prune removes is listed with the way to remove it", async () => {
  await it.apply(deployment("shop", "web", { volumes: ["berth-shop-web-backups:/backups"] }));
  await it.settle();
  await done(it.controller.deleteManifest({ kind: "deployment", scope: "shop", name: "web" }, wiping));
  expect((await listed("shop")).leftovers).toEqual([
    { ...left, kept: ["berth-shop-web-backups: docker volume rm berth-shop-web-backups"] },
  ]);
});
