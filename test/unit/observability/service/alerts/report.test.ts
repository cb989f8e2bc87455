import { beforeEach, expect, test } from "bun:test";
import { type AlertRoom, createAlerts } from "../../../../../src/observability/service/alerts/create.ts";
import { type AlertWorld, alertWorld, downStatus, listedApp, whyOfWeb } from "../../../../support/alert-world.ts";
import { createTurns } from "../../../../support/turns.ts";

let world: AlertWorld;
let room: AlertRoom;

beforeEach(() => {
  world = alertWorld();
  world.answers["/why"] = whyOfWeb;
  room = createAlerts(world.parts, () => Promise.resolve());
});

/** Lets the room look and send for so long. */
async function pass(minutes: number): Promise<void> {
  const stopping = new AbortController();
  const running = room.run(stopping.signal);
  await createTurns(world.clock).advance(minutes * 60_000);
  stopping.abort();
  await running;
}

const titles = () => world.sent.map(({ body }) => (JSON.parse(body) as { title: string }).title);
const events = () =>
  world.sent.map(({ body }) => {
    const { event_action: action, dedup_key: key } = JSON.parse(body) as { event_action: string; dedup_key: string };
    return `${action} ${key.slice("berth/vps1/".length)}`;
  });

test("an end goes to a channel that heard of the alert, although its filter leaves the app out by now", async () => {
  const target = { type: "webhook", url: "https://ops.example/hook" };
  await room.channels.put("ops", { target });
  world.answers["/apply"] = [listedApp("web", downStatus)];
  await pass(3);
  await room.channels.put("ops", { target, apps: ["other/*"] });
  await room.channels.put("new", { target });
  world.answers["/apply"] = [listedApp("web")];
  await pass(10);
  expect(titles()).toEqual(["shop/web is down", "resolved: shop/web is down"]);
});

test("a pager gets a message for each group, so that a storm leaves no incident open", async () => {
  await room.channels.put("pager", { target: { type: "pagerduty", key: "k" } });
  const names = Array.from({ length: 12 }, (_, index) => `app-${index}`);
  world.answers["/apply"] = names.map((name) => listedApp(name, downStatus));
  // Each app is a group of its own.
  await room.rules.put(
    "down",
    { watch: { type: "platform", condition: "down" }, group_by: ["name"], for: "1m" },
    "ana",
  );
  await pass(10);
  const fired = events();
  expect(fired.filter((event) => event.startsWith("trigger")).toSorted()).toEqual(
    names.map((name) => `trigger down ${name}`).toSorted(),
  );
  world.answers["/apply"] = names.map((name) => listedApp(name));
  await pass(40);
  const last = new Map(events().map((event) => [event.replace(/^\w+ /, ""), event.split(" ")[0]]));
  expect([...new Set(last.values())]).toEqual(["resolve"]);
  expect(last.size).toBe(names.length);
});
