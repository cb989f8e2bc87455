import { afterEach, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { deployment, fixtureImage, statefulset } from "../../../../support/manifests.ts";
import { acting, printing, testPlugins, writePlugin } from "../../../../support/plugins.ts";
import { waitFor } from "../../../../support/wait.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
afterEach(() => it.close());

/** Versions of the app that answer their probes. */
const healthy = new Set(["1"]);
const stopMs = 20_000;

async function answer(url: string): Promise<Response> {
  const { hostname } = new URL(url);
  const pod = it.runtime.containers().find(({ networks }) => networks.berth0?.ipAddress === hostname);
  return new Response("", { status: healthy.has(pod?.env.V ?? "") ? 200 : 503 });
}

const http = { http_get: { path: "/", port: 80 }, period: "2s", failure_threshold: 1 };
const makers = { deployment, statefulset };
const app = (kind: keyof typeof makers, v: string, spec: Spec = {}) =>
  makers[kind]("shop", "web", {
    rollout: { min_ready: "0s", progress_deadline: "90s" },
    env: { V: v },
    probes: { readiness: { ...http, initial_delay: "2s" }, liveness: { ...http, initial_delay: "5s" } },
    ...spec,
  });
const running = (prefix = "shop-web.") =>
  it.runtime.containers().filter(({ name, state }) => name.startsWith(prefix) && state === "running");
const versions = () =>
  running()
    .map(({ env }) => env.V)
    .sort()
    .join("");
/** Oldest first. */
const releases = (kind: string) =>
  it.store.releases
    .list(keyOf(kind, "shop", "web"))
    .map(({ status }) => status)
    .reverse();

test.each(["deployment", "statefulset"] as const)(
  "%s: a liveness restart in a rollout finishes nothing, and no old replica goes for it",
  async (kind) => {
    it = await world({ fetch: answer });
    const replicas = kind === "deployment" ? 1 : 2;
    await it.apply(app(kind, "1", { replicas }));
    await it.settle();
    it.runtime.delay("stop", stopMs);
    await it.apply(app(kind, "2", { replicas }));
    let restarts = 0;
    for (let second = 0; second < 80; second += 1) {
      await it.advance(1_000);
      restarts = it.events("replica.restart").length;
      expect(releases(kind)).toEqual(["succeeded", "running"]);
      expect(versions()).toContain("1");
    }
    expect(restarts).toBeGreaterThan(0);
    it.runtime.delay("stop", 0);
    await it.settle();
    expect(releases(kind)).toEqual(["succeeded", "failed", "succeeded"]);
    expect(versions()).toBe("1".repeat(replicas));
  },
);

test("an ordinal made anew in a rollout finishes nothing, and no other one goes meanwhile", async () => {
  it = await world({ fetch: answer });
  healthy.add("3");
  await it.apply(app("statefulset", "1", { replicas: 2 }));
  await it.settle();
  await it.apply(app("statefulset", "3", { replicas: 2 }));
  await waitFor("the first ordinal to be replaced", async () => {
    await it.advance(100);
    return versions() === "13";
  });
  await it.advance(1_000);
  it.runtime.delay("stop", stopMs);
  const anew = it.controller.deleteResource(
    { scope: "shop", name: "web", ordinal: "1" },
    { prune: false, actor: "ana" },
  );
  it.running.reconciler.enqueueAll();
  for (let second = 0; second < stopMs / 1_000 - 1; second += 1) {
    await it.advance(1_000);
    expect(releases("statefulset")).toEqual(["succeeded", "running"]);
    expect(running("shop-web.0").map(({ env }) => env.V)).toEqual(["1"]);
  }
  const { conditions } = await it.status("statefulset", "shop", "web");
  expect(conditions?.find(({ type }) => type === "Ready")?.message).toContain("shop-web.1 is being recreated");
  it.runtime.delay("stop", 0);
  await it.advance(5_000);
  await anew;
  await it.settle();
  expect([releases("statefulset"), versions()]).toEqual([["succeeded", "succeeded"], "33"]);
});

test.each(["deployment", "statefulset"] as const)(
  "%s: what a run of a plugin stops in a rollout finishes nothing, however long it lasts",
  async (kind) => {
    it = await world({ plugins: (layout) => testPlugins(layout) });
    const replicas = kind === "deployment" ? 1 : 2;
    const spec = { image: fixtureImage, command: ["sleep", "9"], env_from: ["shop/web"], replicas };
    const rollout = { min_ready: "5s", progress_deadline: "90s", drain: "0s" };
    const child = { kind, name: "web", spec: { ...spec, rollout } };
    const untilTold = "touch begun; while [ ! -e go ] && [ -e plugin.yml ]; do sleep 0.05; done";
    const folder = writePlugin(it.layout, "db", {
      yml: "name: db\nversion: '1'\n",
      commands: { expand: printing({ status: "ok", data: child }), restore: `${untilTold}\n${acting([])}` },
    });
    await it.apply({ kind: "db", scope: "shop", name: "web", spec: {} });
    await it.settle();
    const restore = it.controller.dispatchPlugin(
      { plugin: "db", command: "restore", body: { args: ["shop/web"] } },
      { actor: "ana", restart: true },
    );
    await waitFor("the run to begin", () => Bun.file(`${folder}/begun`).exists());
    await it.controller.setConfig({ scope: "shop", name: "web" }, { V: "2" }, { restart: true, actor: "t" });
    // The first new replica, while the rollout still has an old one.
    await waitFor("the first new replica", async () => {
      await it.quiet();
      const fresh = running().find(({ env }) => env.V === "2");
      if (fresh !== undefined && running().length === 2) it.runtime.stopByHand(fresh.name);
      else await it.advance(10);
      return fresh !== undefined;
    });
    // Far beyond the progress deadline: the run takes as long as it takes.
    await it.advance(300_000);
    expect(running().map(({ env }) => env.V)).toEqual([undefined]);
    expect(await it.status(kind, "shop", "web")).toMatchObject({ phase: "progressing", frozen_replicas: 0 });
    await Bun.write(`${folder}/go`, "");
    await restore;
    await it.settle();
    expect(versions()).toBe("2".repeat(replicas));
  },
);
