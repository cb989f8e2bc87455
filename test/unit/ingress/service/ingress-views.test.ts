import { expect, test } from "bun:test";
import { Failure } from "../../../../src/base/wire/failure.ts";
import type { IngressState } from "../../../../src/ingress/service/create.ts";
import type { IngressViewOptions, IngressViews } from "../../../../src/ingress/service/ingress-views.ts";
import { site, table, upstream } from "../../../support/ingress-table.ts";
import { ingressState, ingressViews, usableView } from "../../../support/ingress-views.ts";

test("the status shows the proxy, and each stored ingress with replicas, totals and problems", async () => {
  const { proxy, sites } = await ingressViews().views.status();
  expect(proxy).toEqual({
    ...{ state: "running", version: "2.6.12", pid: 10, uptime_seconds: 3600, connections: 7 },
    listen: { http: ["0.0.0.0:80"], https: [] },
  });
  expect(sites).toEqual([
    {
      ...{
        ingress: "shop/late",
        hosts: ["web.test"],
        paths: ["/"],
        target: "shop/web",
        tls: false,
        maintenance: false,
      },
      ...{ upstreams: [], problems: ["host: web.test is already served"] },
      ...{ requests: 0, failed: 0, bytes_in: 0, bytes_out: 0, queued: 0 },
    },
    {
      ...{ ingress: "shop/web", hosts: ["web.test"], paths: ["/"], target: "shop/web", tls: true, maintenance: false },
      upstreams: [
        {
          ...{ replica: "r8001", container: "container-8001", address: "127.0.0.1:8001" },
          ...{ state: "ready", weight: 100, active: 2 },
        },
        {
          ...{ replica: "r8002", container: "container-8002", address: "127.0.0.1:8002" },
          ...{ state: "leaving", weight: 100, active: 0 },
        },
      ],
      ...{ problems: [], requests: 10, failed: 2, bytes_in: 150, bytes_out: 1500, queued: 4 },
    },
  ]);
});

const none = { http: [], https: [], trustedProxies: [], proxyProtocolFrom: [] };
const without = (state: ReturnType<IngressViewOptions["proxy"]["state"]>) => ({
  usable: () => undefined,
  state: () => state,
});
const cases: [string, Partial<IngressViewOptions>, Partial<IngressState>][] = [
  ["stopped", {}, { isStopped: true }],
  ["failing", {}, { problem: "disk full" }],
  ["starting", {}, { table: undefined }],
  ["waiting", { proxy: without("waiting") }, {}],
  ["starting", { proxy: without("starting") }, {}],
  ["unavailable", { proxy: without("unavailable") }, { problem: "HAProxy is not installed" }],
  ["off", { proxy: without("off"), listen: none }, { problem: "the ingress is turned off" }],
];

test.each(cases)("the proxy is %s", async (state, options, changed) => {
  const { proxy } = await ingressViews(options, ingressState(changed)).views.status();
  expect<string>(proxy.state).toBe(state);
  expect(proxy.problem).toBe(changed.problem);
});

test("a proxy that runs and does not answer is starting", async () => {
  const proxy = {
    pid: async () => 10,
    figures: () => Promise.reject(new Failure("unavailable", "no answer")),
    running: () => undefined,
  };
  const { proxy: shown, sites } = await ingressViews({ proxy: usableView(proxy, "haproxy:2.6") }).views.status();
  expect(shown).toMatchObject({ state: "starting", pid: 10, image: "haproxy:2.6" });
  expect(sites[1]).toMatchObject({ requests: 0, upstreams: [{ active: 0 }, { active: 0 }] });
});

test("reload and stop reach the ingress and answer with the state after it", async () => {
  const { views, calls } = ingressViews();
  expect((await views.reload()).proxy.pid).toBe(10);
  await views.stop();
  expect(calls).toEqual(["plugins", "reload", "stop"]);
});

test("a certificate that the proxy did not take is a problem of the ingress with its host", async () => {
  const certificates = [{ id: "web-1", names: ["*.test"], pem: "" }];
  const state = ingressState({
    table: { ...table([]), certificates },
    refused: [{ site: "certificate web-1", problem: "HAProxy refuses it" }],
  });
  const { sites } = await ingressViews({}, state).views.status();
  expect(sites.find(({ ingress }) => ingress === "shop/web")?.problems).toEqual([
    "certificate of *.test: HAProxy refuses it",
  ]);
});

const caughtUp = async () => undefined;

test("an ingress that a plugin routes shows the plugin, its replicas and what it refused", async () => {
  const plugins = {
    of: (id: string) =>
      id === "shop/web"
        ? { plugin: "front", data: undefined, upstreams: [upstream(8001)], problems: ["no room"] }
        : undefined,
    reload: () => true,
    caughtUp,
  };
  const { sites } = await ingressViews({ plugins }).views.status();
  expect(sites.find(({ ingress }) => ingress === "shop/web")).toMatchObject({
    plugin: "front",
    upstreams: [{ address: "127.0.0.1:8001", state: "ready", active: 0 }],
    problems: ["no room"],
  });
});

test("a reload without HAProxy calls the plugins, and fails where there is nothing to reload", async () => {
  const reload = () => Promise.reject(new Failure("unavailable", "the ingress is turned off"));
  const ingress = { state: () => ingressState(), reload, stop: async () => undefined };
  const withPlugins = (isUsed: boolean) =>
    ingressViews({
      ingress,
      proxy: without("unavailable"),
      plugins: { of: () => undefined, reload: () => isUsed, caughtUp },
    }).views;
  expect((await withPlugins(true).reload()).proxy.state).toBe("unavailable");
  await expect(withPlugins(false).reload()).rejects.toThrow("the ingress is turned off");
});

const asleep = site("web", [], { options: { hold: { forMs: 300, requestsMax: 100, isAsleep: true } } });
type Phase = ReturnType<IngressViews["served"]>["phase"];
const taken: IngressState["problems"] = [{ id: "shop/web", reason: "HostTaken", message: "host: is taken" }];
const plugged = (problems: string[]) => ({
  plugins: {
    of: () => ({ plugin: "front", data: undefined, upstreams: [upstream(1)], problems }),
    reload: () => true,
    caughtUp,
  },
});

test.each<[Phase, string | undefined, Partial<IngressState>, Partial<IngressViewOptions>]>([
  ["ready", undefined, {}, {}],
  ["asleep", undefined, { table: table([asleep]) }, {}],
  ["progressing", "not served yet", { table: table([]) }, {}],
  [
    "progressing",
    "no replica of shop/web is ready",
    { table: table([site("web", [upstream(1, { isLeaving: true })])]) },
    {},
  ],
  ["failing", "host: is taken", { problems: taken }, {}],
  ["failing", "not served: host: is taken", { table: table([]), problems: taken }, {}],
  ["failing", "not served: disk full", { problem: "disk full" }, {}],
  ["failing", "not served: the proxy was stopped; start it with: berth ingress reload", { isStopped: true }, {}],
  [
    "stored",
    "not served: the ingress is turned off",
    { problem: "the ingress is turned off" },
    { proxy: without("off") },
  ],
])("an ingress is %s: %s", (phase, why, changed, options) => {
  const { views } = ingressViews(options, ingressState(changed));
  expect(views.served({ scope: "shop", name: "web", spec: { host: "web.test" } })).toEqual({ phase, why });
});

test("an ingress that a plugin routes is served without the proxy", () => {
  const manifest = { scope: "shop", name: "web", spec: { host: "web.test", plugin: "front" } };
  const state = ingressState({ table: undefined, problem: "HAProxy is not installed" });
  const served = (options: Partial<IngressViewOptions>) => ingressViews(options, state).views.served(manifest);
  expect(served(plugged([]))).toEqual({ phase: "ready" });
  expect(served(plugged(["no room"]))).toEqual({ phase: "failing", why: "no room" });
  expect(served({})).toEqual({ phase: "progressing", why: "not served yet" });
});
