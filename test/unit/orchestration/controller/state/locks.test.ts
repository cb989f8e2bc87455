import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { operator } from "../../../../../src/access/principal.ts";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { acting, testPlugins, writePlugin } from "../../../../support/plugins.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world({ plugins: (layout) => testPlugins(layout) });
  writePlugin(it.layout, "tool", {
    commands: {
      write: acting([{ type: "apply_manifest", manifest: deployment("shop", "web", { env: { A: "2" } }) }]),
      set: acting([{ type: "config_set", scope: "shop", name: "web", kv: { B: "1" } }]),
      drop: acting([{ type: "delete_manifest", kind: "deployment", scope: "shop", name: "web" }]),
    },
  });
  const release = { command: ["migrate"] };
  await it.apply([
    deployment("shop", "web", { env: { A: "1" }, release }),
    statefulset("shop", "db"),
    deployment("blog", "web"),
  ]);
  await it.quiet();
  const [command] = it.containers().filter((name) => name.startsWith("shop-web-release."));
  it.runtime.finish(command ?? "", 0);
  await it.settle();
});
afterEach(() => it.close());

const actor = { actor: "ben" };
const lock = (scope: string, name?: string, length?: string) =>
  it.controller.lock({ scope, name, reason: "the database moves", for: length }, { actor: "ana" });
const web = { scope: "shop", name: "web" };
const byPlugin = (command: string) =>
  it.controller.dispatchPlugin({ plugin: "tool", command, body: {} }, { ...actor, by: operator, restart: true });
const revisions = () => it.store.manifests.heads().map(({ scope, name, generation }) => [scope, name, generation]);

/** Every change of shop/web. */
const changes: Record<string, () => unknown> = {
  apply: () => it.apply(deployment("shop", "web", { env: { A: "2" } })),
  "apply with prune": () => it.apply([deployment("shop", "other")], { prune: true }),
  delete: () => it.controller.deleteManifest({ kind: "deployment", ...web }, { prune: false, ...actor }),
  "delete of the resource": () =>
    it.controller.deleteResource({ ...web, ordinal: undefined }, { prune: true, ...actor }),
  "delete of the scope": () => it.controller.deleteScope("shop", { prune: true, ...actor }),
  config: () => it.controller.setConfig(web, { B: "1" }, { restart: true, ...actor }),
  "config of the scope": () =>
    it.controller.setConfig({ scope: "shop", name: undefined }, { B: "1" }, { restart: true, ...actor }),
  "config unset": () => it.controller.unsetConfig({ ...web, key: "A" }, { restart: true, ...actor }),
  scale: () => it.controller.scale({ ...web, kind: undefined, replicas: "3" }, actor),
  restart: () => it.controller.restart({ ...web, kind: undefined }, { wait: false, ...actor }),
  rollback: () => it.controller.rollback({ ...web, kind: undefined, releaseId: undefined }, actor),
  release: () => it.controller.runRelease({ ...web, kind: undefined }, { follow: false, ...actor }),
  "what a plugin writes": () => byPlugin("write"),
  "the config that a plugin sets": () => byPlugin("set"),
  "what a plugin deletes": () => byPlugin("drop"),
};

const outcome = async (change: () => unknown) => {
  try {
    await change();
    return "done";
  } catch (error) {
    return error instanceof Failure ? (error.reason ?? error.code) : error;
  }
};

describe("a lock", () => {
  test.each(Object.keys(changes))("of the scope, or of the app, refuses %s and changes nothing", async (name) => {
    const change = changes[name] as () => unknown;
    const before = revisions();
    for (const place of [undefined, "web"]) {
      await lock("shop", place);
      expect(await outcome(change)).toBe("Locked");
      expect(revisions()).toEqual(before);
      await it.controller.unlock({ scope: "shop", name: place }, actor);
    }
    expect(await outcome(change)).not.toBe("Locked");
  });

  test("refuses no dry run", async () => {
    await lock("shop");
    const before = revisions();
    const dry = { ...actor, dryRun: true };
    expect(await outcome(() => it.controller.setConfig(web, { B: "1" }, { restart: true, ...dry }))).toBe("done");
    expect(await outcome(() => it.controller.unsetConfig({ ...web, key: "A" }, { restart: true, ...dry }))).toBe(
      "done",
    );
    const back = () => it.controller.rollback({ ...web, kind: undefined, releaseId: undefined }, dry);
    expect(await outcome(back)).not.toBe("Locked");
    expect(revisions()).toEqual(before);
  });

  test("says who locked what, since when, and why", async () => {
    await lock("shop", "web", "2h");
    const since = "2026-01-01T00:0";
    expect(changes.scale?.()).rejects.toThrow(
      new RegExp(`shop/web is locked by ana since ${since}.*: the database moves`),
    );
    expect(it.controller.listLocks({}).locks).toMatchObject([
      { scope: "shop", name: "web", actor: "ana", reason: "the database moves", until: expect.any(String) },
    ]);
    expect(it.events("lock")).toMatchObject([{ actor: "ana", scope: "shop", name: "web" }]);
  });

  test("is a warning of a dry run", async () => {
    await lock("shop");
    const { warnings } = await it.apply(deployment("shop", "web", { env: { A: "2" } }), { dryRun: true });
    expect(warnings).toEqual([expect.stringContaining("scope shop is locked by ana")]);
  });

  test("of an app leaves its neighbours alone", async () => {
    await lock("shop", "web");
    expect(
      await outcome(() => it.apply([statefulset("shop", "db", { env: { A: "2" } }), deployment("blog", "web")])),
    ).toBe("done");
    expect(
      await outcome(() => it.apply([deployment("shop", "web"), deployment("blog", "web", { env: { B: "1" } })])),
    ).toBe("Locked");
    expect(it.store.manifests.get(keyOf("deployment", "blog", "web"))?.spec.env).toBeUndefined();
  });

  test("keeps nothing from healing, and no failed release from going back", async () => {
    const rollout = { progress_deadline: "5s" };
    await it.apply(deployment("shop", "app", { env: { V: "1" }, rollout }));
    await it.settle();
    await it.apply(deployment("shop", "app", { env: { V: "2" }, rollout, image: "missing:1" }));
    await lock("shop");
    await it.advance(120_000);
    await it.settle();
    expect(it.store.releases.list(keyOf("deployment", "shop", "app"))[0]?.cause).toBe("auto_rollback");
  });

  test("ends by itself when it was told to, and then another may lock", async () => {
    await lock("shop", undefined, "30m");
    await it.advance(29 * 60_000);
    expect(await outcome(changes.scale as () => unknown)).toBe("Locked");
    expect(await outcome(() => lock("shop"))).toBe("Locked");
    await it.advance(60_001);
    expect(it.controller.listLocks({}).locks).toEqual([]);
    expect(await outcome(() => it.controller.unlock({ scope: "shop" }, actor))).toBe("not_found");
    expect(await outcome(changes.scale as () => unknown)).toBe("done");
    expect(await outcome(() => lock("shop"))).toBe("done");
  });

  test.each([
    [{ scope: undefined, reason: "x" }, "scope"],
    [{ scope: "shop", reason: " " }, "query reason: is required"],
    [{ scope: "shop", reason: "a\nb" }, "reason: it must be one line"],
    [{ scope: "SHOP/..", reason: "x" }, "scope"],
    [{ scope: "shop", reason: "x", for: "soon" }, 'query for: "soon" is not a length of time'],
    [{ scope: "shop", reason: "x", for: "0" }, 'query for: "0" is not a length of time'],
  ])("that is not one is refused: %j", async (target, message) => {
    expect(async () => it.controller.lock(target, actor)).toThrow(message);
    expect(it.controller.listLocks({}).locks).toEqual([]);
  });
});
