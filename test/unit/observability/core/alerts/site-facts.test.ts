import { expect, test } from "bun:test";
import { siteFacts, withRoutes } from "../../../../../src/observability/core/alerts/site-facts.ts";

const now = Date.UTC(2026, 5, 1);
const targets = new Map([
  ["shop/front", "shop/web"],
  ["shop/api", "shop/web"],
  ["shop/old", "@plugin"],
]);
const site = (ingress: string, requests: number, failed: number, p99?: number) => {
  return { ingress, requests, failed, five_minutes: { requests: 5 * requests, failed }, p99_ms: p99 };
};

test("requests of all ingresses of an app are one fact", () => {
  expect(
    siteFacts([site("shop/front", 60, 3, 20), site("shop/api", 40, 1, 90), site("shop/old", 1, 0)], targets),
  ).toEqual([
    ...[{ scope: "shop", name: "web", requests: 100, failed: 4, p99Ms: 90, fiveMinutes: { requests: 500, failed: 4 } }],
    ...[
      { scope: "shop", name: "old", requests: 1, failed: 0, p99Ms: undefined, fiveMinutes: { requests: 5, failed: 0 } },
    ],
  ]);
});

test("where most of the failed requests of the last five minutes went is told by their common path", () => {
  const facts = siteFacts([site("shop/front", 60, 3)], targets);
  const request = (path: string, secondsAgo = 10) => {
    return { ingress: "shop/front", method: "GET", path, time: new Date(now - secondsAgo * 1_000).toISOString() };
  };
  const told = (...failed: ReturnType<typeof request>[]) => withRoutes(facts, failed, targets, now)[0]?.failsAt;
  expect(told()).toBeUndefined();
  expect(told(request("/cart", 301))).toBeUndefined();
  expect(told(request("/orders/17/pay"), request("/orders/9dd3f8c0-4b6e/pay"))).toBe("all at GET /orders/:id/pay");
  expect(told(request("/cart"), request("/cart"), request("/checkout"))).toBe("2 of 3 at GET /cart");
  expect(told(request("/a/b/c/d/e/f/g/h"))).toBe("all at GET /a/b/c/d/e/…");
  expect(told(request("/feed/added/face"))).toBe("all at GET /feed/added/face");
});
