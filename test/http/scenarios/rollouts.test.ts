import { afterEach, beforeEach, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { getRollout } from "../../../src/orchestration/api/rollouts.ts";
import { deployment } from "../../support/manifests.ts";
import { type Ask, plane } from "../../support/plane.ts";
import { simulatedVisitors } from "../../support/simulated-visitors.ts";
import { type World, world } from "../../support/world.ts";

let it: World;
let ask: Ask;
beforeEach(async () => {
  it = await world({ trafficOf: simulatedVisitors(() => ({})).trafficOf });
  ask = plane(it);
});
afterEach(() => it.close());

const root = "scope=shop&name=web";
const canary = [{ weight: "25%", pause: "10m" }, "100%"];
const app = (v: string, rollout: Record<string, unknown> = {}) =>
  deployment("shop", "web", { replicas: 2, rollout: { min_ready: "2s", drain: "1s", ...rollout }, env: { V: v } });

async function underWay(rollout: Record<string, unknown> = { canary }): Promise<void> {
  await ask("POST /apply", app("1"));
  await it.settle();
  expect((await ask("POST /apply", app("2", rollout))).status).toBe(200);
  await it.advance(8_000);
}

test("GET /rollouts tells the step, its time, and what visitors see", async () => {
  await underWay();
  const { status, data } = await ask(`GET /rollouts?${root}`);
  expect(status).toBe(200);
  expect([...Value.Errors(getRollout.data ?? Type.Never(), data)]).toEqual([]);
  expect(data).toMatchObject({
    kind: "deployment",
    status: "running",
    canary: {
      state: "waiting",
      step: 1,
      steps: [
        { share: 0.25, pause_seconds: 600 },
        { share: 1, pause_seconds: 0 },
      ],
      replicas: { new: 1, old: 2 },
      traffic: { seconds: 60, new: { requests: 0, failed: 0 } },
    },
  });
  const { data: described } = await ask(`GET /describe?kind=deployment&${root}`);
  expect((described.status as Record<string, unknown>).canary).toMatchObject({ step: 1 });
});

test("pause, resume, promote: each answers with what came of it, and is an event", async () => {
  await underWay();
  expect((await ask(`POST /rollouts/pause?${root}`)).data).toMatchObject({ canary: { state: "paused" } });
  expect((await ask(`POST /rollouts/pause?${root}`)).status).toBe(409);
  expect((await ask(`POST /rollouts/resume?${root}`)).data).toMatchObject({ canary: { state: "waiting" } });
  expect((await ask(`POST /rollouts/promote?${root}`)).data).toMatchObject({ canary: { promoted: true } });
  await it.settle();
  expect((await ask(`GET /rollouts?${root}`)).data).toMatchObject({ status: "succeeded" });
  expect((await ask(`POST /rollouts/abort?${root}`)).status).toBe(409);
  const told = ["rollout.pause", "rollout.resume", "rollout.promote"];
  expect(told.map((action) => it.events(action).length)).toEqual([1, 1, 1]);
});

test("abort goes back, with that as the reason", async () => {
  await underWay();
  const { data } = await ask(`POST /rollouts/abort?${root}`);
  expect(data).toMatchObject({ status: "running" });
  await it.settle();
  const { data: listed } = await ask(`GET /releases?${root}`);
  expect(listed.releases).toMatchObject([
    { id: data.release, cause: "auto_rollback", status: "succeeded" },
    { status: "failed", reasons: ["Aborted"] },
    {},
  ]);
});

test("what cannot be done is refused with its reason", async () => {
  expect((await ask(`POST /rollouts/pause?${root}`)).status).toBe(404);
  await underWay({ min_ready: "1m" });
  expect(await ask(`POST /rollouts/promote?${root}`)).toMatchObject({
    status: 409,
    error: expect.stringContaining("has no canary step under way"),
  });
  expect((await ask("POST /rollouts/abort?scope=shop")).status).toBe(400);
  expect((await ask(`POST /rollouts/abort?${root}&force=true`)).status).toBe(400);
});

test("the plan of an apply shows the steps, and warns where nothing shares the requests out", async () => {
  await ask("POST /apply", app("1"));
  await it.settle();
  const { data } = await ask("POST /apply?dry_run=true", app("2", { canary, keep: "5m" }));
  expect(JSON.stringify(data.plan)).toContain(
    "canary: 25 % of the requests for 10m, 100 %; the old replicas stay for 5m",
  );
  expect(data.warnings).toBeUndefined();
  const ingress = {
    kind: "ingress",
    scope: "shop",
    name: "web",
    spec: { host: "a.test", lb: { policy: "least_conn" } },
  };
  await ask("POST /apply", ingress);
  const { data: uneven } = await ask("POST /apply?dry_run=true", app("2", { canary }));
  expect(JSON.stringify(uneven.warnings)).toContain("lb.policy least_conn, so the shares hold only under load");
  await it.close();
  it = await world();
  ask = plane(it);
  const { data: alone } = await ask("POST /apply", app("1", { canary }));
  expect(JSON.stringify(alone.warnings)).toContain("rollout.canary: shares out no requests");
  const { data: refused } = await ask("POST /apply", app("1", { canary: ["0%"] }));
  expect(JSON.stringify(refused)).not.toContain("applied");
});
