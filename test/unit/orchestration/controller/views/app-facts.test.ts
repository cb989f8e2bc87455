import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { judge } from "../../../../../src/observability/core/apps/state.ts";
import { deployment } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

const key = { kind: "deployment", scope: "shop", name: "web" };
let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const stateNow = () => {
  const facts = it.running.apps.of(key);
  return facts && judge(facts, { engineUp: it.running.apps.engine().up, now: it.clock.now() }).state;
};
const container = () => it.runtime.containers().find(({ name }) => name.startsWith("shop-web."))?.name ?? "";

describe("facts of an app", () => {
  test("are those of the manifest, the status, the newest release and the replicas", async () => {
    await it.apply(deployment("shop", "web", { replicas: 2 }), { message: "first" });
    await it.settle();
    expect(it.running.apps.keys()).toEqual([key]);
    expect(it.running.apps.of(key)).toMatchObject({
      ...key,
      replicas: 2,
      status: { phase: "ready" },
      release: { status: "succeeded", message: "first" },
      pods: [
        { state: "running", ready: true, crashes: 0 },
        { state: "running", ready: true, crashes: 0 },
      ],
    });
    expect(it.running.apps.of({ ...key, name: "other" })).toBeUndefined();
  });

  test("changes are told with the key of what changed", async () => {
    const heard: string[] = [];
    const leave = it.running.apps.subscribe((changed) => heard.push(changed?.name ?? "any"));
    await it.apply(deployment("shop", "web"));
    await it.settle();
    expect(heard).toContain("web");
    leave();
    heard.length = 0;
    it.runtime.crash(container());
    await it.quiet();
    expect(heard).toEqual([]);
  });

  test("a crash loop is ready at no moment, whatever the engine says in between", async () => {
    await it.apply(deployment("shop", "web", { rollout: { min_ready: "0s" } }));
    await it.settle();
    await it.advance(120_000);
    expect(stateNow()).toBe("ready");
    const seen = new Set<string | undefined>();
    it.running.apps.subscribe(() => seen.add(stateNow()));
    for (let crash = 0; crash < 8; crash += 1) {
      it.runtime.crash(container(), 1);
      await it.advance(3_000);
      seen.add(stateNow());
    }
    expect([...seen]).not.toContain("ready");
    expect(stateNow()).toBe("crashing");
    await it.advance(200_000);
    expect(stateNow()).toBe("ready");
  });
});
