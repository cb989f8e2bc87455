import { beforeEach, describe, expect, test } from "bun:test";
import { type AlertRoom, createAlerts } from "../../../../../src/observability/service/alerts/create.ts";
import { createIncidents, type IncidentRoom } from "../../../../../src/observability/service/incidents/create.ts";
import { type AlertWorld, alertWorld, downStatus, listedApp, whyOfWeb } from "../../../../support/alert-world.ts";

let world: AlertWorld;
let room: AlertRoom;
let incidents: IncidentRoom;

const open = () => {
  incidents = createIncidents(world.parts);
  room = createAlerts(world.parts, incidents.take);
};

beforeEach(() => {
  world = alertWorld({
    sources: {
      errorLines: async () => [{ at: "2026-01-01T00:00:30.000Z", type: "log", text: "no database", bad: true }],
    },
  });
  world.answers["/why"] = whyOfWeb;
  served("succeeded");
  world.answers["/ingress"] = { proxy: { state: "running" }, sites: [{ ingress: "shop/front", target: "shop/web" }] };
  const five = { requests: 500, failed: 30 };
  const site = { ingress: "shop/front", requests: 100, failed: 30, five_minutes: five, failed_routes: [], p99_ms: 10 };
  world.answers["/ingress/traffic"] = { seconds: 60, sites: [site], dropped: 0 };
  world.answers["/ingress/logs"] = {
    entries: [
      { time: "2026-01-01T00:01:10.000Z", method: "GET", path: "/cart", status: 503 },
      { time: "2026-01-01T00:01:20.000Z", method: "GET", path: "/", status: 503 },
    ],
  };
  open();
});

async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 15) {
    world.clock.moveTo(world.clock.steady() + 15_000);
    await room.look();
  }
}

/** What the server knows of the releases of shop/web: that it was up once, or never. */
function served(status: "succeeded" | "failed"): void {
  const at = "2025-12-01T00:00:00.000Z";
  const app = { kind: "deployment", scope: "shop", name: "web" };
  const release = { id: "r0", ...app, status, cause: "apply" };
  world.answers["/releases"] = { releases: [{ ...release, started_at: at }] };
  // The event log names the app: its releases are asked for again.
  world.answers["/events"] = { events: [{ seq: 1, at, actor: "reconciler", action: "release.ended", ...app }] };
}

/** Down for five minutes, then well until every alert has ended. */
async function fall(): Promise<void> {
  world.answers["/apply"] = [listedApp("web", downStatus)];
  await pass(300);
  world.answers["/apply"] = [listedApp("web")];
  world.answers["/ingress/traffic"] = { seconds: 60, sites: [], dropped: 0 };
  await pass(345);
}

const month = { backMs: 86_400_000, limit: 50 };

describe("an outage", () => {
  test("is one incident with its alerts, its down time, its lost requests and what was changed before", async () => {
    await fall();
    const [incident, ...more] = incidents.list(month);
    expect(more).toEqual([]);
    expect(incident).toMatchObject({
      ...{ scope: "shop", name: "web", title: "shop/web is down", severity: "critical", state: "over" },
      ...{ down_seconds: 300, failed_requests: 120 },
      causes: [{ kind: "deploy", text: "23:58 UTC manifest.apply shop/web by ana: new checkout" }],
    });
    expect(incident?.alerts.map(({ rule }) => rule).toSorted()).toEqual(["down", "error-rate"]);
    expect(incidents.get(incident?.id ?? "").id).toBe(incident?.id ?? "");
    expect(() => incidents.get("none")).toThrow('there is no incident "none"');
  });

  test("is told as one timeline, oldest first", async () => {
    await fall();
    const [incident] = incidents.list(month);
    if (incident === undefined) throw new Error("no incident");
    const timeline = await incidents.timelineOf(incident);
    expect(timeline?.entries.map(({ type }) => type)).toEqual([
      ...["change", "death", "down", "log", "requests", "alert", "alert", "up", "resolved", "resolved"],
    ] as never);
    expect(timeline?.entries.find(({ type }) => type === "requests")?.text).toBe(
      "2 failed requests, such as GET /cart (503)",
    );
    expect(timeline?.missing).toEqual([]);
  });

  test("spends the budget of the month, and says on what", async () => {
    await fall();
    const [budget] = await incidents.budgets(undefined);
    expect(budget).toMatchObject({
      ...{ month: "2026-01", target_percent: 99.9, target_is_default: true, spent_seconds: 300, state: "ok" },
      spends: [{ seconds: 300, cause: "deploy" }],
    });
    const app = { scope: "shop", name: "web" };
    expect(await incidents.setTarget(app, { target_percent: 99.99 })).toMatchObject({ state: "spent" });
    expect(await incidents.budget(app, "2025-12")).toMatchObject({ spent_seconds: 0, target_percent: 99.99 });
    expect(await incidents.setTarget(app, { target_percent: null })).toMatchObject({ target_is_default: true });
    expect(incidents.budget(app, "soon")).rejects.toThrow("not a month");
    expect(incidents.budget({ scope: "a", name: "b" }, undefined)).rejects.toThrow('no app "a/b"');
    expect(incidents.setTarget(app, { target_percent: 200 })).rejects.toThrow("target_percent");
  });

  test("goes on over a restart of the server, and ends where it was last seen when the app is up again", async () => {
    world.answers["/apply"] = [listedApp("web", downStatus)];
    await pass(60);
    open();
    await pass(60);
    world.clock.moveTo(world.clock.steady() + 3_600_000);
    world.answers["/apply"] = [listedApp("web")];
    open();
    await pass(15);
    expect((await incidents.budgets(undefined))[0]?.spent_seconds).toBe(105);
  });
});

test("what cannot be asked for is named, and the rest is told", async () => {
  delete world.answers["/releases"];
  delete world.answers["/ingress/logs"];
  const timeline = await incidents.timeline({ scope: "shop", name: "web", beforeMs: 1_800_000 });
  expect(timeline.entries.map(({ type }) => type)).toContain("death");
  expect(timeline.missing).toEqual(["releases: /releases does not answer", "requests: /ingress/logs does not answer"]);
});

test("an app that is set up for the first time spends nothing", async () => {
  world.answers["/apply"] = [listedApp("web", { phase: "progressing", ready_replicas: 0 })];
  world.answers["/releases"] = { releases: [] };
  await pass(600);
  expect((await incidents.budgets(undefined))[0]?.spent_seconds).toBe(0);
});

test("an app that never came up spends nothing, and an outage goes on while its good release is forgotten", async () => {
  world.answers["/apply"] = [listedApp("web", downStatus)];
  served("failed");
  await pass(600);
  expect((await incidents.budgets(undefined))[0]).toMatchObject({ spent_seconds: 0, available_percent: 100 });
  served("succeeded");
  await pass(60);
  served("failed");
  await pass(60);
  expect((await incidents.budgets(undefined))[0]?.spent_seconds).toBeGreaterThanOrEqual(105);
});
