import { afterEach, describe, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import type { Attempt, WebhookCall } from "../../../../../src/base/deliver/webhook.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
afterEach(() => it.close());

const spec: Spec = {
  probes: { readiness: { http_get: { path: "/", port: 80 }, period: "1s", failure_threshold: 2 } },
  on_probe: {
    failure: [{ url: "https://hooks.test/bad" }],
    recovery: [{ url: "https://hooks.test/good" }],
  },
};

async function scene(manifest = deployment("shop", "web", spec), answer: Attempt["outcome"] = "delivered") {
  const probe = { healthy: true };
  const calls: WebhookCall[] = [];
  it = await world({
    fetch: async () => new Response(null, { status: probe.healthy ? 200 : 500 }),
    sendWebhook: async (call) => {
      calls.push(call);
      return { outcome: answer, result: answer };
    },
  });
  await it.apply(manifest);
  await it.settle();
  await it.advance(2_000);
  return {
    calls,
    told: () => calls.map(({ event }) => event.replace("probe.", "")),
    /** Changes what the probe finds, and lets it find that. */
    async turn(healthy: boolean, forMs = 5_000) {
      probe.healthy = healthy;
      await it.advance(forMs);
    },
  };
}

describe("a probe", () => {
  test("that fails is told with pod, probe and reason; its recovery too", async () => {
    const { calls, turn } = await scene();
    await turn(false);
    await turn(true);
    const [bad, good] = calls.map(({ body }) => JSON.parse(body));
    expect(calls.map(({ url }) => url)).toEqual(["https://hooks.test/bad", "https://hooks.test/good"]);
    expect(bad).toMatchObject({
      kind: "deployment",
      scope: "shop",
      name: "web",
      status: "failure",
      pod: it.containers()[0],
      probe: "readiness",
      transition: "failure",
      transition_id: expect.stringMatching(/^[0-9a-f]{12}$/),
      timestamp: expect.stringMatching(/^2026-/),
    });
    expect(bad.reason).toContain("500");
    expect(bad.error).toBe(bad.reason);
    expect(good).toMatchObject({ status: "recovery", transition: "recovery", pod: bad.pod });
    expect(good.transition_id).not.toBe(bad.transition_id);
    expect(good.error).toBeUndefined();
  });

  test("of an app without webhooks costs no durable write when it turns", async () => {
    let durable = 0;
    const healthy = { now: true };
    it = await world({
      fetch: async () => new Response(null, { status: healthy.now ? 200 : 500 }),
      wrapStore: (store) => ({
        ...store,
        write: (change, options) => {
          if (options?.durable !== false) durable += 1;
          return store.write(change, options);
        },
      }),
    });
    await it.apply(deployment("shop", "web", { probes: spec.probes }));
    await it.settle();
    await it.advance(60_000);
    const before = durable;
    healthy.now = false;
    await it.advance(5_000);
    expect(durable).toBe(before);
  });

  test("that is well from the start is not told", async () => {
    const { told } = await scene();
    await it.advance(60_000);
    expect(told()).toEqual([]);
  });

  test("that stays bad is told once, however long", async () => {
    const { told, turn } = await scene();
    await turn(false, 600_000);
    expect(told()).toEqual(["failure"]);
  });

  test("that flaps is told once a minute; what passes meanwhile is called off, what stays is told later", async () => {
    const { told, turn } = await scene();
    await turn(false);
    await turn(true);
    expect(told()).toEqual(["failure", "recovery"]);
    await turn(false);
    await turn(true);
    await turn(false);
    expect(told()).toEqual(["failure", "recovery"]);
    await it.advance(60_000);
    expect(told()).toEqual(["failure", "recovery", "failure"]);
    const statuses = it.controller.deliveries({ name: "web", limit: 50 }).deliveries.map(({ status }) => status);
    expect(statuses).toEqual(["delivered", "dropped", "delivered", "delivered"]);
  });

  test("of a statefulset is told as well", async () => {
    const { told, turn } = await scene(statefulset("shop", "web", spec));
    await turn(false);
    expect(told()).toEqual(["failure"]);
  });

  test("without a failure webhook tells no recovery", async () => {
    const { told, turn } = await scene(
      deployment("shop", "web", { ...spec, on_probe: { recovery: [{ url: "https://hooks.test/good" }] } }),
    );
    await turn(false);
    await turn(true);
    await it.advance(60_000);
    expect(told()).toEqual([]);
  });
});

describe("through a restart of the server", () => {
  test("a failure is not told twice, and its recovery is told", async () => {
    const { told, turn } = await scene();
    await turn(false);
    await it.restart();
    await it.advance(10_000);
    expect(told()).toEqual(["failure"]);
    await turn(true, 10_000);
    expect(told()).toEqual(["failure", "recovery"]);
  });
});

describe("a pod that goes away on purpose", () => {
  const slow: Spec = { ...spec, stop_grace: "30s" };

  test("in a rollout is not told, although its probe fails while it stops", async () => {
    const { told, turn } = await scene(deployment("shop", "web", slow));
    it.runtime.delay("stop", 20_000);
    await it.apply(deployment("shop", "web", { ...slow, replicas: 0 }));
    await turn(false, 60_000);
    expect(it.containers()).toEqual([]);
    expect(told()).toEqual([]);
  });

  test("stopped by a person is not told", async () => {
    const { told, turn } = await scene(deployment("shop", "web", slow));
    it.runtime.delay("stop", 20_000);
    const stopping = it.controller.stopPod(it.containers()[0] ?? "", { freeze: true, actor: "test" });
    await it.quiet();
    await turn(false, 60_000);
    await stopping;
    expect(told()).toEqual([]);
  });

  test("deleted is not told", async () => {
    const { told, turn } = await scene(deployment("shop", "web", slow));
    it.runtime.delay("stop", 20_000);
    const deleting = it.controller.deleteManifest({ kind: "deployment", name: "web" }, { prune: false, actor: "test" });
    await it.quiet();
    await turn(false, 60_000);
    await deleting;
    expect(told()).toEqual([]);
  });

  test("stopped without a freeze, healed, and failing then, is told", async () => {
    const { told, turn } = await scene();
    await it.controller.stopPod(it.containers()[0] ?? "", { freeze: false, actor: "test" });
    await it.advance(20_000);
    await turn(false, 10_000);
    expect(told()).toEqual(["failure"]);
  });
});
