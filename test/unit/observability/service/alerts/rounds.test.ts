import { beforeEach, describe, expect, test } from "bun:test";
import type { Alarm } from "../../../../../src/observability/core/apps/alarms.ts";
import { type AlertRoom, createAlerts } from "../../../../../src/observability/service/alerts/create.ts";
import { type AlertWorld, alertWorld, downStatus, listedApp, whyOfWeb } from "../../../../support/alert-world.ts";

let world: AlertWorld;
let room: AlertRoom;

const open = () => createAlerts(world.parts, () => Promise.resolve());

beforeEach(async () => {
  world = alertWorld();
  room = open();
  await room.channels.put("ops", { target: { type: "webhook", url: "https://ops.example/hook" } });
});

/** Looks every 15 s. */
async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 15) {
    world.clock.moveTo(world.clock.steady() + 15_000);
    await room.look();
  }
}

const titles = () =>
  room.channels
    .deliveries({ limit: 50 })
    .map(({ title }) => title)
    .toReversed();
const states = () => room.alerts.list({}).alerts.map(({ rule, state }) => `${rule} ${state}`);

describe("an app whose visitors get errors", () => {
  const alarms: (readonly Alarm[])[] = [];
  /** What `fires` heard last. */
  const heard = () => alarms.at(-1)?.map(({ title, detail, began }) => [title, detail, began]);

  beforeEach(() => {
    alarms.length = 0;
    world = alertWorld({ fires: (list) => void alarms.push(list) });
    room = open();
    world.answers["/apply"] = [listedApp("web")];
    world.answers["/why"] = whyOfWeb;
    world.answers["/ingress"] = { proxy: { state: "running" }, sites: [{ ingress: "shop/front", target: "shop/web" }] };
  });

  /** Of 100 requests a minute, this many fail; `seconds` of them are looked at. */
  async function serve(failures: number, { seconds, before = 0 }: { seconds: number; before?: number }) {
    for (let passed = 15; passed <= seconds; passed += 15) {
      const failed = (span: number) => {
        const now = (Math.min(passed, span) * failures) / 60;
        return Math.floor(now + (Math.max(0, span - passed) * before) / 60);
      };
      const five = { requests: 500, failed: failed(300) };
      const routes = { failed_routes: [{ route: "GET /orders/:id", failed: five.failed }] };
      const minute = { requests: 100, failed: failed(60), p99_ms: 9 };
      const site = { ingress: "shop/front", ...minute, five_minutes: five, ...routes };
      world.answers["/ingress/traffic"] = { seconds: 60, sites: [site], dropped: 0 };
      await pass(15);
    }
  }

  test("is told of within three minutes where 6 of 100 fail, with the route and the change before, and for five minutes below", async () => {
    await serve(6, { seconds: 180 });
    const began = "23:58 UTC manifest.apply shop/web by ana: new checkout";
    const detail = "6 of 100 requests of the last minute, all at GET /orders/:id";
    expect(heard()).toEqual([["shop/web fails 6.0 % of its requests", detail, began]]);
    const [alert] = room.alerts.list({}).alerts;
    expect(alert?.why).toMatchObject({ began });
    expect(alert?.why?.next).toContain("berth ingress logs --status 5xx");
    await serve(0, { seconds: 240, before: 6 });
    expect(heard()).toHaveLength(1);
    await serve(0, { seconds: 180 });
    expect(heard()).toEqual([]);
  });

  test("is well with 4 of 100, and with one of two requests at night", async () => {
    await serve(4, { seconds: 600 });
    const one = { requests: 2, failed: 1 };
    const night = { ingress: "shop/front", ...one, five_minutes: one, failed_routes: [] };
    world.answers["/ingress/traffic"] = { seconds: 60, sites: [night], dropped: 0 };
    await pass(600);
    expect(alarms.flat()).toEqual([]);
    expect(states()).toEqual([]);
  });

  test("is no alarm while a silence holds", async () => {
    await serve(50, { seconds: 180 });
    await room.silences.add({ matcher: { app: "shop/web" }, for: "1h" }, "ana");
    await serve(50, { seconds: 15 });
    expect(heard()).toEqual([]);
  });
});

describe("an app that is down", () => {
  beforeEach(async () => {
    world.answers["/apply"] = [listedApp("web", downStatus)];
    world.answers["/why"] = whyOfWeb;
    await room.look();
  });

  test("is pending first, fires after a minute, and its message has the why", async () => {
    expect(states()).toEqual(["down pending"]);
    expect(titles()).toEqual([]);
    await pass(60);
    expect(states()).toEqual(["down firing"]);
    await pass(30);
    expect(titles()).toEqual(["shop/web is down"]);
    const [alert] = room.alerts.list({}).alerts;
    expect(alert?.why).toEqual({
      changes: ["23:58 UTC manifest.apply shop/web by ana: new checkout"],
      lines: ["starting", "Error: no database"],
      next: ["berth why shop/web", "berth rollback shop/web", "berth logs shop/web"],
      began: "23:58 UTC manifest.apply shop/web by ana: new checkout",
    });
    expect(alert?.sent_at).toBeDefined();
  });

  test("fires nothing twice and loses nothing over a restart of the server", async () => {
    await pass(60);
    room = open();
    await pass(60);
    expect(titles()).toEqual(["shop/web is down"]);
    room = open();
    world.answers["/apply"] = [listedApp("web")];
    await pass(30);
    room = open();
    await pass(90);
    expect(titles()).toEqual(["shop/web is down", "resolved: shop/web is down"]);
    expect(room.alerts.list({}).alerts).toEqual([]);
    expect(room.alerts.history({ limit: 10 })).toMatchObject([{ rule: "down", state: "resolved" }]);
  });

  test("keeps its state while the platform does not answer, which the list says", async () => {
    await pass(90);
    delete world.answers["/apply"];
    await pass(600);
    expect(states()).toEqual(["down firing"]);
    expect(room.alerts.list({}).blind).toContainEqual({ rule: "down", problem: "/apply does not answer" });
    expect(titles()).toEqual(["shop/web is down"]);
  });

  test("that was deleted resolves", async () => {
    await pass(90);
    world.answers["/apply"] = [];
    await pass(120);
    expect(room.alerts.list({}).alerts).toEqual([]);
  });

  test("that is well before the minute is over was never reported", async () => {
    world.answers["/apply"] = [listedApp("web")];
    await pass(300);
    expect(room.alerts.history({ limit: 10 })).toEqual([]);
    expect(titles()).toEqual([]);
  });

  test("is silenced by its app, and reported when the silence is over and it is still down", async () => {
    await room.silences.add({ matcher: { app: "shop/*" }, for: "10m" }, "ana");
    await pass(300);
    expect(titles()).toEqual([]);
    expect(room.alerts.list({}).alerts[0]?.silenced_by).toBeDefined();
    await pass(400);
    expect(titles()).toEqual(["shop/web is down"]);
  });

  test("that somebody acknowledged sends no reminder, and still its end", async () => {
    await pass(90);
    const [alert] = room.alerts.list({}).alerts;
    await room.alerts.acknowledge(alert?.id ?? "", { note: "on it" }, "ana");
    await pass(5 * 3_600);
    expect(titles()).toEqual(["shop/web is down"]);
    expect(room.alerts.get(alert?.id ?? "").acknowledged).toMatchObject({ by: "ana", note: "on it" });
    world.answers["/apply"] = [listedApp("web")];
    await pass(120);
    expect(titles().at(-1)).toBe("resolved: shop/web is down");
    expect(room.alerts.acknowledge(alert?.id ?? "", {}, "ana")).rejects.toThrow("does not fire any more");
  });

  test("that nobody acknowledged is reported again after 4 hours", async () => {
    await pass(4 * 3_600 + 120);
    expect(titles()).toEqual(["shop/web is down", "still: shop/web is down"]);
  });
});

test("a mass failure is one message", async () => {
  world.answers["/apply"] = Array.from({ length: 40 }, (_, index) => listedApp(`app-${index}`, downStatus));
  world.answers["/why"] = whyOfWeb;
  await pass(150);
  expect(titles()).toEqual(["shop/app-0 is down, and 39 more"]);
});

test("an app that flaps stays one alert longer and longer", async () => {
  world.answers["/why"] = whyOfWeb;
  for (let round = 0; round < 6; round += 1) {
    world.answers["/apply"] = [listedApp("web", downStatus)];
    await pass(90);
    world.answers["/apply"] = [listedApp("web")];
    await pass(150);
  }
  expect(room.alerts.history({ limit: 50 }).length).toBeLessThanOrEqual(3);
});

test("a rule that is turned off ends its alerts; one of the pack comes back when it is deleted", async () => {
  world.answers["/apply"] = [listedApp("web", downStatus)];
  await pass(90);
  const watch = { type: "platform", condition: "down" };
  await room.rules.put("down", { watch, enabled: false }, "ana");
  await pass(15);
  expect(room.alerts.list({}).alerts).toEqual([]);
  expect(room.rules.get("down")).toMatchObject({ origin: "changed", enabled: false });
  expect(await room.rules.remove("down")).toEqual({ name: "down", restored: true });
  expect(room.rules.remove("down")).rejects.toThrow("berth alerts rules disable down");
  await pass(90);
  expect(states()).toEqual(["down firing"]);
});

test("a channel gets only what is severe enough and about its apps", async () => {
  const target = { type: "slack", url: "https://hooks.slack.example/x" };
  await room.channels.put("blog", { target, apps: ["blog/*"] });
  await room.channels.put("loud", { target, min_severity: "critical" });
  world.answers["/apply"] = [listedApp("web", { ready_replicas: 1 })];
  await pass(400);
  expect(room.channels.deliveries({ limit: 9 }).map(({ channel }) => channel)).toEqual(["ops"]);
});

test("without a channel nothing is lost: the first one gets what still fires", async () => {
  await room.channels.remove("ops");
  world.answers["/apply"] = [listedApp("web", downStatus)];
  await pass(300);
  await room.channels.put("late", { target: { type: "webhook", url: "https://ops.example/hook" } });
  await pass(15);
  expect(room.channels.deliveries({ limit: 9 }).map(({ channel }) => channel)).toEqual(["late"]);
});

test.each([
  [{ watch: { type: "platform", condition: "dwn" } }, "watch.condition"],
  [{ watch: { type: "requests" } }, "set failed_percent"],
  [{ watch: { type: "log", pattern: "x" }, for: "soon" }, "for:"],
  [{}, "watch: is required"],
  [[], "expected object"],
])("the rule %j is refused with the path of its fault", (body, text) => {
  expect(room.rules.put("mine", body, "ana")).rejects.toThrow(text);
});

test("a part that hangs leaves its rules blind, and keeps no other from being looked at", async () => {
  const limits = { ...world.parts.limits, readMs: 20 };
  const { client } = world.parts;
  const call = (endpoint: { path: string }) =>
    endpoint.path === "/certificates" ? new Promise(() => undefined) : client.call(endpoint as never);
  const slow = createAlerts({ ...world.parts, limits, client: { ...client, call } as never }, () => Promise.resolve());
  world.answers["/apply"] = [listedApp("web", downStatus)];
  await slow.look();
  const { alerts, blind } = slow.alerts.list({});
  expect(alerts).toMatchObject([{ rule: "down" }]);
  expect(blind).toContainEqual({ rule: "certificate", problem: "no answer within 0.02 s" });
});
