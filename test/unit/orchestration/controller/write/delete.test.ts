import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Naming } from "../../../../../src/orchestration/core/naming.ts";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { rowsOf } from "../../../../support/rows.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

const names: Naming = naming();
const nothing = { config_wiped: false, app_dir_removed: false, volume_removed: false, volumes_removed: [], errors: [] };
const withClaim = { volume_claims: [{ name: "data", mount_path: "/data" }] };
const db = keyOf("statefulset", "shop", "db");
const web = keyOf("deployment", "shop", "web");

let it: World;
beforeEach(async () => {
  it = await world();
  await it.apply([
    deployment("shop", "web", { replicas: 2 }),
    statefulset("shop", "db", { replicas: 2, ...withClaim }),
    { kind: "ingress", scope: "shop", name: "web", spec: { host: "shop.example.org" } },
    deployment("blog", "web"),
  ]);
  await it.controller.setConfig({ scope: "shop", name: "db" }, { A: "1" }, { restart: false, actor: "ana" });
  await it.controller.setConfig({ scope: "shop", name: undefined }, { B: "1" }, { restart: false, actor: "ana" });
  await it.settle();
});
afterEach(() => it.close());

const options = (prune: boolean) => ({ prune, actor: "ana" });
const volumes = () => it.runtime.listVolumes({}).then((all) => all.map(({ name }) => name).sort());
const appsOnMachine = () => [...new Set(it.containers().map((name) => name.replace(/\..*/, "")))];
const remove = (target: { kind?: string; scope?: string; name?: string }, prune = false) =>
  it.controller.deleteManifest(target, options(prune));
/** Lets the deletion that was asked for come to its end. */
async function done<T>(deletion: Promise<T>): Promise<T> {
  await it.advance(1_000);
  return deletion;
}

/** The same for work that sleeps after it has used the disk: time passes until it is done. */
async function passed<T>(deletion: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  deletion.then(over, over);
  for (let seconds = 0; seconds < 120 && !isOver; seconds++) await it.advance(1_000);
  return deletion;
}

function fillFolders(...apps: string[]): void {
  for (const app of apps) {
    for (const folder of [it.layout.apps, it.layout.volumes]) {
      mkdirSync(join(folder, app, "deep"), { recursive: true });
      writeFileSync(join(folder, app, "deep", "file"), "x");
    }
  }
}

describe("deleting one manifest", () => {
  test("softly takes containers and marks, and leaves config, files and volumes", async () => {
    fillFolders("shop-db");
    await it.controller.stopPod("shop-db.1", { freeze: true, actor: "ana" });
    expect(await done(remove(db))).toEqual({ pruned: nothing });
    await it.settle();
    expect(appsOnMachine()).toEqual(["blog-web", "shop-web"]);
    expect(it.store.frozen.all()).toEqual([]);
    expect(it.store.status.get(db)).toBeUndefined();
    expect(it.store.deletions.list()).toEqual([]);
    expect(await volumes()).toEqual(["berth-shop-db-data-0", "berth-shop-db-data-1"]);
    expect(it.store.config.bucket("shop", "db")).toEqual({ A: "1" });
    expect(existsSync(join(it.layout.apps, "shop-db", "deep", "file"))).toBe(true);
    expect(it.events("manifest.delete")).toMatchObject([
      { actor: "ana", kind: "statefulset", detail: { prune: false } },
    ]);
  });

  test("made anew it gets its volumes back, and no frozen ordinals", async () => {
    await it.controller.stopPod("shop-db.1", { freeze: true, actor: "ana" });
    await done(remove(db));
    await it.settle();
    await it.apply(statefulset("shop", "db", { replicas: 2, ...withClaim }));
    await it.settle();
    expect(it.controller.podReady("shop-db.1").ready).toBe(true);
    expect(await volumes()).toEqual(["berth-shop-db-data-0", "berth-shop-db-data-1"]);
  });

  test("with prune wipes config, files and volumes, and says what went", async () => {
    fillFolders("shop-db", "shop-web");
    expect(await done(remove(db, true))).toEqual({
      pruned: {
        config_wiped: true,
        app_dir_removed: true,
        volume_removed: true,
        volumes_removed: ["berth-shop-db-data-0", "berth-shop-db-data-1"],
        errors: [],
      },
    });
    expect(await volumes()).toEqual([]);
    expect(it.store.config.bucket("shop", "db")).toEqual({});
    expect(it.store.config.bucket("shop", "")).toEqual({ B: "1" });
    expect(existsSync(join(it.layout.apps, "shop-db"))).toBe(false);
    expect(existsSync(join(it.layout.volumes, "shop-web"))).toBe(true);
    await it.apply(statefulset("shop", "db", { replicas: 1, ...withClaim }));
    await it.settle();
    expect(await volumes()).toEqual(["berth-shop-db-data-0"]);
  });

  test("with prune of what had nothing says so", async () => {
    expect(await done(remove({ kind: "deployment", scope: "blog", name: "web" }, true))).toEqual({ pruned: nothing });
  });

  test("keeps the folders while a namesake of another kind uses them", async () => {
    fillFolders("shop-web");
    const { pruned } = await done(remove(web, true));
    expect(pruned).toMatchObject({ app_dir_removed: false, volume_removed: false });
    expect(existsSync(join(it.layout.apps, "shop-web"))).toBe(true);
  });

  test("finds the scope by itself, and refuses what it cannot tell apart", async () => {
    await done(remove({ kind: "statefulsets", name: "db" }));
    expect(it.store.manifests.get(db)).toBeUndefined();
    const rows = rowsOf(it);
    const several = await expectFailure(remove({ kind: "deployment", name: "web" }), "invalid");
    expect(several.message).toContain("exists in several scopes: blog, shop");
    expect((await expectFailure(remove({ kind: "deployment" }), "invalid")).message).toBe("name is required");
    expect((await expectFailure(remove({ name: "web" }), "invalid")).message).toBe("kind is required");
    expect((await expectFailure(remove({ kind: "thing", name: "web" }), "invalid")).message).toContain('"thing"');
    expect((await expectFailure(remove(db), "not_found")).message).toContain("statefulset/shop/db not found");
    expect(rowsOf(it)).toEqual(rows);
  });

  test("never touches volumes of another installation, whatever they are called", async () => {
    const { label } = names;
    const foreign = createForeign({ [label.scope]: "shop", [label.name]: "db", [label.claim]: "data" });
    expect(await volumes()).toContain(foreign);
    const { pruned } = await done(remove(db, true));
    expect(pruned.volumes_removed).not.toContain(foreign);
    expect(await volumes()).toEqual([foreign]);
  });
});

/** A volume whose labels name our resource and somebody else's installation. */
function createForeign(labels: Record<string, string>): string {
  const name = "berth-shop-db-data-7";
  it.runtime.addVolumeByHand(name, { ...labels, [names.label.installation]: "another" });
  return name;
}

describe("a prune that comes while a soft delete is torn down", () => {
  const left = async () => ({ volumes: await volumes(), marks: it.store.deletions.list() });
  const wiped = ["berth-shop-db-data-0", "berth-shop-db-data-1"];

  test.each(["apply", "resource", "scope"])("wipes by %s, and says so only then", async (way) => {
    it.runtime.delay("stop", 5_000);
    await remove(db);
    await it.advance(1_000);
    const target = { scope: "shop", name: "db", ordinal: undefined };
    const pruning = {
      apply: () => remove(db, true).then(({ pruned }) => pruned),
      resource: () => it.controller.deleteResource(target, options(true)).then(onlyRow),
      scope: () => it.controller.deleteScope("shop", options(true)).then(onlyRow),
    }[way as "apply" | "resource" | "scope"]();
    expect(await passed(pruning)).toMatchObject({ volume_removed: true, volumes_removed: wiped, errors: [] });
    expect(await left()).toEqual({ volumes: [], marks: [] });
  });

  test("also where a restart of the server lies between them", async () => {
    it.runtime.delay("stop", 5_000);
    await remove(db);
    await it.advance(1_000);
    const pruning = remove(db, true);
    await it.quiet();
    await it.restart();
    expect((await pruning).pruned.errors).toEqual([
      "the server is stopping: containers, volumes and files go when it has started again",
    ]);
    await it.advance(20_000);
    expect(await left()).toEqual({ volumes: [], marks: [] });
  });

  test("finds a resource that left nothing but containers on their way down", async () => {
    it.runtime.delay("stop", 5_000);
    await remove({ kind: "deployment", scope: "blog", name: "web" });
    await it.advance(1_000);
    const pruning = remove({ kind: "deployment", scope: "blog", name: "web" }, true);
    expect((await passed(pruning)).pruned.errors).toEqual([]);
    expect(appsOnMachine()).not.toContain("blog-web");
  });

  function onlyRow(answer: { resources_wiped?: { kind: string; pruned: object }[] }): object {
    return answer.resources_wiped?.find(({ kind }) => kind === "statefulset")?.pruned ?? {};
  }
});

describe("a deletion that cannot finish", () => {
  test("because the engine is down finishes later, with everything it promised", async () => {
    fillFolders("shop-db");
    it.runtime.engineDown();
    await it.quiet();
    const { pruned } = await remove(db, true);
    expect(pruned).toMatchObject({ config_wiped: true, volumes_removed: [] });
    expect(pruned.errors).toEqual(["docker is away: containers, volumes and files go when it is back"]);
    await it.restart();
    await it.advance(60_000);
    it.runtime.engineUp();
    await it.settle();
    expect(appsOnMachine()).toEqual(["blog-web", "shop-web"]);
    expect(await volumes()).toEqual([]);
    expect(existsSync(join(it.layout.apps, "shop-db"))).toBe(false);
  });

  test("because the engine goes away half way wipes the volumes when it is back", async () => {
    it.runtime.delay("removeVolume", 5_000);
    const deleting = remove(db, true);
    await it.advance(1_000);
    it.runtime.engineDown();
    await it.advance(61_000);
    expect((await deleting).pruned.errors).toEqual([expect.stringContaining("still under way")]);
    expect(it.store.deletions.get(db)).toBeDefined();
    it.runtime.delay("removeVolume", 0);
    it.runtime.engineUp();
    await it.settle();
    expect(await volumes()).toEqual([]);
  });

  test("because a container will not go is tried again, and named", async () => {
    it.runtime.fail("remove", refusal("device or resource busy"), 6);
    await done(remove(web));
    const { degraded } = await it.controller.listPods({}, { detail: false, spec: false });
    expect(degraded).toMatchObject([{ kind: "deployment", name: "web", reason: "device or resource busy" }]);
    await it.settle();
    expect(appsOnMachine()).toEqual(["blog-web", "shop-db"]);
    expect((await it.controller.listPods({}, { detail: false, spec: false })).degraded).toEqual([]);
  });

  test("because a volume is in use elsewhere says so and ends", async () => {
    it.runtime.fail("removeVolume", refusal("volume is in use"), 1);
    const { pruned } = await done(remove(db, true));
    expect(pruned.errors).toEqual(["volume berth-shop-db-data-0: volume is in use"]);
    expect(pruned.volumes_removed).toEqual(["berth-shop-db-data-1"]);
    await it.settle();
    expect(it.store.deletions.list()).toEqual([]);
  });
});

describe("a manifest that is applied again before its containers are gone", () => {
  test("takes them over where the deletion was soft", async () => {
    it.runtime.engineDown();
    await it.quiet();
    await remove(web);
    await it.apply(deployment("shop", "web", { replicas: 2 }));
    expect(it.store.deletions.list()).toEqual([]);
    it.runtime.engineUp();
    await it.settle();
    expect(it.containers().filter((name) => name.startsWith("shop-web."))).toHaveLength(2);
  });

  test("is wiped first where it was a prune", async () => {
    fillFolders("shop-db");
    const before = it.runtime.containers().filter(({ name }) => name.startsWith("shop-db."));
    it.runtime.engineDown();
    await it.quiet();
    await remove(db, true);
    await it.apply(statefulset("shop", "db", { replicas: 1, ...withClaim }));
    it.runtime.engineUp();
    await it.settle();
    await it.advance(60_000);
    expect(existsSync(join(it.layout.apps, "shop-db"))).toBe(false);
    expect(await volumes()).toEqual(["berth-shop-db-data-0"]);
    expect(it.runtime.calls).toContain("removeVolume berth-shop-db-data-0");
    const after = it.runtime.containers().filter(({ name }) => name.startsWith("shop-db."));
    expect(after).toHaveLength(1);
    expect(before.map(({ id }) => id)).not.toContain(after[0]?.id);
  });

  test("and deleted again softly still owes the prune", async () => {
    it.runtime.engineDown();
    await it.quiet();
    await remove(db, true);
    await it.apply(statefulset("shop", "db", { replicas: 1, ...withClaim }));
    await remove(db);
    it.runtime.engineUp();
    await it.settle();
    await it.advance(60_000);
    expect(await volumes()).toEqual([]);
  });
});

function refusal(text: string) {
  return new Failure("conflict", text, { reason: "Other" });
}

describe("deleting every kind under one name", () => {
  const removeAll = (scope?: string, name?: string, prune = false) =>
    it.controller.deleteResource({ scope, name, ordinal: undefined }, options(prune));

  test("reports each", async () => {
    fillFolders("shop-web");
    const answer = await done(removeAll("shop", "web", true));
    expect(answer).toMatchObject({ scope: "shop", name: "web", errors: [] });
    expect(answer.resources_wiped?.map(({ kind }) => kind)).toEqual(["deployment", "ingress"]);
    expect(answer.resources_wiped?.[0]?.pruned).toMatchObject({ app_dir_removed: true, volume_removed: true });
    await it.settle();
    expect(appsOnMachine()).toEqual(["blog-web", "shop-db"]);
  });

  test("refuses what is not there or not said", async () => {
    expect((await expectFailure(removeAll("shop", "nobody"), "not_found")).message).toContain('"shop/nobody"');
    expect((await expectFailure(removeAll(undefined, "web"), "invalid")).message).toBe("scope is required");
    expect((await expectFailure(removeAll("shop"), "invalid")).message).toBe("name is required");
  });
});

describe("deleting a scope", () => {
  test("softly takes its resources and leaves its config", async () => {
    const answer = await done(it.controller.deleteScope("shop", options(false)));
    expect(answer.resources_wiped.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "deployment web",
      "ingress web",
      "statefulset db",
    ]);
    expect(answer).toMatchObject({ scope: "shop", scope_config_wiped: false, errors: [] });
    await it.settle();
    expect(appsOnMachine()).toEqual(["blog-web"]);
    expect(it.store.config.bucket("shop", "")).toEqual({ B: "1" });
    expect(await volumes()).toHaveLength(2);
  });

  test("with prune takes everything", async () => {
    const answer = await done(it.controller.deleteScope("shop", options(true)));
    expect(answer.scope_config_wiped).toBe(true);
    expect(it.store.config.merged("shop", "db")).toEqual({});
    expect(await volumes()).toEqual([]);
    expect(it.events("config.wipe")).toMatchObject([{ actor: "ana", scope: "shop" }]);
  });

  test("that is empty is fine, none is not", async () => {
    expect(await it.controller.deleteScope("nowhere", options(true))).toEqual({
      scope: "nowhere",
      resources_wiped: [],
      scope_config_wiped: false,
      errors: [],
    });
    expect((await expectFailure(it.controller.deleteScope(undefined, options(true)), "invalid")).message).toBe(
      "scope is required",
    );
  });
});
