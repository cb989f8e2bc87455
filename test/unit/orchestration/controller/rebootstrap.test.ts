import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { expectFailure } from "../../../support/failure.ts";
import { deployment, statefulset } from "../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../support/world.ts";

let it: World;
/** `<name> <grace>` of every stop. */
let stops: string[];
beforeEach(async () => {
  stops = [];
  it = await world({
    wrapRuntime: (runtime) => ({
      ...runtime,
      stop: (pod, options) => {
        const { name } = runtime.containers().find((container) => container.id === pod.id) ?? { name: pod.id };
        stops.push(`${name} ${options.graceMs}`);
        return runtime.stop(pod, options);
      },
    }),
  });
  const claims = {
    volume_claims: [
      { name: "data", mount_path: "/data" },
      { name: "log", mount_path: "/log" },
    ],
  };
  await it.apply([statefulset("shop", "db", { replicas: 2, stop_grace: "45s", ...claims }), deployment("shop", "web")]);
  await it.settle();
});
afterEach(() => it.close());

const rebootstrap = (ordinal: string, prune = false, name = "db") =>
  it.controller.deleteResource({ scope: "shop", name, ordinal }, { prune, actor: "ana" });
const container = (name: string) => it.runtime.containers().find((row) => row.name === name);
const volumes = async () => (await it.runtime.listVolumes({})).map(({ name }) => name).sort();

describe("making one ordinal anew", () => {
  test("replaces its container, gently, and keeps its volumes and the others", async () => {
    const before = [container("shop-db.0")?.id, container("shop-db.1")?.id];
    expect(await rebootstrap("1")).toEqual({
      scope: "shop",
      name: "db",
      ordinal: 1,
      action: "rebootstrap",
      summary: { container_removed: true, volumes_removed: [], errors: [] },
    });
    await it.settle();
    expect(stops).toEqual(["shop-db.1 45000"]);
    expect(container("shop-db.0")?.id).toBe(before[0] ?? "");
    expect(container("shop-db.1")?.id).not.toBe(before[1]);
    expect(container("shop-db.1")?.state).toBe("running");
    expect(await volumes()).toHaveLength(4);
    expect(it.events("pod.rebootstrap")).toMatchObject([
      { actor: "ana", name: "db", detail: { ordinal: 1, prune: false } },
    ]);
  });

  test("with prune gives it fresh volumes", async () => {
    expect((await rebootstrap("1", true)).summary).toEqual({
      container_removed: true,
      volumes_removed: ["berth-shop-db-data-1", "berth-shop-db-log-1"],
      errors: [],
    });
    expect(await volumes()).toEqual(["berth-shop-db-data-0", "berth-shop-db-log-0"]);
    await it.settle();
    expect(await volumes()).toHaveLength(4);
  });

  test("holds the reconciler off until the volumes are gone", async () => {
    it.runtime.delay("removeVolume", 5_000);
    const making = rebootstrap("1", true);
    await it.advance(4_000);
    expect(container("shop-db.1")).toBeUndefined();
    await it.advance(60_000);
    expect((await making).summary?.errors).toEqual([]);
    await it.settle();
    expect(container("shop-db.1")?.state).toBe("running");
    expect(it.store.frozen.all()).toEqual([]);
  });

  test("lets the reconciler go on when it fails half way", async () => {
    it.runtime.delay("removeVolume", 5_000);
    const making = rebootstrap("1", true);
    await it.advance(1_000);
    it.runtime.engineDown();
    await it.advance(20_000);
    expect((await making).summary?.errors).toHaveLength(2);
    it.runtime.delay("removeVolume", 0);
    it.runtime.engineUp();
    await it.settle();
    expect(container("shop-db.1")?.state).toBe("running");
  });

  test("clears its frozen mark", async () => {
    await it.controller.stopPod("shop-db.1", { freeze: true, actor: "ana" });
    await rebootstrap("1");
    await it.settle();
    expect(container("shop-db.1")?.state).toBe("running");
    expect(it.store.frozen.list(keyOf("statefulset", "shop", "db"))).toEqual([]);
  });

  test("works where its container is gone already", async () => {
    await it.controller.stopPod("shop-db.1", { freeze: true, actor: "ana" });
    it.runtime.removeByHand("shop-db.1");
    await it.quiet();
    expect((await rebootstrap("1")).summary).toMatchObject({ container_removed: false });
    await it.settle();
    expect(container("shop-db.1")?.state).toBe("running");
  });

  test.each([
    ["text", "one", "db", "invalid", 'ordinal: expected a whole number, got "one"'],
    ["a negative number", "-1", "db", "invalid", 'got "-1"'],
    ["half a number", "1.5", "db", "invalid", 'got "1.5"'],
    ["an ordinal beyond the replicas", "2", "db", "not_found", "has 2 replicas; there is no ordinal 2"],
    ["a deployment", "0", "web", "not_found", "only statefulsets have pods to delete one by one"],
  ] as const)("refuses %s", async (_what, ordinal, name, code, text) => {
    const events = it.events().length;
    expect((await expectFailure(rebootstrap(ordinal, true, name), code)).message).toContain(text);
    expect(it.events()).toHaveLength(events);
    expect(await volumes()).toHaveLength(4);
  });

  test("needs the engine", async () => {
    it.runtime.engineDown();
    await it.quiet();
    await expectFailure(rebootstrap("1", true), "unavailable", "EngineUnavailable");
  });
});

test("stopping and starting a pod give it the grace that its spec asks for", async () => {
  await it.controller.stopPod("shop-db.1", { freeze: false, actor: "ana" });
  await it.settle();
  await it.controller.startPod("shop-db.1", { actor: "ana" });
  expect(stops).toEqual(["shop-db.1 45000", "shop-db.1 45000"]);
});
