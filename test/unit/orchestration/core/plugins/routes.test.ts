import { expect, test } from "bun:test";
import { planeEndpoints } from "../../../../../src/observability/api/endpoints.ts";
import { routesFault } from "../../../../../src/orchestration/core/plugins/routes.ts";

const plugin = (name: string, prefix?: string) => ({ name, routes: prefix === undefined ? { port: 80 } : { prefix } });

test("every first segment of the observability plane is reserved", () => {
  const firsts = new Set(planeEndpoints.map(({ path }) => path.split("/")[1] ?? ""));
  expect([...firsts]).toEqual(
    expect.arrayContaining(["apps", "databases", "plugins", "pods", "whoami", "metrics.prom"]),
  );
  for (const prefix of firsts) {
    expect([prefix, routesFault(plugin("tool", prefix), [])]).toEqual([
      prefix,
      expect.stringContaining("of the server itself"),
    ]);
  }
  expect(routesFault(plugin("alerts"), [])).toContain("of the server itself");
});

test("a prefix belongs to one plugin", () => {
  expect(routesFault(plugin("tool", "desk"), [plugin("desk")])).toContain('taken by the plugin "desk"');
  expect(routesFault(plugin("tool", "desk"), [plugin("tool", "desk"), { name: "desk" }])).toBeUndefined();
  expect(routesFault({ name: "pods" }, [])).toBeUndefined();
});
