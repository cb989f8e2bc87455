import { expect, test } from "bun:test";
import { type PluginRoutesInput, pluginRoutes } from "../../../../src/ingress/core/plugin-route.ts";
import { endpoint, ingress, sitesInput } from "../../../support/ingress-input.ts";

const service = {
  health_check: "/up",
  probes: { readiness: { http_get: { path: "/ready", port: 8080 }, period: "2s" } },
};
const routesOf = (spec: Record<string, unknown>, more: Partial<PluginRoutesInput> = {}) =>
  pluginRoutes({
    ...sitesInput({
      ingresses: [ingress("web", spec)],
      endpoints: [endpoint(), endpoint({ id: "c2", ip: "fd00::2" })],
    }),
    serviceSpec: () => service,
    prefix: "BERTH",
    ...more,
  });

test("a route has the variables of the protocol, with all ready replicas", () => {
  const spec = {
    ...{ host: "Shop.test", plugin: "front", port: 3000, locations: [{ path: "/api", strip: true }] },
    tls: { email: "ops@shop.test", on_demand: true, ask: "https://a.test/ask" },
    lb: { policy: "least_conn" },
  };
  expect(routesOf(spec).routes).toMatchObject([
    {
      ...{ id: "shop/web", plugin: "front", app: "shop-web" },
      env: {
        BERTH_APP: "shop-web",
        BERTH_INGRESS_HOST: "shop.test",
        BERTH_INGRESS_SERVICE: "web",
        BERTH_INGRESS_PORT: "3000",
        BERTH_INGRESS_UPSTREAMS: '["10.1.0.2:3000","[fd00::2]:3000"]',
        BERTH_INGRESS_TLS: "true",
        BERTH_INGRESS_TLS_PROVIDER: "letsencrypt",
        BERTH_INGRESS_TLS_EMAIL: "ops@shop.test",
        BERTH_INGRESS_TLS_ON_DEMAND: "true",
        BERTH_INGRESS_TLS_ASK: "https://a.test/ask",
        BERTH_INGRESS_LOCATIONS: '[{"path":"/api","strip":true}]',
        BERTH_INGRESS_LB_POLICY: "least_conn",
        BERTH_INGRESS_LB_INTERVAL: "2s",
        BERTH_INGRESS_HC_PATH: "/ready",
      },
    },
  ]);
});

test("what is not written is left out", () => {
  const plain = routesOf({ host: "shop.test", plugin: "front" }, { serviceSpec: () => ({ health_check: "/up" }) });
  expect(plain.routes[0]?.env).toEqual({
    BERTH_APP: "shop-web",
    BERTH_INGRESS_HOST: "shop.test",
    BERTH_INGRESS_SERVICE: "web",
    BERTH_INGRESS_PORT: "8080",
    BERTH_INGRESS_UPSTREAMS: '["10.1.0.2:8080","[fd00::2]:8080"]',
    BERTH_INGRESS_HC_PATH: "/up",
  });
  const off = routesOf({ host: "shop.test", plugin: "front", tls: { enabled: false, email: "ops@shop.test" } });
  expect(Object.keys(off.routes[0]?.env ?? {}).filter((name) => name.includes("TLS"))).toEqual([]);
});

test("a replica that leaves or is not ready is not in the route; without any there is a problem", () => {
  const endpoints = [endpoint({ id: "c1", leaving: true }), endpoint({ id: "c2", ready: false, ip: "10.1.0.3" })];
  const found = routesOf({ host: "shop.test", plugin: "front" }, { endpoints });
  expect(found.routes).toEqual([]);
  expect([...found.plugins]).toEqual([["shop/web", "front"]]);
  expect(found.problems).toEqual([{ id: "shop/web", message: "no replica of shop/web is ready" }]);
});

test("an ingress without a plugin has no route, and the digest changes with what the plugin gets", () => {
  expect(routesOf({ host: "shop.test" }).routes).toEqual([]);
  const digest = (spec: Record<string, unknown>) => routesOf(spec).routes[0]?.digest;
  const spec = { host: "shop.test", plugin: "front" };
  expect(digest(spec)).toBe(digest({ ...spec }));
  expect(digest(spec)).not.toBe(digest({ ...spec, port: 1 }));
  expect(digest(spec)).not.toBe(digest({ ...spec, plugin: "other" }));
});
