import { expect, test } from "bun:test";
import { notServed } from "../../../../../src/orchestration/controller/write/not-served.ts";
import type { StoredManifest } from "../../../../../src/orchestration/api/manifest.ts";
import { noPlugins } from "../../../../../src/orchestration/controller/state/plugin-room.ts";
import type { Plugin } from "../../../../../src/orchestration/plugins/plugin.ts";

const manifest = (spec: Record<string, unknown>, kind: "ingress" | "deployment" = "ingress"): StoredManifest => ({
  ...{ kind, scope: "shop", name: "web", spec: { host: "a.test", ...spec } },
  ...{ revision: 1, createdAt: 0, updatedAt: 0, generation: 0, touched: 0 },
});
const put = (spec: Record<string, unknown> = {}, previous?: Record<string, unknown>) => ({
  manifest: manifest(spec),
  previous: previous && manifest(previous),
});
const front = { yml: { name: "front" }, enabled: true, argv: new Map(["apply", "remove"].map((word) => [word, []])) };

function withPlugin(plugin: Partial<Plugin> | undefined) {
  const none = noPlugins();
  const found = plugin as Plugin | undefined;
  const list = () => ({ plugins: found === undefined ? [] : [found], errors: [] });
  return { ...none, registry: { ...none.registry, list, find: () => found } };
}
const there = withPlugin(front as unknown as Plugin);
const absent = withPlugin(undefined);

test("an ingress is warned of while nothing serves it, with the reason", () => {
  const ingressProblem = () => "HAProxy is not installed";
  expect(notServed({ ingressProblem, plugins: there }, put())).toEqual([
    "stored, but not served: HAProxy is not installed",
  ]);
  const other = { manifest: manifest({}, "deployment"), previous: undefined };
  expect(notServed({ ingressProblem, plugins: there }, other)).toEqual([]);
});

test("an ingress that a plugin routes does not need the proxy", () => {
  const ingressProblem = () => "the ingress is turned off";
  expect(notServed({ ingressProblem, plugins: there }, put({ plugin: "front" }))).toEqual([]);
});

test("nothing is said while all is well, or where nobody knows", () => {
  expect(notServed({ ingressProblem: () => undefined, plugins: there }, put())).toEqual([]);
  expect(notServed({ plugins: there }, put())).toEqual([]);
});

test("a plugin that is not there, is disabled or cannot route is named", () => {
  const told = (plugins: ReturnType<typeof withPlugin>) => notServed({ plugins }, put({ plugin: "front" }));
  expect(told(absent)).toEqual([expect.stringMatching(/^stored, but not served: plugin "front" is not installed/)]);
  expect(told(withPlugin({ ...front, enabled: false } as unknown as Plugin))).toEqual([
    expect.stringMatching(/^stored, but not served: plugin "front" is disabled; enable it/),
  ]);
  expect(told(withPlugin({ ...front, argv: new Map([["apply", []]]) } as unknown as Plugin))).toEqual([
    expect.stringMatching(/has no command remove, so it cannot route/),
  ]);
});

test("an ingress that the server's default takes is told once, and each field that no plugin serves each time", () => {
  const context = { plugins: there, routing: { plugin: "front", isOwnOff: false } };
  const taken = { plugin: "front", compress: true };
  const beyond = expect.stringMatching(/^stored, but not served: spec.compress: does not reach a plugin/);
  expect(notServed(context, put(taken, {}))).toEqual([
    'the plugin "front" routes it: it is this server\'s default for ingresses',
    beyond,
  ]);
  expect(notServed(context, put(taken, taken))).toEqual([beyond]);
});
