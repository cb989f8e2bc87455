import { afterEach, beforeEach, expect, test } from "bun:test";
import type { PluginRoom } from "../../../../../src/orchestration/controller/state/plugin-room.ts";
import { printing, testPlugins, writePlugin } from "../../../../support/plugins.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
let isHeld: boolean;
/** What mounts volumes is not of this server. */
let byHand: boolean;
/** The copies that this server knows. */
let copies: Record<string, number>;
/** Manifests that were read from the store. */
let reads: string[];
beforeEach(async () => {
  isHeld = false;
  byHand = false;
  [copies, reads] = [{}, []];
  it = await world({
    isHeld: () => isHeld,
    newestCopy: ({ scope, name, claim }) => copies[`${scope}/${name}/${claim}`],
    wrapStore: (store) => {
      const get: typeof store.manifests.get = (key) => {
        reads.push(key.name);
        return store.manifests.get(key);
      };
      return new Proxy(store, {
        get: (of, what) => (what === "manifests" ? { ...store.manifests, get } : Reflect.get(of, what)),
      });
    },
    wrapRuntime: (runtime) => ({
      ...runtime,
      async volumeUsers(name) {
        const users = await runtime.volumeUsers(name);
        return byHand ? users.map((one) => ({ ...one, labels: {}, identity: undefined, name: "by-hand" })) : users;
      },
    }),
  });
});
afterEach(() => it.close());

const withData = { volumes: ["data:/data"] };
const claims = { volume_claims: [{ name: "data", mount_path: "/data" }] };
const states = () =>
  it.runtime
    .containers()
    .map(({ state }) => state)
    .sort();

test("the volumes of apps are listed as their copies name them", async () => {
  await it.apply([deployment("shop", "web", withData), statefulset("shop", "db", { ...claims, replicas: 2 })]);
  await it.settle();
  await it.apply(deployment("shop", "worker", { volumes: ["made-by-hand:/other:external"] }));
  const rows = it.running.volumes.list().map(({ name, claim, ordinal, volume }) => [name, claim, ordinal, volume]);
  expect(rows).toEqual([
    ["web", "data", undefined, "berth_shop_data"],
    ["worker", "made-by-hand", undefined, "made-by-hand"],
    ["db", "data", 0, "berth-shop-db-data-0"],
    ["db", "data", 1, "berth-shop-db-data-1"],
  ]);
});

test("a manifest is read again for the list of volumes only once it has changed", async () => {
  await it.apply([deployment("shop", "web", withData), statefulset("shop", "db", { ...claims, replicas: 0 })]);
  await it.settle();
  const readFor = (): string[] => {
    reads = [];
    it.running.volumes.list();
    return reads.sort();
  };
  expect([readFor(), readFor()]).toEqual([["db", "web"], []]);
  const { apps } = it.running.volumes;
  expect(apps().map(({ name, backup }) => [name, backup?.everyText])).toEqual([
    ["web", undefined],
    ["db", undefined],
  ]);
  await it.apply(deployment("shop", "web", { ...withData, backup: { every: "2d" } }));
  expect([readFor(), readFor()]).toEqual([["web"], []]);
  expect(apps().map(({ backup }) => backup?.everyText)).toEqual(["2d", undefined]);
  await it.controller.deleteManifest(
    { kind: "deployment", scope: "shop", name: "web" },
    { prune: false, actor: "ana" },
  );
  expect([readFor(), apps().map(({ name }) => name)]).toEqual([[], ["db"]]);
});

test("while a volume is held, its replicas are stopped and none starts, whatever is asked for; then they start again", async () => {
  await it.apply([deployment("shop", "web", withData), deployment("shop", "other")]);
  await it.settle();
  const release = it.running.volumes.hold("berth_shop_data");
  const stopping = it.running.volumes.stopUsers("berth_shop_data");
  await it.advance(10_000);
  await stopping;
  expect(states()).toEqual(["exited", "running"]);
  await it.apply(deployment("shop", "web", { ...withData, replicas: 2, env: { CHANGED: "1" } }));
  await it.apply(deployment("shop", "worker", withData));
  await it.running.reconciler.resync();
  await it.advance(120_000);
  expect(states()).toEqual(["exited", "running"]);
  expect(JSON.stringify(await it.status("deployment", "shop", "web"))).toContain("is being restored");
  release();
  await it.settle();
  expect(states()).toEqual(["running", "running", "running", "running"]);
});

test.each([{}, { restart: "no" }])("a replica that was stopped for a restore has not died: %p", async (restart) => {
  const held = ["berth_shop_data", "berth-shop-db-data-0"];
  const claimed = statefulset("shop", "db", { ...claims, ...restart });
  await it.apply([deployment("shop", "web", { ...withData, ...restart }), claimed]);
  await it.settle();
  const whys = async () => {
    const targets = ["web", "db"].map((name) => it.controller.why({ scope: "shop", name }));
    return (await Promise.all(targets)).map(({ phase, deaths }) => `${phase} ${deaths}`);
  };
  for (const byOlderServer of [false, true]) {
    const releases = held.map((volume) => it.running.volumes.hold(volume));
    if (byOlderServer) for (const name of it.containers()) it.runtime.stopByHand(name);
    const stopping = held.map((volume) => it.running.volumes.stopUsers(volume));
    await it.advance(10_000);
    await Promise.all(stopping);
    for (const text of await whys()) expect(text).toEndWith(" 0");
    for (const release of releases) release();
    await it.settle();
    expect(await whys()).toEqual(["ready 0", "ready 0"]);
  }
  expect(it.events("replica.start").map(({ detail }) => detail?.why)).toContain("it was stopped for a restore");
  // What dies afterwards has died.
  it.runtime.kill(it.containers().find((name) => name.startsWith("shop-web")) ?? "", 137);
  await it.advance(10_000);
  expect((await whys())[0]).toEndWith(" 1");
});

test("what had ended before a restore stays ended", async () => {
  await it.apply(deployment("shop", "web", { ...withData, restart: "no" }));
  await it.settle();
  it.runtime.finish(it.containers()[0] ?? "", 0);
  await it.advance(10_000);
  it.running.volumes.hold("berth_shop_data")();
  await it.advance(60_000);
  expect(states()).toEqual(["exited"]);
});

test("a container that is not a replica is not stopped for it, and is named", async () => {
  await it.apply(deployment("shop", "web", withData));
  await it.settle();
  byHand = true;
  const stopping = it.running.volumes.stopUsers("berth_shop_data");
  expect(stopping).rejects.toThrow('used by container "by-hand", which is not a replica');
  await stopping.catch(() => undefined);
  expect(states()).toEqual(["running"]);
});

test("after a restore of the server, a protected volume that is gone is not replaced by an empty one", async () => {
  isHeld = true;
  await it.restart();
  const backup = { every: "1d" };
  await it.apply([
    deployment("shop", "web", { ...withData, backup }),
    deployment("shop", "cache", { volumes: ["cache:/cache"] }),
    deployment("shop", "part", { volumes: ["first:/a", "second:/b"], backup: { volumes: ["first"] } }),
  ]);
  await it.advance(5_000);
  const names = (await it.runtime.listVolumes({})).map(({ name }) => name);
  expect(names).toEqual(["berth_shop_cache"]);
  const said = async () => JSON.stringify(await it.status("deployment", "shop", "web"));
  expect(await said()).toContain("VolumeMissing");
  expect(await said()).toContain(
    "is gone; this server knows of no copy of it: berth backup list asks the targets, or start empty with",
  );
  copies["shop/web/data"] = Date.parse("2026-11-28T14:05:00Z");
  await it.advance(600_000);
  expect(await said()).toContain(
    "is gone; bring back its copy of 2026-11-28T14:05:00.000Z with berth backup restore shop/web, or start empty with",
  );
});

test("a block is dumped by the commands of its own plugin, as far as that was granted", async () => {
  await it.close();
  let plugins: PluginRoom | undefined;
  it = await world({ plugins: (layout) => (plugins = testPlugins(layout)) });
  const expand = printing({
    status: "ok",
    data: { manifests: [statefulset("data", "light", { ...claims, backup: {} })] },
  });
  const write = (permissions: string) =>
    writePlugin(it.layout, "ledger", {
      yml: `name: ledger\nbackup: { dump: [cat, /data/x], restore: [tee, /data/x] }\n${permissions}`,
      commands: { expand },
    });
  const dumpOf = (name: string) => it.running.volumes.apps().find((app) => app.name === name)?.dump;
  const refresh = () => plugins?.registry.refresh();
  write("permissions: { actions: [], backup: true }\n");
  await refresh();
  await it.apply([
    { kind: "ledger", scope: "data", name: "light", spec: {} },
    statefulset("data", "own", { ...claims, backup: {} }),
  ]);
  expect(dumpOf("light")).toEqual({ dump: ["cat", "/data/x"], restore: ["tee", "/data/x"], refused: undefined });
  expect(dumpOf("own")).toBeUndefined();
  const [plugin] = plugins?.registry.list().plugins ?? [];
  if (plugin === undefined) throw new Error("no plugin");
  Object.assign(plugin, { permissions: { ...plugin.permissions, backup: undefined } });
  expect(dumpOf("light")?.refused).toContain('the plugin "ledger" was not granted "backup"');
  Object.assign(plugin, { permissions: { ...plugin.permissions, backup: true, scopes: ["other"] } });
  expect(dumpOf("light")?.refused).toContain("was not granted");
  // Without a word about permissions, a plugin has all of them.
  write("");
  await refresh();
  expect(dumpOf("light")?.refused).toBeUndefined();
});
