import { expect, test } from "bun:test";
import { autoscalePolicy } from "../../../../src/orchestration/core/resolve-autoscale.ts";

test("reads the block, with defaults for the cool-downs", () => {
  const autoscale = { min: 1, max: 5, cpu_target: 60 };
  expect(autoscalePolicy({ autoscale })).toEqual({
    min: 1,
    max: 5,
    cpuTarget: 60,
    cooldownUpMs: 30_000,
    cooldownDownMs: 300_000,
  });
  expect(autoscalePolicy({ autoscale: { ...autoscale, cooldown_up: "1m", cooldown_down: "0s" } })).toMatchObject({
    cooldownUpMs: 60_000,
    cooldownDownMs: 0,
  });
});

test.each([{}, { autoscale: null }, { autoscale: { min: 1, max: "5", cpu_target: 60 } }, { autoscale: { min: 1 } }])(
  "%p has none",
  (spec) => expect(autoscalePolicy(spec)).toBeUndefined(),
);
