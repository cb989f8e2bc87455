import { expect, test } from "bun:test";
import { alertLine, firing, isFault, troublesOf } from "../../../../src/client/text/trouble-text.ts";
import type { Alert } from "../../../../src/observability/api/alerts.ts";

const alert = (change: Partial<Alert> = {}): Alert => ({
  ...{ id: "a1", rule: "error-rate", severity: "critical", state: "firing", title: "7 % of requests fail" },
  ...{ detail: "", labels: { scope: "shop", name: "web" }, since: "2026-01-01T00:00:00.000Z" },
  ...change,
});
const site = (ingress: string, target: string, ...problems: string[]) => ({ ingress, target, problems });

test("alerts count that fire and that nobody has silenced; an acknowledged one still holds", () => {
  const acknowledged = { by: "ana", at: "2026-01-01T00:00:00.000Z" };
  const all = [
    alert(),
    alert({ id: "a2", state: "pending" }),
    alert({ id: "a3", silenced_by: "s1" }),
    alert({ id: "a4", acknowledged }),
  ];
  expect(firing(all).map(({ id }) => id)).toEqual(["a1", "a4"]);
  expect(alertLine(alert({ acknowledged }))).toBe("alert a1 (critical, acknowledged by ana): 7 % of requests fail");
  expect([isFault(alert()), isFault(alert({ severity: "info" }))]).toEqual([true, false]);
});

test("an app is told of the ingresses that lead to it, and of alerts about it", () => {
  const troubles = {
    sites: [
      site("shop/www", "shop/web", "3 of 3 requests failed in the last 30 s"),
      site("shop/api", "shop/api", "no"),
    ],
    alerts: [alert(), alert({ id: "a2", labels: { scope: "shop", name: "api" } }), alert({ id: "a3", labels: {} })],
  };
  const lines = ["ingress/shop/www: 3 of 3 requests failed in the last 30 s", alertLine(alert())];
  expect(troublesOf({ kind: "deployment", scope: "shop", name: "web" }, troubles)).toEqual(lines);
  expect(troublesOf({ kind: "statefulset", scope: "shop", name: "web" }, troubles)).toEqual(lines);
  expect(troublesOf({ kind: "ingress", scope: "shop", name: "www" }, troubles)).toEqual([]);
  expect(troublesOf({ kind: "job", scope: "shop", name: "web" }, troubles)).toEqual([alertLine(alert())]);
});

test("an alert about another kind of the same name is not about this one", () => {
  const troubles = { sites: [], alerts: [alert({ labels: { scope: "shop", name: "web", kind: "cronjob" } })] };
  expect(troublesOf({ kind: "deployment", scope: "shop", name: "web" }, troubles)).toEqual([]);
});
