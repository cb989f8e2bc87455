import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
  await it.apply([
    deployment("shop", "web", { replicas: 2, env: { A: "1" } }),
    statefulset("shop", "db", { replicas: 2 }),
    deployment("shop", "auto", { autoscale: { min: 1, max: 5, cpu_target: 50 } }),
    deployment("shop", "edge", { ports: ["18080:80"] }),
  ]);
  await it.settle();
});
afterEach(() => it.close());

const scale = (name: string, replicas: string | undefined, kind?: string) =>
  it.controller.scale({ kind, scope: "shop", name, replicas }, { actor: "ana" });
const named = (prefix: string) => it.containers().filter((name) => name.startsWith(prefix));

describe("scaling", () => {
  test("writes the count and nothing else, and is no release", async () => {
    const key = keyOf("deployment", "shop", "web");
    const before = it.store.manifests.get(key);
    const releases = it.store.releases.list(key).length;
    const answer = await scale("web", "4");
    await it.settle();
    const after = it.store.manifests.get(key);
    expect(answer).toEqual({ ...key, replicas: 4, previous: 2, revision: after?.revision ?? 0 });
    expect(after?.spec).toEqual({ ...before?.spec, replicas: 4 });
    expect(after?.generation).toBe(before?.generation ?? 0);
    expect([named("shop-web.").length, it.store.releases.list(key).length]).toEqual([4, releases]);
    expect(it.events("scale")).toMatchObject([{ actor: "ana", name: "web", detail: { from: 2, to: 4 } }]);
  });

  test("to the count there is writes nothing", async () => {
    const before = it.store.manifests.get(keyOf("deployment", "shop", "web"))?.revision;
    expect(await scale("web", "2")).toMatchObject({ replicas: 2, previous: 2, revision: before });
    expect(it.events("scale")).toEqual([]);
  });

  test("to 0 stops them all, and back starts them", async () => {
    await scale("web", "0");
    await it.settle();
    expect(named("shop-web.")).toEqual([]);
    await scale("web", "1");
    await it.settle();
    expect(named("shop-web.")).toHaveLength(1);
  });

  test("a statefulset goes from its highest ordinal", async () => {
    await scale("db", "3");
    await it.settle();
    expect(named("shop-db.")).toEqual(["shop-db.0", "shop-db.1", "shop-db.2"]);
    await scale("db", "1");
    await it.settle();
    expect(named("shop-db.")).toEqual(["shop-db.0"]);
  });
});

describe("is refused", () => {
  test.each<[string | undefined, string]>([
    [undefined, "replicas is required"],
    ["-1", 'replicas "-1" is not a whole number from 0 to 1000'],
    ["1.5", 'replicas "1.5" is not a whole number from 0 to 1000'],
    ["1001", 'replicas "1001" is not a whole number from 0 to 1000'],
    ["many", 'replicas "many" is not a whole number from 0 to 1000'],
  ])("for the count %p", async (replicas, message) => {
    expect((await expectFailure(scale("web", replicas), "invalid")).message).toContain(message);
  });

  test("where an autoscaler owns the count", async () => {
    expect((await expectFailure(scale("auto", "3"), "conflict")).message).toBe(
      "deployment/shop/auto is scaled by its autoscaler, from 1 to 5; change autoscale.min and autoscale.max, or apply it with replicas instead",
    );
  });

  test("where a fixed host port allows one replica only", async () => {
    expect((await expectFailure(scale("edge", "2"), "invalid")).message).toContain("host port 18080 is fixed");
  });

  test("for what is not stored, and for kinds without replicas", async () => {
    expect((await expectFailure(scale("gone", "1"), "not_found")).message).toContain("gone");
    expect((await expectFailure(scale("web", "1", "job"), "invalid")).message).toContain("has no replicas");
    expect(it.events("scale")).toEqual([]);
  });
});
