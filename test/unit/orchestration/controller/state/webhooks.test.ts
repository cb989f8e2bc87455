import { afterEach, describe, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import type { Attempt, WebhookCall } from "../../../../../src/base/deliver/webhook.ts";
import { deployment, fixtureImage } from "../../../../support/manifests.ts";
import { type World, type WorldOptions, world } from "../../../../support/world.ts";

let it: World;
afterEach(() => it.close());

const ok: Attempt = { outcome: "delivered", result: "status 204" };
const down: Attempt = { outcome: "failed", result: "status 503" };

const hooks: Spec = {
  success: [{ url: "https://hooks.test/ok/T0KEN", headers: { Authorization: "Bearer s3cret" } }],
  failure: [{ url: "https://hooks.test/bad/T0KEN", body: { text: "{{name}} {{release_id}}: {{error}}", key: "b0dy" } }],
};

const web = (spec: Spec = {}) => deployment("shop", "web", { on_deploy: hooks, ...spec });

/** A world whose webhook calls are noted; `answer` says what comes of each. */
async function scene(options: WorldOptions & { answer?: (call: WebhookCall) => Attempt | Promise<Attempt> } = {}) {
  const calls: WebhookCall[] = [];
  it = await world({
    ...options,
    sendWebhook: async (call, signal) => {
      calls.push(call);
      const aborted = new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
      );
      return Promise.race([options.answer?.(call) ?? ok, aborted]);
    },
  });
  return {
    calls,
    events: () => calls.map(({ event }) => event),
    payload: (index: number) => JSON.parse(calls[index]?.body ?? "null"),
  };
}

const listed = () => it.controller.deliveries({ kind: "deployment", scope: "shop", name: "web", limit: 50 }).deliveries;
const releases = () => it.store.releases.list({ kind: "deployment", scope: "shop", name: "web" });

/** A readiness probe whose answer the test decides, and a deadline that ends soon. */
const probed: Spec = {
  probes: { readiness: { http_get: { path: "/", port: 80 }, period: "1s", failure_threshold: 1 } },
  rollout: { progress_deadline: "5s" },
};

describe("a rollout that succeeds", () => {
  test("is told once, with its release, image and times", async () => {
    const { calls, payload } = await scene();
    await it.apply(web());
    await it.settle();
    await it.advance(120_000);
    expect(calls.map(({ event, url, method }) => [event, method, url])).toEqual([
      ["deploy.success", "POST", "https://hooks.test/ok/T0KEN"],
    ]);
    const [release] = releases();
    expect(payload(0)).toEqual({
      kind: "deployment",
      scope: "shop",
      name: "web",
      status: "success",
      release_id: release?.id,
      image: fixtureImage,
      started_at: new Date(release?.startedAt ?? 0).toISOString(),
      completed_at: new Date(release?.endedAt ?? 0).toISOString(),
    });
    expect(calls[0]?.headers.Authorization).toBe("Bearer s3cret");
  });

  test("is not told where no container was touched: a count that stays, an edit of the hooks alone", async () => {
    const { events } = await scene();
    await it.apply(web());
    await it.settle();
    await it.apply(web());
    await it.apply(web({ on_deploy: { ...hooks, failure: [] } }));
    await it.settle();
    await it.advance(60_000);
    expect(events()).toEqual(["deploy.success"]);
  });

  test("is not told where there is nothing to make", async () => {
    const { calls } = await scene();
    await it.apply(web({ replicas: 0 }));
    await it.settle();
    await it.apply(web({ replicas: 0, env: { A: "1" } }));
    await it.settle();
    await it.advance(60_000);
    expect(releases().map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    expect(calls).toEqual([]);
  });

  test("is told again for the next change, to the hooks as they are then", async () => {
    const { calls } = await scene();
    await it.apply(web());
    await it.settle();
    await it.apply(web({ env: { A: "1" }, on_deploy: { success: [{ url: "https://other.test/" }] } }));
    await it.settle();
    await it.advance(1_000);
    expect(calls.map(({ url }) => url)).toEqual(["https://hooks.test/ok/T0KEN", "https://other.test/"]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  });

  test("tells nobody where nobody asked", async () => {
    const { calls } = await scene();
    await it.apply(deployment("shop", "web"));
    await it.settle();
    await it.advance(60_000);
    expect(calls).toEqual([]);
    expect(listed()).toEqual([]);
  });
});

describe("a rollout that fails", () => {
  test("is told with its reason, and so is the way back", async () => {
    let healthy = true;
    const { calls, events, payload } = await scene({
      fetch: async () => new Response(null, { status: healthy ? 200 : 500 }),
    });
    await it.apply(web(probed));
    await it.settle();
    healthy = false;
    await it.apply(web({ ...probed, env: { BAD: "1" } }));
    await it.advance(6_000);
    const [, failed] = releases();
    expect(failed?.status).toBe("failed");
    expect(events()).toEqual(["deploy.success", "deploy.failure"]);
    expect(payload(1)).toEqual({ text: `web ${failed?.id}: ${failed?.error}`, key: "b0dy" });
    healthy = true;
    await it.settle();
    await it.advance(1_000);
    expect(calls.map(({ id }) => id)).toHaveLength(new Set(calls.map(({ id }) => id)).size);
  });

  test("is told also when nothing could be started at all", async () => {
    const { events } = await scene();
    await it.apply(web({ image: "nowhere.test/none:1", rollout: { progress_deadline: "5s" } }));
    await it.advance(120_000);
    expect(events()).toEqual(["deploy.failure"]);
  });

  test("is told when its release phase fails, before any replica was touched", async () => {
    const { events, payload } = await scene();
    const phase = async (exitCode: number) => {
      await it.quiet();
      const oneOff = it.containers().find((name) => name.includes("-release."));
      it.runtime.finish(oneOff ?? "", exitCode);
      await it.advance(5_000);
    };
    await it.apply(web({ release: { command: ["migrate"] } }));
    await phase(0);
    const before = it.containers();
    await it.apply(web({ release: { command: ["migrate"] }, env: { A: "1" } }));
    await phase(3);
    const failed = releases().find(({ status }) => status === "failed");
    expect(events()).toEqual(["deploy.success", "deploy.failure"]);
    expect(payload(1).text).toBe(`web ${failed?.id}: ${failed?.error}`);
    expect(it.containers()).toEqual(before);
  });

  test("is told for a change of config that never came up, without a release", async () => {
    let healthy = true;
    const { calls, events } = await scene({ fetch: async () => new Response(null, { status: healthy ? 200 : 500 }) });
    const failure = [{ url: "https://hooks.test/bad" }];
    await it.apply(web({ ...probed, on_deploy: { failure } }));
    await it.settle();
    healthy = false;
    await it.controller.setConfig({ scope: "shop", name: "web" }, { A: "1" }, { restart: true, actor: "test" });
    await it.advance(20_000);
    expect(events()).toEqual(["deploy.failure"]);
    const payload = JSON.parse(calls[0]?.body ?? "");
    expect(payload).toMatchObject({ status: "failure", name: "web" });
    expect(payload.error).not.toBe("");
    expect(payload.release_id).toBeUndefined();
  });
});

describe("a body from an asset", () => {
  const reference = "$" + "{asset.messages.deployed}";
  const templated = web({ on_deploy: { success: [{ url: "https://hooks.test/", file: reference }] } });

  test("is read from what the asset holds at that time", async () => {
    const { calls } = await scene();
    const asset = (text: string) => ({
      kind: "asset",
      scope: "shop",
      name: "messages",
      spec: { files: { deployed: text } },
    });
    await it.apply([asset("{{name}} is out\n"), templated]);
    await it.settle();
    await it.apply(asset("now {{name}}\n"));
    await it.settle();
    await it.apply({ ...templated, spec: { ...templated.spec, env: { A: "1" } } });
    await it.settle();
    await it.advance(1_000);
    expect(calls.map(({ body }) => body)).toEqual(["web is out\n", "now web\n"]);
  });

  test("that is not there is on record as dropped, and never sent", async () => {
    const { calls } = await scene();
    await it.apply(templated);
    await it.settle();
    await it.advance(60_000);
    expect(calls).toEqual([]);
    const [only] = listed();
    expect(only).toMatchObject({ status: "dropped", attempts: 0 });
    expect(only?.last_result).toContain(reference);
    expect(it.events("hook.dropped")).toHaveLength(1);
  });
});

describe("what becomes of a call", () => {
  test("is recorded as delivered, in the event log too", async () => {
    const { calls } = await scene();
    await it.apply(web());
    await it.settle();
    await it.advance(1_000);
    expect(listed()).toEqual([
      {
        id: calls[0]?.id ?? "",
        event: "deploy.success",
        method: "POST",
        url: "https://hooks.test/ok/T0KEN",
        headers: { "Content-Type": "********", Authorization: "********" },
        body_bytes: Buffer.byteLength(calls[0]?.body ?? ""),
        status: "delivered",
        attempts: 1,
        created_at: expect.any(String),
        last_result: "status 204",
      },
    ]);
    expect(it.events("hook.delivered").map(({ detail }) => detail)).toEqual([
      { delivery: calls[0]?.id, event: "deploy.success", host: "hooks.test", attempts: 1, result: "status 204" },
    ]);
  });

  test("three attempts, then dropped, with the last answer", async () => {
    const { calls } = await scene({ answer: () => down });
    await it.apply(web());
    await it.settle();
    await it.advance(60_000);
    expect(calls).toHaveLength(3);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(1);
    expect(listed()[0]).toMatchObject({ status: "dropped", attempts: 3, last_result: "status 503" });
    expect(it.events("hook.dropped")[0]?.detail).toMatchObject({ attempts: 3, result: "status 503" });
    expect(it.events("hook.delivered")).toEqual([]);
  });

  test("while it waits, the next time is shown", async () => {
    await scene({ answer: () => down });
    await it.apply(web());
    await it.settle();
    await it.advance(1_500);
    const [only] = listed();
    expect(only).toMatchObject({ status: "waiting", attempts: 2 });
    expect(Date.parse(only?.next_at ?? "")).toBeGreaterThan(it.clock.now());
  });

  test("nothing that may be a secret is in events or logs", async () => {
    await scene({ answer: (call) => (call.attempts < 1 ? down : { outcome: "refused", result: "no public address" }) });
    await it.apply(web());
    await it.settle();
    await it.advance(60_000);
    expect(it.events("hook.dropped")).toHaveLength(1);
    const told = JSON.stringify(it.events()) + it.logged.join("");
    for (const word of ["s3cret", "T0KEN", "b0dy"]) expect(told).not.toContain(word);
  });

  test("a receiver that hangs holds up neither rollouts nor the end of the server; then it is sent again", async () => {
    let hangs = true;
    const { calls } = await scene({ answer: () => (hangs ? new Promise<Attempt>(() => undefined) : ok) });
    await it.apply(web());
    await it.settle();
    await it.apply(web({ env: { A: "1" } }));
    await it.settle();
    await it.quiet();
    // The call about the second deploy waits for the first one.
    expect(calls).toHaveLength(1);
    hangs = false;
    await it.restart();
    await it.advance(1_000);
    const [first, again, second] = calls.map(({ id }) => id);
    expect(calls).toHaveLength(3);
    expect([again === first, second === first]).toEqual([true, false]);
    expect(listed().map(({ status }) => status)).toEqual(["delivered", "delivered"]);
  });

  test("a call outlives its resource", async () => {
    let up = false;
    const { calls } = await scene({ answer: () => (up ? ok : down) });
    await it.apply(web());
    await it.settle();
    await it.quiet();
    await it.controller.deleteManifest(
      { kind: "deployment", scope: "shop", name: "web" },
      { prune: false, actor: "test" },
    );
    up = true;
    await it.advance(10_000);
    expect(calls.length).toBeGreaterThan(1);
    expect(it.events("hook.delivered")).toHaveLength(1);
  });
});

describe("the list", () => {
  test("finds kind and scope by itself, keeps to its limit, newest first; unknown is a 404", async () => {
    await scene();
    await it.apply(web());
    await it.settle();
    await it.advance(1_000);
    await it.apply(web({ env: { A: "1" } }));
    await it.settle();
    await it.advance(1_000);
    const all = it.controller.deliveries({ name: "web", limit: 50 }).deliveries;
    expect(all).toHaveLength(2);
    expect((all[0]?.created_at ?? "") > (all[1]?.created_at ?? "")).toBe(true);
    expect(it.controller.deliveries({ name: "web", limit: 1 }).deliveries).toEqual(all.slice(0, 1));
    expect(() => it.controller.deliveries({ name: "none", limit: 1 })).toThrow("not found");
    expect(() => it.controller.deliveries({ limit: 1 })).toThrow("name is required");
  });
});
