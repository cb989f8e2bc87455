import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { actorHeader } from "../../../src/base/wire/client.ts";
import { deployment, statefulset } from "../../support/manifests.ts";
import { type Ask, plane } from "../../support/plane.ts";
import { type World, world } from "../../support/world.ts";

let it: World;
let ask: Ask;
beforeEach(async () => {
  it = await world();
  ask = plane(it);
});
afterEach(() => it.close());

const pods = async (query = "") =>
  (await ask(`GET /pods${query}`)).data.pods as { name: string; state: string; frozen: boolean }[];
const phase = async (kind: string, name: string) => {
  const { data } = await ask(`GET /describe?kind=${kind}&scope=shop&name=${name}`);
  return (data.status as { phase?: string } | null)?.phase;
};

/** Asks for something that takes time, and lets that pass. */
async function askAndSettle(request: string, body?: unknown) {
  const answer = ask(request, body);
  await it.settle();
  return answer;
}

test("an app from its first apply to its end", async () => {
  const app = {
    kind: "app",
    scope: "shop",
    name: "web",
    spec: { ...deployment("shop", "web").spec, replicas: 2, host: "shop.example.org" },
  };
  const planned = await ask("POST /apply?dry_run=true", app);
  expect(planned.data).toMatchObject({
    dry_run: true,
    current: [null, null],
    plan: [
      { ref: "deployment/shop/web", action: "create" },
      { ref: "ingress/shop/web", action: "create" },
    ],
  });
  const applied = await ask("POST /apply", app, { [actorHeader]: "ana@laptop" });
  expect(applied.status).toBe(200);
  expect(applied.data).toMatchObject({ applied: [{ kind: "deployment" }, { kind: "ingress" }], pruned: [] });
  expect(applied.data).not.toHaveProperty("plugin_installs");
  expect(it.events("manifest.apply").map(({ actor }) => actor)).toEqual(["ana@laptop", "ana@laptop"]);
  await it.settle();
  expect(await phase("deployment", "web")).toBe("ready");
  const [pod] = await pods("?scope=shop");
  expect((await ask(`GET /pods/${pod?.name}/ready`)).status).toBe(200);
  expect((await ask(`GET /pods/${pod?.name}`)).data.pod).toMatchObject({ name: pod?.name, running: true });

  await askAndSettle("POST /config?scope=shop&name=web", { GREETING: "hello" });
  expect(it.runtime.containers().map(({ env }) => env.GREETING)).toEqual(["hello", "hello"]);
  expect((await ask("GET /config?scope=shop&name=web&key=GREETING")).data).toEqual({ GREETING: "hello" });

  expect((await askAndSettle("POST /restart?name=web")).data).toEqual({
    kind: "deployment",
    scope: "shop",
    name: "web",
    unfroze: [],
  });
  const gone = await askAndSettle("DELETE /resource?scope=shop&name=web&prune=true");
  expect(gone.data).toMatchObject({ resources_wiped: [{ kind: "deployment" }, { kind: "ingress" }], errors: [] });
  expect(it.containers()).toEqual([]);
  expect((await ask("GET /apply")).data).toEqual([] as never);
  expect((await ask("GET /describe?kind=deployment&scope=shop&name=web")).status).toBe(404);
  const { events } = (await ask("GET /events?scope=shop&limit=1000")).data as { events: { action: string }[] };
  expect([...new Set(events.map(({ action }) => action))].sort()).toEqual([
    "config.set",
    "manifest.apply",
    "manifest.delete",
    "release.succeeded",
    "replica.create",
    "replica.remove",
    "restart",
  ]);
});

test("stopped with freeze stays so, through everything, until it is started", async () => {
  await ask("POST /apply", statefulset("shop", "db", { replicas: 2 }));
  await it.settle();
  expect((await ask("POST /pods/shop-db.1/stop")).data).toEqual({ name: "shop-db.1", freeze: true });
  await it.quiet();
  const ready = await ask("GET /pods/shop-db.1/ready");
  expect([ready.status, ready.data.readiness]).toEqual([503, expect.objectContaining({ ready: false })]);
  await it.restart();
  await it.advance(60 * 60_000);
  expect((await pods()).find(({ name }) => name === "shop-db.1")).toMatchObject({ state: "exited", frozen: true });
  const started = await askAndSettle("POST /pods/shop-db.1/start");
  expect(started.data).toEqual({ name: "shop-db.1", recreated: true, unfroze: true });
  expect((await ask("GET /pods/shop-db.1/ready")).status).toBe(200);
});

test("stopped without freeze comes back by itself", async () => {
  await ask("POST /apply", statefulset("shop", "db"));
  await it.settle();
  expect((await ask("POST /pods/shop-db.0/stop?freeze=false")).data).toEqual({ name: "shop-db.0", freeze: false });
  await it.quiet();
  expect((await ask("GET /pods/shop-db.0/ready")).status).toBe(503);
  await it.settle();
  expect((await ask("GET /pods/shop-db.0/ready")).status).toBe(200);
});

test("a restart that is not waited for answers 202 with an operation", async () => {
  await ask("POST /apply", statefulset("shop", "db"));
  await it.settle();
  const answer = await ask("POST /restart?kind=statefulset&name=db&wait=false");
  expect(answer.status).toBe(202);
  const { operation } = answer.data;
  await it.settle();
  expect((await ask(`GET /operations/${operation}`)).data).toMatchObject({ id: operation, state: "succeeded" });
});

test("a prune by scope, and one ordinal made anew", async () => {
  const claims = { volume_claims: [{ name: "data", mount_path: "/data" }] };
  await ask("POST /apply", [statefulset("shop", "db", { replicas: 2, ...claims }), deployment("shop", "web")]);
  await it.settle();
  const { data } = await askAndSettle("DELETE /resource?scope=shop&name=db&ordinal=1&prune=true");
  expect(data).toMatchObject({
    ordinal: 1,
    action: "rebootstrap",
    summary: { volumes_removed: ["berth-shop-db-data-1"] },
  });
  expect((await ask("GET /describe?kind=statefulset&scope=shop&name=db")).data.volumes).toHaveLength(2);
  const wiped = await askAndSettle("DELETE /scope?scope=shop&prune=true");
  expect(wiped.data).toMatchObject({ scope: "shop", resources_wiped: [{ name: "web" }, { name: "db" }], errors: [] });
  expect([it.containers(), await it.runtime.listVolumes({})]).toEqual([[], []]);
});

describe("every documented refusal", () => {
  beforeEach(async () => {
    await it.apply([
      deployment("shop", "web"),
      deployment("blog", "web"),
      deployment("shop", "both"),
      statefulset("shop", "both"),
    ]);
    await it.settle();
  });

  test("what is wrong is refused, and changes nothing", async () => {
    const refusals: [string, number, unknown?][] = [
      ["GET /apply?kind=thing", 400],
      ["DELETE /apply?name=web", 400],
      ["DELETE /apply?kind=deployment", 400],
      ["DELETE /apply?kind=thing&name=web", 400],
      ["DELETE /apply?kind=deployment&name=web", 400],
      ["DELETE /apply?kind=deployment&scope=shop&name=nobody", 404],
      ["DELETE /apply?kind=deployment&scope=shop&name=web&prune=yes", 400],
      ["DELETE /resource?scope=shop", 400],
      ["DELETE /resource?name=web", 400],
      ["DELETE /resource?scope=shop&name=nobody", 404],
      ["DELETE /resource?scope=shop&name=both&ordinal=x", 400],
      ["DELETE /resource?scope=shop&name=both&ordinal=9", 404],
      ["DELETE /resource?scope=shop&name=web&ordinal=0", 404],
      ["DELETE /scope", 400],
      ["GET /describe?name=web", 400],
      ["GET /describe?kind=deployment", 400],
      ["GET /describe?kind=thing&name=web", 400],
      ["GET /describe?kind=deployment&name=web", 400],
      ["GET /describe?kind=job&scope=shop&name=web", 404],
      ["GET /pods/nobody", 404],
      ["GET /pods/nobody/ready", 404],
      ["POST /pods/nobody/stop", 404],
      ["POST /pods/nobody/start", 404],
      ["POST /pods/a%20b/stop", 400],
      ["GET /pods/..%2Fetc", 400],
      ["POST /pods/shop-both.0/stop?freeze=maybe", 400],
      ["GET /config", 400],
      ["GET /config?scope=shop&key=NOPE", 404],
      ["POST /config", 400, { A: "1" }],
      ["POST /config?scope=shop", 400, {}],
      ["POST /config?scope=shop", 400, { A: 1 }],
      ["POST /config?scope=shop", 400, []],
      ["POST /config?scope=Shop", 400, { A: "1" }],
      ["DELETE /config?scope=shop", 400],
      ["DELETE /config?key=A", 400],
      ["POST /restart", 400],
      ["POST /restart?name=both&scope=shop", 400],
      ["POST /restart?name=web", 400],
      ["POST /restart?kind=ingress&scope=shop&name=web", 400],
      ["POST /restart?scope=shop&name=nobody", 404],
      ["GET /operations/op-nobody", 404],
      ["GET /events?limit=many", 400],
      ["GET /events?after=-1", 400],
    ];
    const events = it.events().length;
    for (const [request, status, body] of refusals) {
      const answer = await ask(request, body);
      expect([request, answer.status]).toEqual([request, status]);
      expect(answer.error).toMatch(/[^.]$/);
      expect([request, it.events().length]).toEqual([request, events]);
    }
  });

  test("a start of a pod whose manifest is gone is 404, and removes nothing", async () => {
    it.runtime.delay("stop", 60_000);
    await ask("DELETE /apply?kind=statefulset&name=both");
    await it.quiet();
    expect((await ask("POST /pods/shop-both.0/start")).status).toBe(404);
    expect(it.containers()).toContain("shop-both.0");
  });

  test("with the engine down questions to it are 503 with a time to come back", async () => {
    it.runtime.engineDown();
    await it.quiet();
    for (const request of [
      "GET /pods",
      "GET /pods/shop-both.0",
      "POST /pods/shop-both.0/stop",
      "POST /restart?kind=statefulset&name=both",
    ]) {
      const answer = await ask(request);
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "2"]);
    }
    for (const request of [
      "GET /health",
      "GET /system",
      "GET /apply",
      "GET /events",
      "GET /config?scope=shop",
      "GET /pods/shop-both.0/ready",
    ]) {
      expect((await ask(request)).status).toBe(200);
    }
    expect((await ask("POST /apply", deployment("shop", "new"))).status).toBe(200);
    expect((await ask("GET /describe?kind=deployment&scope=shop&name=new")).data.status).toMatchObject({
      conditions: [{ reason: "EngineUnavailable" }],
    });
  });
});
