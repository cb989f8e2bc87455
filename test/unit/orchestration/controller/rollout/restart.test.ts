import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
  await it.apply([
    deployment("shop", "web", { replicas: 2 }),
    statefulset("shop", "db", { replicas: 2 }),
    deployment("blog", "web"),
    deployment("shop", "both"),
    statefulset("shop", "both"),
    { kind: "job", scope: "shop", name: "tidy", spec: { image: "berth-fixture:1" } },
  ]);
  await it.settle();
});
afterEach(() => it.close());

const restart = (target: { kind?: string; scope?: string; name?: string }, wait = true) =>
  it.controller.restart(target, { wait, actor: "ana" });
const ids = (app: string) =>
  it.runtime.containers().flatMap(({ id, name }) => (name.startsWith(`${app}.`) ? [id] : []));
const refusal = () => new Failure("conflict", "no such device", { reason: "StartFailed" });

/** Whether the promise has ended, without waiting for it. */
async function hasEnded(promise: Promise<unknown>): Promise<boolean> {
  let ended = false;
  void promise.then(
    () => (ended = true),
    () => (ended = true),
  );
  await it.quiet();
  return ended;
}

describe("a restart that is waited for", () => {
  test("answers once the last replica is another one", async () => {
    await it.apply(deployment("shop", "web", { replicas: 2, rollout: { min_ready: "10s" } }));
    await it.settle();
    const before = ids("shop-web");
    const restarting = restart({ kind: "deployment", scope: "shop", name: "web" });
    expect(await hasEnded(restarting)).toBe(false);
    await it.settle();
    expect(await restarting).toEqual({ kind: "deployment", scope: "shop", name: "web", unfroze: [] });
    expect(ids("shop-web").filter((id) => before.includes(id))).toEqual([]);
    expect(ids("shop-web")).toHaveLength(2);
    expect(it.events("restart")).toMatchObject([{ actor: "ana", kind: "deployment", name: "web" }]);
  });

  test("finds the kind and the scope by itself", async () => {
    expect(await Promise.all([restart({ name: "db" }), it.settle()])).toMatchObject([
      { kind: "statefulset", scope: "shop" },
      undefined,
    ]);
  });

  test("clears frozen replicas first, all of them", async () => {
    for (const name of ["shop-db.0", "shop-db.1"]) await it.controller.stopPod(name, { freeze: true, actor: "ana" });
    await it.settle();
    const [answer] = await Promise.all([restart({ name: "db" }), it.settle()]);
    expect(answer.unfroze).toEqual(["0", "1"]);
    expect(it.store.frozen.all()).toEqual([]);
    expect(it.controller.podReady("shop-db.0").ready).toBe(true);
  });

  test("replaces a statefulset from the top, one at a time", async () => {
    it.runtime.calls.length = 0;
    await Promise.all([restart({ name: "db" }), it.settle()]);
    expect(it.runtime.calls.filter((call) => /^(create|remove) /.test(call)).map((call) => call.split(" ")[0])).toEqual(
      ["remove", "create", "remove", "create"],
    );
    expect(it.runtime.calls.filter((call) => call.startsWith("create"))).toEqual([
      "create shop-db.1",
      "create shop-db.0",
    ]);
  });

  test("never goes below the wanted count of a deployment", async () => {
    let fewest = Number.POSITIVE_INFINITY;
    const restarting = restart({ scope: "shop", name: "web" });
    for (let ended = false; !ended; ended = await hasEnded(restarting)) {
      fewest = Math.min(
        fewest,
        it.runtime.containers().filter(({ name, state }) => name.startsWith("shop-web.") && state === "running").length,
      );
      await it.advance(500);
    }
    expect(fewest).toBe(2);
  });

  test("fails with the reason when the new ones do not come up, and goes on by itself", async () => {
    it.runtime.fail("start", refusal());
    const restarting = restart({ name: "db" });
    const outcome = expectFailure(restarting, "conflict");
    await it.advance(30_000);
    expect((await outcome).message).toContain(
      "statefulset/shop/db is restarting, but not getting ready: no such device",
    );
    it.runtime.fail("start", undefined);
    await it.settle();
    expect(ids("shop-db")).toHaveLength(2);
  });

  test("ends when the resource is deleted meanwhile", async () => {
    await it.apply(statefulset("shop", "db", { replicas: 2, rollout: { min_ready: "10s" } }));
    await it.settle();
    const outcome = expectFailure(restart({ name: "db" }), "conflict");
    await it.advance(5_000);
    await it.controller.deleteManifest({ kind: "statefulset", name: "db" }, { prune: false, actor: "ana" });
    await it.advance(10_000);
    expect((await outcome).message).toContain("was deleted");
  });

  test("ends when the engine goes away meanwhile", async () => {
    it.runtime.delay("create", 5_000);
    const outcome = expectFailure(restart({ name: "db" }), "unavailable");
    await it.quiet();
    it.runtime.engineDown();
    await it.advance(10_000);
    expect((await outcome).message).toContain("the restart goes on by itself");
    it.runtime.engineUp();
    it.runtime.delay("create", 0);
    await it.settle();
    expect(ids("shop-db")).toHaveLength(2);
  });

  test("of nothing wanted is done at once", async () => {
    await it.apply(deployment("shop", "web", { replicas: 0 }));
    await it.settle();
    expect(await hasEnded(restart({ scope: "shop", name: "web" }))).toBe(true);
  });

  test("needs the engine", async () => {
    it.runtime.engineDown();
    await it.quiet();
    const generation = it.store.manifests.get(keyOf("statefulset", "shop", "db"))?.generation;
    await expectFailure(restart({ name: "db" }), "unavailable", "EngineUnavailable");
    expect(it.store.manifests.get(keyOf("statefulset", "shop", "db"))?.generation).toBe(generation ?? -1);
  });
});

describe("a restart that is not waited for", () => {
  const stateOf = (id: string | undefined) => it.controller.operation(id ?? "");

  test("is an operation that runs and succeeds", async () => {
    await it.apply(statefulset("shop", "db", { replicas: 2, rollout: { min_ready: "10s" } }));
    await it.settle();
    const { operation } = await restart({ name: "db" }, false);
    expect(stateOf(operation)).toMatchObject({
      id: operation,
      type: "restart",
      kind: "statefulset",
      name: "db",
      state: "running",
    });
    await it.restart();
    expect(stateOf(operation).state).toBe("running");
    await it.settle();
    expect(stateOf(operation).state).toBe("succeeded");
  });

  test("fails with the reason, and succeeds when that goes away", async () => {
    it.runtime.fail("start", refusal());
    const { operation } = await restart({ name: "db" }, false);
    await it.advance(30_000);
    expect(stateOf(operation)).toMatchObject({ state: "failed", error: expect.stringContaining("no such device") });
    it.runtime.fail("start", undefined);
    await it.settle();
    expect(stateOf(operation).state).toBe("succeeded");
  });

  test("is failed once its resource is deleted", async () => {
    it.runtime.delay("create", 5_000);
    const { operation } = await restart({ name: "db" }, false);
    await it.controller.deleteManifest({ kind: "statefulset", name: "db" }, { prune: false, actor: "ana" });
    expect(stateOf(operation)).toMatchObject({ state: "failed", error: "statefulset/shop/db was deleted" });
  });

  test("is taken while the engine is down", async () => {
    it.runtime.engineDown();
    await it.quiet();
    const { operation } = await restart({ name: "db" }, false);
    expect(stateOf(operation).state).toBe("running");
    it.runtime.engineUp();
    await it.settle();
    expect(stateOf(operation).state).toBe("succeeded");
  });

  test("of an unknown id is not found", async () => {
    expect((await expectFailure((async () => stateOf("op-1"))(), "not_found")).message).toBe('no operation "op-1"');
  });
});

describe("a restart is refused", () => {
  test.each([
    ["without a name", {}, "invalid", "name is required"],
    [
      "when both kinds have the name",
      { scope: "shop", name: "both" },
      "invalid",
      '"both" is ambiguous: deployment/shop/both, statefulset/shop/both',
    ],
    [
      "when two scopes have the name",
      { name: "web" },
      "invalid",
      '"web" is ambiguous: deployment/blog/web, deployment/shop/web',
    ],
    [
      "when two scopes have the kind and name",
      { kind: "deployment", name: "web" },
      "invalid",
      "exists in several scopes: blog, shop",
    ],
    [
      "for a kind without replicas",
      { kind: "job", scope: "shop", name: "tidy" },
      "invalid",
      'kind "job" has no replicas',
    ],
    ["for an unknown kind", { kind: "depl", name: "web" }, "invalid", 'unknown kind "depl"'],
    [
      "when there is none",
      { scope: "shop", name: "nobody" },
      "not_found",
      "deployment/shop/nobody or statefulset/shop/nobody not found",
    ],
    [
      "when there is none of the kind",
      { kind: "statefulset", scope: "shop", name: "web" },
      "not_found",
      "statefulset/shop/web not found",
    ],
  ] as const)("%s", async (_what, target, code, text) => {
    const events = it.events().length;
    expect((await expectFailure(restart(target), code)).message).toContain(text);
    expect(it.events()).toHaveLength(events);
  });
});
