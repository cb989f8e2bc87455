import { expect, test } from "bun:test";
import { decideScale, type ScaleInput } from "../../../../src/orchestration/core/autoscale.ts";

const now = 10_000_000;

/** `mean` percent of one core on each of `current` replicas. */
function decide(mean: number, fields: Partial<ScaleInput> = {}) {
  const current = fields.current ?? 4;
  return decideScale({
    current,
    min: 1,
    max: 10,
    cpuTarget: 50,
    samples: Array.from({ length: current }, () => ({ cpuPercent: mean, cpuLimit: undefined })),
    lastUpAt: undefined,
    lastDownAt: undefined,
    cooldownUpMs: 30_000,
    cooldownDownMs: 300_000,
    now,
    ...fields,
  });
}

test("above the target one more, however far above", () => {
  expect(decide(60)).toEqual({ replicas: 5, why: "mean CPU use 60 % of the limit, target 50 %: one up" });
  expect(decide(5_000).replicas).toBe(5);
});

test("below the target one fewer, when one fewer is enough", () => {
  expect(decide(37)).toEqual({ replicas: 3, why: "mean CPU use 37 % of the limit, target 50 %: one down" });
  expect(decide(38).why).toContain("fewer would be above the target");
  expect(decide(0).replicas).toBe(3);
});

test("within a tenth of the target nothing moves", () => {
  for (const mean of [45, 50, 55])
    expect(decide(mean)).toEqual({ replicas: 4, why: expect.stringContaining("on target") });
  expect(decide(55.1).replicas).toBe(5);
});

test("use counts against the limit of the replica", () => {
  const samples = (cpuLimit: number) => [{ cpuPercent: 100, cpuLimit }];
  expect(decide(0, { current: 1, samples: samples(2) }).why).toContain("on target");
  expect(decide(0, { current: 1, samples: samples(0.5) })).toEqual({
    replicas: 2,
    why: "mean CPU use 200 % of the limit, target 50 %: one up",
  });
});

test("the mean is of the replicas that have a figure", () => {
  const samples = [10, 90, Number.NaN].map((cpuPercent) => ({ cpuPercent, cpuLimit: undefined }));
  expect(decide(0, { samples }).why).toContain("mean CPU use 50 %");
  expect(decide(0, { samples: [] })).toEqual({ replicas: 4, why: "no ready replica has a CPU figure" });
});

test("bounds hold, and a count outside them is put back at once", () => {
  expect(decide(90, { current: 10 })).toEqual({ replicas: 10, why: expect.stringContaining("at max") });
  expect(decide(1, { current: 1 })).toEqual({ replicas: 1, why: expect.stringContaining("at min") });
  expect(decide(0, { current: 12, samples: [], lastDownAt: now }).replicas).toBe(10);
  expect(decide(90, { current: 1, min: 3, lastUpAt: now })).toEqual({ replicas: 3, why: "1 is below min, which is 3" });
});

test("a step up waits for the cool-down of steps up alone", () => {
  expect(decide(90, { lastUpAt: now - 29_000 })).toEqual({ replicas: 4, why: expect.stringContaining("up in 1 s") });
  expect(decide(90, { lastUpAt: now - 30_000 }).replicas).toBe(5);
  expect(decide(90, { lastDownAt: now }).replicas).toBe(5);
});

test("a step down waits after a step down and after a step up", () => {
  expect(decide(1, { lastDownAt: now - 299_000 }).replicas).toBe(4);
  expect(decide(1, { lastUpAt: now - 299_000 }).why).toContain("down in 1 s");
  expect(decide(1, { lastUpAt: now - 300_000, lastDownAt: now - 300_000 }).replicas).toBe(3);
});

test("a clock that was set back holds no step up", () => {
  expect(decide(90, { lastUpAt: now + 3_600_000 }).replicas).toBe(5);
});
