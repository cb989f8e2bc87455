import { expect, test } from "bun:test";
import type { Client } from "../../../../../src/base/wire/client.ts";
import { createReleaseReader } from "../../../../../src/observability/service/alerts/release-reader.ts";
import { createAlerts } from "../../../../../src/observability/service/alerts/create.ts";
import { alertWorld, listedApp } from "../../../../support/alert-world.ts";

const release = {
  id: "r7",
  status: "failed",
  cause: "apply",
  error: "exit code 1",
  started_at: "2026-01-01T00:00:00.000Z",
};

test("releases are asked for once, again after an event about the app, and while one is under way", async () => {
  const world = alertWorld();
  const asked: string[] = [];
  const call = (endpoint: { path: string }, input: unknown) => {
    asked.push(endpoint.path);
    return world.parts.client.call(endpoint as never, input as never);
  };
  const read = createReleaseReader({ ...world.parts.client, call: call as Client["call"] });
  const count = () => asked.splice(0).filter((path) => path === "/releases").length;
  world.answers["/releases"] = { releases: [release] };
  const web = listedApp("web");
  expect((await read([web])).get("deployment/shop/web")).toMatchObject([{ id: "r7" }]);
  expect(count()).toBe(1);
  await read([web]);
  expect(count()).toBe(0);
  const event = {
    seq: 9,
    at: "",
    actor: "a",
    action: "release.failed",
    kind: "deployment",
    scope: "shop",
    name: "web",
  };
  world.answers["/events"] = { events: [event] };
  world.answers["/releases"] = { releases: [{ ...release, status: "running" }] };
  await read([web]);
  world.answers["/events"] = { events: [] };
  await read([web]);
  expect(count()).toBe(2);
});

test("a failed deploy fires at once although the old replicas serve, and ends with one that succeeds", async () => {
  const world = alertWorld();
  const room = createAlerts(world.parts, () => Promise.resolve());
  world.answers["/apply"] = [listedApp("web")];
  world.answers["/releases"] = { releases: [{ ...release, ended_at: "2026-01-01T00:00:00.000Z" }] };
  await room.look();
  expect(room.alerts.list({}).alerts).toMatchObject([{ rule: "deploy-failed", title: "shop/web deploy failed (r7)" }]);
  const event = {
    seq: 9,
    at: "",
    actor: "a",
    action: "release.succeeded",
    kind: "deployment",
    scope: "shop",
    name: "web",
  };
  world.answers["/events"] = { events: [event] };
  world.answers["/releases"] = { releases: [{ ...release, id: "r8", status: "succeeded" }, release] };
  await room.look();
  expect(room.alerts.list({}).alerts).toEqual([]);
});

test("an app whose older replicas serve is not down while a rollout has none of its own", async () => {
  let serving = 1;
  const world = alertWorld({ sources: { sight: () => ({ serving, starved: undefined }) } });
  const room = createAlerts(world.parts, () => Promise.resolve());
  world.answers["/releases"] = {
    releases: [
      { ...release, status: "running" },
      { ...release, status: "succeeded" },
    ],
  };
  world.answers["/apply"] = [listedApp("web", { replicas: 1, ready_replicas: 0, phase: "progressing" })];
  await room.look();
  expect(room.alerts.list({}).alerts).toEqual([]);
  serving = 0;
  await room.look();
  expect(room.alerts.list({}).alerts).toMatchObject([{ rule: "down", state: "pending" }]);
});

test("every alert that begins, fires, is acknowledged or ends is told to those that watch", async () => {
  const told: string[] = [];
  const world = alertWorld({
    told: ({ state, acknowledged }) => told.push(acknowledged === undefined ? state : "seen"),
  });
  const room = createAlerts(world.parts, () => Promise.resolve());
  world.answers["/ingress"] = {
    proxy: { state: "failing", problem: "no port" },
    sites: [{ ingress: "a/b", target: "a/b" }],
  };
  for (let look = 0; look < 6; look += 1) {
    await room.look();
    world.clock.moveTo(world.clock.steady() + 15_000);
  }
  await room.alerts.acknowledge(room.alerts.list({}).alerts[0]?.id ?? "", {}, "ana");
  expect(told).toEqual(["pending", "firing", "seen"]);
});

test("a replica that was killed for its memory is reported, also when it runs again at the next look", async () => {
  const world = alertWorld({ sources: { sight: () => ({ serving: 2, starved: "shop-web.abc" }) } });
  const room = createAlerts(world.parts, () => Promise.resolve());
  world.answers["/apply"] = [listedApp("web")];
  await room.look();
  expect(room.alerts.list({}).alerts).toMatchObject([
    { rule: "out-of-memory", detail: "shop-web.abc was killed, because it used more memory than it may" },
  ]);
});
