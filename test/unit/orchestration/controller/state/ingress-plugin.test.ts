import { expect, test } from "bun:test";
import { defaultRouter, routedSpec } from "../../../../../src/orchestration/controller/state/ingress-plugin.ts";
import { noPlugins } from "../../../../../src/orchestration/controller/state/plugin-room.ts";
import type { Plugin } from "../../../../../src/orchestration/plugins/plugin.ts";

const caddy = { yml: { name: "caddy" }, enabled: true, argv: new Map(["apply", "remove"].map((word) => [word, []])) };

function context(routing: { plugin: string; isOwnOff: boolean } | undefined, plugins: unknown[] = [caddy]) {
  const none = noPlugins();
  const list = () => ({ plugins: plugins as Plugin[], errors: [] });
  const room = { ...none, registry: { ...none.registry, list } };
  return routing === undefined ? { plugins: room } : { plugins: room, routing };
}

test("the operator's choice counts, also while it is not installed; else the only plugin while the own ingress is off", () => {
  expect(defaultRouter(context({ plugin: "traefik", isOwnOff: false }))).toBe("traefik");
  expect(defaultRouter(context({ plugin: "", isOwnOff: true }))).toBe("caddy");
  expect(defaultRouter(context({ plugin: "", isOwnOff: true }, []))).toBeUndefined();
  expect(defaultRouter(context({ plugin: "", isOwnOff: false }))).toBeUndefined();
  expect(defaultRouter(context(undefined))).toBeUndefined();
});

test("an ingress that names none gets it; other kinds, other plugins and TCP ports stay", () => {
  const on = context({ plugin: "caddy", isOwnOff: false });
  expect(routedSpec(on, "ingress", { host: "a.test" })).toEqual({ host: "a.test", plugin: "caddy" });
  for (const spec of [{ plugin: "other" }, { tcp: { port: 1883 } }]) expect(routedSpec(on, "ingress", spec)).toBe(spec);
  const spec = { image: "x" };
  expect(routedSpec(on, "deployment", spec)).toBe(spec);
});
