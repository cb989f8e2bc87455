import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Manifest, Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { keyOf, type World, type WorldOptions, world } from "../../../../support/world.ts";

/** Versions whose port is closed. */
const closed = new Set<string>();
/** Every attempt, as `<version>:<port>`. */
const asked: string[] = [];

let it: World;
beforeEach(() => {
  closed.clear();
  asked.length = 0;
});
afterEach(() => it.close());

const begin = async (options: WorldOptions = {}) => {
  it = await world({ knock, ...options });
};

async function knock({ host, port }: { host: string; port: number }): Promise<void> {
  const pod = it.runtime
    .containers()
    .find(({ networks }) => ("host" in networks ? host === "127.0.0.1" : networks.berth0?.ipAddress === host));
  const version = pod?.env.V ?? "";
  asked.push(`${version}:${port}`);
  if (pod === undefined || closed.has(version)) throw Object.assign(new Error("no"), { code: "ECONNREFUSED" });
}

const rollout = { min_ready: "2s", progress_deadline: "60s", drain: "0s" };
const spec = (v: string, more: Spec = {}) => ({ replicas: 2, ports: ["3000"], env: { V: v }, rollout, ...more });
const app = (v: string, more: Spec = {}) => deployment("shop", "web", spec(v, more));
const ingress = (more: Spec = {}): Manifest => ({
  kind: "ingress",
  scope: "shop",
  name: "www",
  spec: { service: "web", ...(more.tcp === undefined ? { host: "shop.test" } : {}), ...more },
});
/** Versions of the replicas that visitors are sent to. */
const serving = () =>
  (it.running.endpoints.list() ?? [])
    .filter(({ ready }) => ready)
    .map(({ id }) => it.runtime.containers().find((one) => one.id === id)?.env.V)
    .sort()
    .join("");
const status = (kind = "deployment") => it.status(kind, "shop", "web");
const releases = (kind = "deployment") =>
  it.store.releases
    .list(keyOf(kind, "shop", "web"))
    .map(({ status: one }) => one)
    .reverse();
const pods = () => it.runtime.containers().filter(({ name }) => name.startsWith("shop-web."));

describe("a release whose port is closed", () => {
  const liveness = { tcp_socket: { port: 3000 }, period: "1h" };
  test.each([
    ["deployment", {}, {}],
    ["statefulset", {}, {}],
    ["deployment", { probes: { liveness } }, {}],
    ["deployment", { probes: { readiness: { exec: { command: ["true"] } } } }, {}],
    ["deployment", {}, { tcp: { port: 15432 }, port: 3000 }],
    ["deployment", {}, { plugin: "caddy" }],
    ["deployment", { ports: [] }, { port: 3000 }],
  ])("fails, and sends no visitor there: %s %j %j", async (kind, more, route) => {
    await begin();
    const make = kind === "statefulset" ? statefulset : deployment;
    await it.apply([make("shop", "web", spec("1", more)), ingress(route)]);
    await it.settle();
    expect(releases(kind)).toEqual(["succeeded"]);
    closed.add("2");
    await it.apply(make("shop", "web", spec("2", more)));
    for (let second = 0; second < 58; second += 1) {
      await it.advance(1_000);
      expect([releases(kind).at(-1), serving().includes("2")]).toEqual(["running", false]);
    }
    const { conditions } = await status(kind);
    const ready = conditions?.find(({ type }) => type === "Ready")?.message;
    expect(ready).toContain("port 3000 is closed: connection refused; berth needs 0.0.0.0:3000");
    await it.settle();
    expect(releases(kind)).toEqual(["succeeded", "failed", "succeeded"]);
    expect(serving()).toBe("11");
    const [, failed] = it.store.releases.list(keyOf(kind, "shop", "web"));
    expect(failed).toMatchObject({ reasons: ["ProgressDeadline", "PortClosed"] });
    expect(failed?.error).toContain("port 3000 is closed");
  });

  test("fails the first release as well, and has never been ready", async () => {
    await begin();
    closed.add("1");
    await it.apply([app("1"), ingress()]);
    await it.advance(30_000);
    expect(await status()).toMatchObject({ phase: "progressing", ready_replicas: 0 });
    await it.advance(60_000);
    expect([releases(), serving()]).toEqual([["failed"], ""]);
  });

  test("is still not good after a restart of the server in the middle", async () => {
    await begin();
    await it.apply([app("1"), ingress()]);
    await it.settle();
    closed.add("2");
    await it.apply(app("2"));
    await it.advance(10_000);
    await it.restart();
    await it.advance(30_000);
    expect([releases(), serving()]).toEqual([["succeeded", "running"], "11"]);
    await it.settle();
    expect([releases(), serving()]).toEqual([["succeeded", "failed", "succeeded"], "11"]);
  });
});

test("a liveness probe answers for nothing: min_ready is waited for", async () => {
  await begin({ fetch: async () => new Response("") });
  await it.apply(app("1", { replicas: 1, probes: { liveness: { http_get: { path: "/", port: 80 } } } }));
  await it.advance(1_500);
  expect(releases()).toEqual(["running"]);
  await it.advance(1_000);
  expect(releases()).toEqual(["succeeded"]);
});

test("a slow start: visitors are sent to a new replica once its port is open, and the old ones stay until then", async () => {
  await begin();
  await it.apply([app("1"), ingress()]);
  await it.settle();
  closed.add("2");
  await it.apply(app("2"));
  await it.advance(10_000);
  expect(serving()).toBe("11");
  closed.delete("2");
  await it.advance(3_000);
  expect(serving()).toContain("2");
  await it.settle();
  expect([releases(), serving()]).toEqual([["succeeded", "succeeded"], "22"]);
});

test("a replica that starts again takes no visitors until its port is open again", async () => {
  await begin();
  await it.apply([app("1"), ingress()]);
  await it.settle();
  closed.add("1");
  const [first] = pods();
  it.runtime.crash(first?.name ?? "");
  await it.advance(5_000);
  expect(serving()).toBe("1");
  expect(it.controller.podReady(first?.name ?? "")).toMatchObject({
    ready: false,
    reason: expect.stringContaining("closed"),
  });
  closed.delete("1");
  await it.advance(5_000);
  expect(serving()).toBe("11");
});

test("a port is asked until it has answered once, and never again: not by time, nor by the next server", async () => {
  await begin();
  await it.apply([app("1"), ingress()]);
  await it.settle();
  await it.advance(600_000);
  expect(asked).toEqual(["1:3000", "1:3000"]);
  closed.add("1");
  await it.restart();
  await it.advance(60_000);
  expect([asked.length, serving(), (await status()).phase]).toEqual([2, "11", "ready"]);
});

test("a replica whose closed port no ingress leads to any more counts at once", async () => {
  await begin();
  closed.add("1");
  await it.apply([app("1"), ingress()]);
  await it.advance(20_000);
  expect(releases()).toEqual(["running"]);
  await it.controller.deleteManifest({ kind: "ingress", scope: "shop", name: "www" }, { prune: false, actor: "ana" });
  await it.quiet();
  expect([releases(), serving()]).toEqual([["succeeded"], "11"]);
});

test("nothing is asked where no ingress leads", async () => {
  await begin();
  closed.add("1");
  await it.apply([app("1"), ingress({ service: "other" })]);
  await it.settle();
  expect([asked, releases()]).toEqual([[], ["succeeded"]]);
});

describe("what served before", () => {
  const warning = /^port 3000 of shop-web\.\w+ is closed: .*; visitors get 503, and the next release fails$/;

  test("its ingress came is warned about and never taken out; its next release has to open the port", async () => {
    await begin();
    closed.add("1");
    await it.apply(app("1"));
    await it.settle();
    await it.apply(ingress());
    await it.advance(120_000);
    expect(await status()).toMatchObject({ phase: "ready", warnings: [expect.stringMatching(warning)] });
    expect([serving(), pods().length]).toEqual(["11", 2]);
    await it.restart();
    await it.advance(120_000);
    expect(await status()).toMatchObject({ phase: "ready", warnings: [expect.stringMatching(warning)] });
    // Once it answers, the warning ends.
    closed.clear();
    await it.advance(120_000);
    expect(await status()).not.toHaveProperty("warnings");
    closed.add("2");
    await it.apply(app("2"));
    await it.settle();
    expect([releases(), serving()]).toEqual([["succeeded", "failed", "succeeded"], "11"]);
  });

  test("the upgrade of the server is warned about, and no container is made anew", async () => {
    const ingressPorts = "berth.ingress_ports";
    await begin({
      wrapRuntime: (runtime) => ({
        ...runtime,
        create({ labels, ...made }) {
          const { [ingressPorts]: _, ...before } = labels;
          return runtime.create({ ...made, labels: before });
        },
      }),
    });
    closed.add("1");
    await it.apply([app("1"), ingress()]);
    await it.settle();
    const ids = pods().map(({ id }) => id);
    await it.restart();
    await it.advance(120_000);
    expect(await status()).toMatchObject({ phase: "ready", warnings: [expect.stringMatching(warning)] });
    expect([serving(), pods().map(({ id }) => id)]).toEqual(["11", ids]);
  });

  test("an ingress led to another port", async () => {
    await begin();
    await it.apply([app("1"), ingress()]);
    await it.settle();
    closed.add("1");
    await it.apply(ingress({ port: 4000 }));
    await it.advance(60_000);
    expect(await status()).toMatchObject({
      phase: "ready",
      warnings: [expect.stringContaining("port 4000 of shop-web.")],
    });
    expect(serving()).toBe("11");
  });
});

test("an app that was asleep takes visitors once its port is open", async () => {
  await begin({ ingressUse: async () => () => ({ mark: "", active: 0 }) });
  await it.apply([app("1", { replicas: 1, wake: true, idle_after: "5m" }), ingress()]);
  await it.settle();
  await it.advance(360_000);
  expect(pods().filter(({ state }) => state === "running")).toEqual([]);
  closed.add("1");
  await it.running.sleep.requested(keyOf("deployment", "shop", "web"), "shop.test");
  await it.advance(4_000);
  expect([pods().filter(({ state }) => state === "running").length, serving()]).toEqual([1, ""]);
  closed.clear();
  await it.advance(4_000);
  expect(serving()).toBe("1");
});

test("on the network of the machine the port is asked on loopback", async () => {
  await begin();
  closed.add("1");
  await it.apply([app("1", { replicas: 1, network_mode: "host", ports: [] }), ingress()]);
  await it.advance(10_000);
  expect([asked.length > 0, serving()]).toEqual([true, ""]);
});
