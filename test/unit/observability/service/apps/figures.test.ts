import { expect, test } from "bun:test";
import type { Client } from "../../../../../src/base/wire/client.ts";
import { createLog } from "../../../../../src/base/words/log.ts";
import { getIngressTraffic } from "../../../../../src/ingress/api/traffic.ts";
import type { EdgeReader } from "../../../../../src/observability/service/apps/edge.ts";
import { createFigures } from "../../../../../src/observability/service/apps/figures.ts";

const app = { kind: "deployment", scope: "shop", name: "web" } as const;

function place() {
  let asked = 0;
  const engine = { isAway: false, readAt: 1_000 as number | undefined };
  const call = async (endpoint: unknown) => {
    if (endpoint === getIngressTraffic) return { seconds: 0, sites: [], dropped: 0 };
    asked += 1;
    if (engine.isAway) throw new Error("the engine is away");
    const usage = { cpu_percent: asked, memory_usage_bytes: 1, memory_limit_bytes: 2, memory_percent: 50 };
    const row = {
      identity: { ...app, replica_id: "a" },
      container_name: "shop-web.a",
      usage,
      limits: {},
      orphan: false,
    };
    return { pods: [row], snapshot: true, sampled_at: "" };
  };
  const figures = createFigures({
    client: { call } as unknown as Client,
    edge: { now: { ingress: undefined } } as unknown as EdgeReader,
    usageAt: () => (engine.isAway ? undefined : engine.readAt),
    log: createLog(() => undefined),
    limits: { sparkStepMs: 15_000, sparkPoints: 4 },
  });
  const sample = async () => {
    await figures.sample(0, [app]);
    return figures.usageOf(app)?.cpu_percent;
  };
  return { engine, sample };
}

test("usage is asked for once per reading", async () => {
  const { engine, sample } = place();
  expect([await sample(), await sample(), await sample()]).toEqual([1, 1, 1]);
  engine.readAt = 16_000;
  expect([await sample(), await sample()]).toEqual([2, 2]);
});

test("while the engine is away there are no figures, and those of before are asked for again when it is back", async () => {
  const { engine, sample } = place();
  expect(await sample()).toBe(1);
  engine.isAway = true;
  expect(await sample()).toBeUndefined();
  engine.isAway = false;
  expect(await sample()).toBe(3);
});

test("before the first reading it is asked for each time", async () => {
  const { engine, sample } = place();
  engine.readAt = undefined;
  expect([await sample(), await sample()]).toEqual([1, 2]);
});
