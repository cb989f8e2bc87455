import { expect, test } from "bun:test";
import { createFailedRoutes, routeOf } from "../../../../src/ingress/core/figures/failed-routes.ts";

test.each([
  ["/", "/"],
  ["/orders/17/pay", "/orders/:id/pay"],
  ["/orders/9dd3f8c0-4b6e-11ee/pay", "/orders/:id/pay"],
  ["/feed/added/face", "/feed/added/face"],
  [`/t/${"x".repeat(41)}`, "/t/:id"],
  ["/a/b/c/d/e/f/g/h", "/a/b/c/d/e/…"],
  ["/api/v2/getUserInfo/README.md", "/api/v2/getUserInfo/README.md"],
  ["/.well-known/wp-login.php/", "/.well-known/wp-login.php/"],
  // What a link in a mail lets somebody do.
  ["/reset/AbCdEfGh", "/reset/:id"],
  ["/r/AbCdEfGh", "/r/:id"],
  ["/r/q3x9zk", "/r/:id"],
  ["/password/reset/correct-horse", "/password/reset/:id"],
  ["/users/verify-mail/opensesame/done", "/users/verify-mail/:id/done"],
  ["/unsubscribe/jo@shop.example", "/unsubscribe/:id"],
  ["/t/eyJhbGciOi.eyJzdWIi.c2ln", "/t/:id"],
  // What would be more than text for who reads it.
  ["/\u001b[2J/\u202etxt/<b>/%1b/@here", "/:id/:id/:id/:id/:id"],
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

test("a route is short, whatever a visitor sends", () => {
  const routes = createFailedRoutes({ sitesMax: 1, perSite: 4 });
  routes.add("shop/web", { at: 1, method: "X".repeat(8_000), path: `${"/a".repeat(4_000)}${"b".repeat(8_000)}` });
  routes.add("shop/web", { at: 1, method: "<BADREQ>", path: `/${"b".repeat(8_000)}` });
  expect(routes.since("shop/web", 0).map(({ route }) => route)).toEqual(["? /a/a/a/a/a/…", "? /:id"]);
});

test("the ingress whose failures are oldest is forgotten first", () => {
  const routes = createFailedRoutes({ sitesMax: 2, perSite: 4 });
  for (const site of ["a", "b", "a", "c"]) routes.add(site, { at: 1, method: "GET", path: "/" });
  expect(["a", "b", "c"].map((site) => routes.since(site, 0).length)).toEqual([1, 0, 1]);
});
