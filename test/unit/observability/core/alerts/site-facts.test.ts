import { expect, test } from "bun:test";
import type { FailedRoute } from "../../../../../src/ingress/api/failed-share.ts";
import { siteFacts } from "../../../../../src/observability/core/alerts/site-facts.ts";

const targets = new Map([
  ["shop/front", "shop/web"],
  ["shop/api", "shop/web"],
  ["shop/old", "@plugin"],
]);
const site = (ingress: string, requests: number, failed: number, p99?: number) => {
  return {
    ingress,
    requests,
    failed,
    five_minutes: { requests: 5 * requests, failed },
    failed_routes: [],
    p99_ms: p99,
  };
};

test("requests of all ingresses of an app are one fact", () => {
  expect(
    siteFacts([site("shop/front", 60, 3, 20), site("shop/api", 40, 1, 90), site("shop/old", 1, 0)], targets),
  ).toEqual([
    ...[
      {
        scope: "shop",
        name: "web",
        requests: 100,
        failed: 4,
        p99Ms: 90,
        fiveMinutes: { requests: 500, failed: 4 },
        failsAt: undefined,
      },
    ],
    ...[
      { scope: "shop", name: "old", requests: 1, failed: 0, p99Ms: undefined, fiveMinutes: { requests: 5, failed: 0 } },
    ],
  ]);
});

test("where most of the failed requests went is told", () => {
  const told = (...failed_routes: FailedRoute[]) =>
    siteFacts([{ ...site("shop/front", 60, 3), failed_routes }], targets)[0]?.failsAt;
  expect(told()).toBeUndefined();
  expect(told({ route: "GET /cart", failed: 3 })).toBe("all at GET /cart");
  expect(told({ route: "GET /cart", failed: 3 }, { route: "GET /pay", failed: 9 })).toBe("most at GET /pay");
});
