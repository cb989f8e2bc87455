import { beforeEach, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { createHeartbeat, type HeartbeatRoom } from "../../../../../src/observability/service/alerts/heartbeat.ts";
import { type AlertWorld, alertWorld } from "../../../../support/alert-world.ts";
import { waitFor } from "../../../../support/wait.ts";

let world: AlertWorld;
let heartbeat: HeartbeatRoom;
let pinged: string[];
let status = 200;
let alive = true;
const stopping = new AbortController();

beforeEach(() => {
  pinged = [];
  status = 200;
  alive = true;
  world = alertWorld({
    ping: async ({ url }) => {
      pinged.push(url);
      if (status === 0) throw new Failure("unavailable", "hc.example: connection refused");
      return { status, body: "" };
    },
  });
  heartbeat = createHeartbeat(world.parts, () => alive);
});

async function run(): Promise<void> {
  void heartbeat.run(stopping.signal);
  await heartbeat.put({ url: "https://hc.example/x", every: "1m" });
  await waitFor("the first look", () => heartbeat.view().state !== "waiting");
}

async function move(ms: number): Promise<void> {
  await waitFor("the pause", () => world.clock.sleepers > 0);
  world.clock.moveTo(world.clock.steady() + ms);
}

test("pings as often as it is told, and shows how that goes", async () => {
  expect(heartbeat.view()).toEqual({ enabled: false, state: "off", failures: 0 });
  await run();
  expect(heartbeat.view()).toMatchObject({ state: "ok", target: "hc.example", every: "1m", result: "ok" });
  await move(60_000);
  await waitFor("another ping", () => pinged.length === 2);
});

test("a ping that fails is tried again sooner, and shown", async () => {
  status = 0;
  await run();
  expect(heartbeat.view()).toMatchObject({ state: "failing", failures: 1, result: "hc.example: connection refused" });
  status = 200;
  await move(30_000);
  await waitFor("a good ping", () => heartbeat.view().state === "ok");
});

test("no ping goes out while the alerts are not evaluated", async () => {
  alive = false;
  await run();
  expect(heartbeat.view().state).toBe("held");
  expect(pinged).toEqual([]);
});

test("ends when it is removed", async () => {
  await run();
  expect(await heartbeat.remove()).toMatchObject({ enabled: false });
  await move(300_000);
  expect(pinged).toHaveLength(1);
});

test.each([
  [{ url: "hc.example" }, "url:"],
  [{ url: "https://hc.example", every: "5s" }, "at least 30s"],
  [{ url: "https://hc.example", every: "often" }, "not a duration"],
])("%j is refused", (body, text) => {
  expect(() => heartbeat.put(body)).toThrow(text);
});
