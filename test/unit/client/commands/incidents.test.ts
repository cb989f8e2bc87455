import { expect, test } from "bun:test";
import { type Call, cli, refusal } from "../../../support/cli.ts";

const from = "2026-01-01T20:00:00.000Z";
const incident = {
  ...{ id: "i1", scope: "shop", name: "web", title: "shop/web is down", severity: "critical", state: "over", from },
  ...{ to: "2026-01-01T20:10:00.000Z", seconds: 600, down_seconds: 300, failed_requests: 12, alerts: [] },
  causes: [{ kind: "deploy", text: "19:58 UTC manifest.apply shop/web by ana" }],
};
const timeline = {
  ...{ scope: "shop", name: "web", from, to: from, causes: [], next: [], missing: ["requests: busy"] },
  entries: [
    { at: from, type: "failed_deploy", text: "release r7 failed", bad: true },
    { at: from, type: "log", text: "\u001b[2Jno database" },
  ],
};
const budget = {
  ...{ scope: "shop", name: "web", month: "2026-01", target_percent: 99.9, target_is_default: true },
  ...{ allowed_seconds: 2_678, spent_seconds: 300, left_seconds: 2_378, state: "ok", available_percent: 99.5 },
  spends: [{ from, seconds: 300, cause: "deploy", text: "release r7", failed_requests: 12 }],
};
const why = {
  ...{ kind: "deployment", scope: "shop", name: "web", deleted: false, at: from, phase: "ready" },
  ...{ conditions: [], deaths: 0, events: [] },
};

function scene() {
  const calls: Call[] = [];
  const answers: Record<string, unknown> = {
    "/incidents": { incidents: [incident] },
    "/incidents/i1": { incident, timeline },
    "/budgets": { budgets: [budget] },
    "/budgets/shop/web": budget,
    "/why": why,
    "/apps/shop/web/why": timeline,
  };
  const server = (call: Call): unknown => {
    calls.push(call);
    return answers[call.path] ?? refusal(404, `no ${call.path}`);
  };
  return { calls, run: (...words: string[]) => cli(words, { server }) };
}

test("incidents lists how long each took and what it cost", async () => {
  const { out } = await scene().run("incidents");
  const row = out.split("\n")[1] ?? "";
  expect(row.split(/ {2,}/)).toEqual(["i1", "2026-01-01 20:00:00Z", "10m", "5m", "12", "shop/web is down"]);
  const { calls, run } = scene();
  await run("incidents", "list", "shop/web", "--since", "7d");
  await run("incidents", "shop/web", "--since", "7d");
  const query = { scope: "shop", name: "web", since: "7d" };
  expect(calls.map((call) => call.query)).toEqual([query, query]);
});

test("incidents show has the causes and the timeline, without control characters", async () => {
  const { out } = await scene().run("incidents", "show", "i1");
  for (const text of [
    "deploy: 19:58 UTC manifest.apply",
    "failed deploy",
    "release r7 failed",
    "without requests: busy",
  ]) {
    expect(out).toContain(text);
  }
  expect(out).not.toContain("\u001b");
});

test("budget shows what is left, what it was spent on, and sets the target", async () => {
  const { calls, run } = scene();
  expect((await run("budget")).out.split("\n")[1]?.split(/ {2,}/)).toEqual([
    "shop/web",
    "99.9 %",
    "99.5 %",
    "5m",
    "39m",
    "ok",
  ]);
  expect((await run("budget", "show", "shop/web", "--month", "2026-01")).out).toContain("release r7");
  await run("budget", "set", "shop/web", "99.5");
  expect(calls.at(-1)).toMatchObject({ method: "PUT", body: { target_percent: 99.5 } });
  await run("budget", "set", "shop/web", "default");
  expect(calls.at(-1)).toMatchObject({ body: { target_percent: null } });
});

test("why --timeline ends with one story", async () => {
  const { out } = await scene().run("why", "shop/web", "--timeline");
  expect(out).toContain("release r7 failed");
});

test.each([
  [["budget", "set", "shop/web"], "99.9"],
  [["budget", "set", "shop/web", "much"], "not a number"],
  [["budget", "set", "web", "99"], "no scope"],
  [["incidents", "show"], "say which incident"],
])("%j is a usage error", async (words, text) => {
  const { code, err } = await scene().run(...words);
  expect([code, err]).toEqual([2, expect.stringContaining(text)]);
});
