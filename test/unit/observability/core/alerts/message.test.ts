import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Alert } from "../../../../../src/observability/api/alerts.ts";
import { bodyText, type Message, spanText, titleText } from "../../../../../src/observability/core/alerts/message.ts";

const alert: Alert = {
  id: "a1",
  rule: "down",
  severity: "critical",
  state: "firing",
  title: "shop/web is down",
  detail: "0 of 2 replicas ready: web.abc crashed 5 times",
  labels: { scope: "shop", name: "web", kind: "deployment" },
  since: "2026-06-01T03:10:00.000Z",
  fired_at: "2026-06-01T03:11:00.000Z",
  why: {
    changes: ["03:09 manifest.apply shop/web by ana: new checkout"],
    lines: ["\u001b[31mError\u001b[0m: \u202econnect \u2066ECONNREFUSED\u200f"],
    next: ["berth why shop/web", "berth rollback shop/web"],
  },
};
const message: Message = {
  ...{ id: "m1", group: "down", server: "vps1", at: "2026-06-01T03:12:00.000Z" },
  ...{ fired: [alert], resolved: [], reminded: [], firing: 1 },
};
const options = { lines: true, charactersMax: 4_000 };

describe("a message", () => {
  test("of one alert says what, since when, what changed before, the last lines and what to type", () => {
    expect(titleText(message)).toBe("shop/web is down");
    expect(bodyText(message, options)).toBe(
      [
        "0 of 2 replicas ready: web.abc crashed 5 times",
        "critical, since 03:10 UTC (2m)",
        "server vps1",
        "",
        "changed before:",
        "  03:09 manifest.apply shop/web by ana: new checkout",
        "",
        "last lines:",
        "  Error: connect ECONNREFUSED",
        "",
        "type:",
        "  berth why shop/web",
        "  berth rollback shop/web",
      ].join("\n"),
    );
    expect(bodyText(message, { ...options, lines: false })).not.toContain("ECONNREFUSED");
  });

  test("of many alerts names the most severe first and counts the others", () => {
    const many = Array.from({ length: 14 }, (_, index) => ({
      ...alert,
      severity: "warning" as const,
      title: `app ${index}`,
    }));
    const both = { ...message, fired: [...many, alert] };
    expect(titleText(both)).toBe("shop/web is down, and 14 more");
    expect(bodyText(both, options)).toContain("- and 5 more");
  });

  test("of an end says how long it was", () => {
    const ended = { ...alert, state: "resolved" as const, resolved_at: "2026-06-01T04:11:00.000Z" };
    const end = { ...message, fired: [], resolved: [ended] };
    expect(titleText(end)).toBe("resolved: shop/web is down");
    expect(bodyText(end, options)).toBe("resolved after 1h\nserver vps1");
  });

  test("is within its bounds whatever the texts are", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), fc.nat({ max: 30 }), (text, count) => {
        const wild = { ...alert, title: text, detail: text };
        const given = { ...message, fired: Array.from({ length: count }, () => wild) };
        expect([...titleText(given)].length).toBeLessThanOrEqual(80);
        expect(titleText(given)).not.toContain("\n");
        expect([...bodyText(given, { lines: true, charactersMax: 500 })].length).toBeLessThanOrEqual(500);
      }),
      { numRuns: 30 },
    );
  });
});

test("spans are in their largest units", () => {
  expect([59_000, 60_000, 3_600_000, 11_100_000, 86_400_000, 187_200_000].map(spanText)).toEqual([
    "59s",
    "1m",
    "1h",
    "3h 5m",
    "1d",
    "2d 4h",
  ]);
});
