import { expect, test } from "bun:test";
import { createFailedRoutes, routeOf } from "../../../../src/ingress/core/figures/failed-routes.ts";

test.each([
  ["/", "/"],
  ["/orders/17/pay", "/orders/:id/pay"],
  ["/orders/9dd3f8c0-4b6e-11ee/pay", "/orders/:id/pay"],
  ["/feed/added/face", "/feed/added/face"],
  [`/t/${"x".repeat(41)}`, "/t/:id"],
  ["/a/b/c/d/e/f/g/h", "/a/b/c/d/e/…"],
])("the route of %s is %s", (path, route) => expect(routeOf(path)).toBe(route));

test("routes are told with the most failures first, of the newest requests since a time", () => {
  const routes = createFailedRoutes({ sitesMax: 2, perSite: 4 });
  const fail = (path: string, at = 10) => routes.add("shop/web", { at, method: "GET", path });
  fail("/old", 1);
  for (const path of ["/cart", "/pay/1", "/pay/2"]) fail(path);
  expect(routes.since("shop/web", 5)).toEqual([
    { route: "GET /pay/:id", failed: 2 },
    { route: "GET /cart", failed: 1 },
  ]);
  for (let count = 0; count < 20; count++) fail("/new", 20 + count);
  expect(routes.since("shop/web", 0)).toEqual([{ route: "GET /new", failed: 4 }]);
});

test("the ingress whose failures are oldest is forgotten first", () => {
  const routes = createFailedRoutes({ sitesMax: 2, perSite: 4 });
  for (const site of ["a", "b", "a", "c"]) routes.add(site, { at: 1, method: "GET", path: "/" });
  expect(["a", "b", "c"].map((site) => routes.since(site, 0).length)).toEqual([1, 0, 1]);
});
