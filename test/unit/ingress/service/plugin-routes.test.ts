import { afterEach, beforeEach, expect, test } from "bun:test";
import { Failure } from "../../../../src/base/wire/failure.ts";
import { systemClock } from "../../../../src/base/words/clock.ts";
import type { IngressManifest } from "../../../../src/ingress/core/ingress-spec.ts";
import type { HeldRoute } from "../../../../src/ingress/proxy/plugin-routes-file.ts";
import { createPluginRouting, type PluginRouting } from "../../../../src/ingress/service/plugin-routes.ts";
import type { PodEndpoint } from "../../../../src/orchestration/api/pod-endpoint.ts";
import { endpoint, ingress, sitesInput } from "../../../support/ingress-input.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { waitFor } from "../../../support/wait.ts";

let ingresses: IngressManifest[];
let endpoints: PodEndpoint[];
let calls: string[];
/** Plugin → what its next calls fail with. */
let faults: Map<string, Failure>;
/** Plugin → why it cannot route. */
let gone: Map<string, string>;
let stored: HeldRoute[];
let changed: string[];
let listeners: Set<() => void>;
let stop: () => Promise<void>;

beforeEach(() => {
  ingresses = [ingress("web", { host: "shop.test", plugin: "front" })];
  endpoints = [endpoint()];
  [calls, stored, changed] = [[], [], []];
  faults = new Map();
  gone = new Map();
  listeners = new Set();
  stop = async () => undefined;
});
afterEach(() => stop());

function start(): PluginRouting {
  const routing = createPluginRouting({
    source: {
      ...sitesInput(),
      ingresses: () => ingresses,
      endpoints: () => endpoints,
      serviceSpec: () => ({}),
      subscribe(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    prefix: "BERTH",
    plugins: {
      refresh: async () => undefined,
      faultOf: (plugin) => gone.get(plugin),
      async run({ plugin, command, app, env }) {
        calls.push(`${plugin} ${command} ${app} ${env.BERTH_INGRESS_UPSTREAMS ?? Object.keys(env).join()}`);
        const fault = faults.get(plugin);
        if (fault !== undefined) throw fault;
        return { url: `http://${env.BERTH_INGRESS_HOST}` };
      },
    },
    held: {
      read: async () => stored,
      write: async (held) => {
        stored = [...held];
      },
    },
    onChange: (id) => changed.push(id),
    clock: systemClock,
    log: silentLog,
    limits: { pluginGatherMs: 1, caughtUpMs: 5_000, pluginPauses: { firstMs: 5, maxMs: 10 }, resyncMs: 60_000 },
  });
  const ending = new AbortController();
  const running = routing.run(ending.signal);
  stop = async () => {
    ending.abort();
    await running;
  };
  return routing;
}

const tell = () => {
  for (const listener of listeners) listener();
};
const { signal } = new AbortController();
const applied = 'front apply shop-web ["10.1.0.2:8080"]';

test("the plugin is called once for a route, and again when a replica comes or goes", async () => {
  const routing = start();
  await waitFor("the first call", () => calls.length === 1);
  tell();
  await routing.caughtUp(signal);
  expect(calls).toEqual([applied]);
  expect(routing.of("shop/web")).toMatchObject({ plugin: "front", data: { url: "http://shop.test" }, problems: [] });
  expect([routing.serves("c1"), routing.serves("c2")]).toEqual([true, false]);
  endpoints = [endpoint({ leaving: true }), endpoint({ id: "c2", ip: "10.1.0.3" })];
  await routing.caughtUp(signal);
  expect(calls.slice(1)).toEqual(['front apply shop-web ["10.1.0.3:8080"]']);
  expect([routing.serves("c1"), routing.serves("c2")]).toEqual([false, true]);
});

test("without a ready replica the last route stays, and the problem is shown", async () => {
  const routing = start();
  await waitFor("the first call", () => calls.length === 1);
  endpoints = [];
  await routing.caughtUp(signal);
  expect(calls).toEqual([applied]);
  expect(routing.of("shop/web")?.problems).toEqual(["no replica of shop/web is ready"]);
  expect(changed).toContain("shop/web");
});

test("a refusal is shown and tried again; other ingresses are routed meanwhile", async () => {
  faults.set("front", new Failure("invalid", 'plugin "front" apply: port 80 is taken'));
  ingresses = [...ingresses, ingress("other", { host: "b.test", service: "web", plugin: "second" })];
  const routing = start();
  await waitFor("three tries", () => calls.filter((call) => call === applied).length >= 3);
  expect(routing.of("shop/web")?.problems).toEqual(['plugin "front" apply: port 80 is taken']);
  expect(routing.of("shop/other")?.problems).toEqual([]);
  faults.clear();
  await waitFor("a success", () => routing.of("shop/web")?.problems.length === 0);
});

test("a plugin that is gone makes its ingresses fail at once, and has all of them again when it is back", async () => {
  const routing = start();
  await waitFor("the first call", () => calls.length === 1);
  await routing.caughtUp(signal);
  changed = [];
  gone.set("front", 'plugin "front" is disabled');
  expect(routing.of("shop/web")).toMatchObject({ upstreams: [], problems: ['plugin "front" is disabled'] });
  routing.pluginsChanged();
  await waitFor("the state to be told", () => changed.includes("shop/web"));
  endpoints = [endpoint({ id: "c2", ip: "10.1.0.3" })];
  await routing.caughtUp(signal);
  expect(calls).toEqual([applied]);
  expect(routing.serves("c1")).toBe(false);
  gone.clear();
  routing.pluginsChanged();
  await waitFor("the second call", () => calls.length === 2);
  await routing.caughtUp(signal);
  expect(calls[1]).toBe('front apply shop-web ["10.1.0.3:8080"]');
  expect(routing.of("shop/web")?.problems).toEqual([]);
});

test("a field that no plugin serves takes the route back, and the problem has its path", async () => {
  const routing = start();
  await waitFor("the first call", () => calls.length === 1);
  ingresses = [ingress("web", { host: "shop.test", plugin: "front", basic_auth: { a: "b" }, tls: { ca: "x" } })];
  tell();
  await waitFor("the removal", () => calls.length === 2);
  await routing.caughtUp(signal);
  expect(calls[1]).toBe("front remove shop-web BERTH_APP");
  expect(routing.of("shop/web")?.problems).toEqual([
    expect.stringMatching(/^spec\.basic_auth: does not reach a plugin.*; spec\.tls\.ca: does not reach a plugin/),
  ]);
  ingresses = [ingress("web", { host: "shop.test", plugin: "front" })];
  tell();
  await waitFor("the route to be back", () => calls.length === 3 && routing.of("shop/web")?.problems.length === 0);
});

test("another plugin gets the route before the old one loses it, and a deleted ingress is removed", async () => {
  const routing = start();
  await waitFor("the first call", () => calls.length === 1);
  ingresses = [ingress("web", { host: "shop.test", plugin: "second" })];
  await routing.caughtUp(signal);
  expect(calls.slice(1)).toEqual(['second apply shop-web ["10.1.0.2:8080"]', "front remove shop-web BERTH_APP"]);
  ingresses = [];
  tell();
  await waitFor("the removal", () => calls.at(-1) === "second remove shop-web BERTH_APP");
  await waitFor("nothing held", () => stored.length === 0);
  expect(routing.of("shop/web")).toBeUndefined();
});

test("an ingress that went while the server was away is removed; a removal that fails is tried again", async () => {
  stored = [
    { id: "shop/gone", plugin: "front", app: "shop-gone" },
    { id: "shop/lost", plugin: "uninstalled", app: "shop-lost" },
  ];
  ingresses = [];
  faults.set("front", new Failure("internal", "it does not answer"));
  faults.set("uninstalled", new Failure("not_found", 'no plugin "uninstalled"'));
  start();
  await waitFor("two tries", () => calls.filter((call) => call.startsWith("front remove")).length >= 2);
  faults.delete("front");
  await waitFor("nothing held", () => stored.length === 0);
  expect(calls.filter((call) => call.startsWith("uninstalled"))).toHaveLength(1);
});

test("after a start, and when asked to, every plugin is called again", async () => {
  stored = [{ id: "shop/web", plugin: "front", app: "shop-web" }];
  const routing = start();
  await waitFor("the first call", () => calls.length === 1);
  routing.reload();
  await waitFor("another call", () => calls.length === 2);
  expect(calls).toEqual([applied, applied]);
});
