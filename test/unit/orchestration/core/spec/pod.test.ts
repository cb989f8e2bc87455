import { describe, expect, test } from "bun:test";
import { decodePod } from "../../../../../src/orchestration/core/spec/pod.ts";

const autoscaleOf = (spec: object) => decodePod("deployment", { ...spec }).autoscale;

test("reads the block, with defaults for the cool-downs", () => {
  const autoscale = { min: 1, max: 5, cpu_target: 60 };
  expect(autoscaleOf({ autoscale })).toEqual({
    min: 1,
    max: 5,
    cpuTarget: 60,
    cooldownUpMs: 30_000,
    cooldownDownMs: 300_000,
  });
  expect(autoscaleOf({ autoscale: { ...autoscale, cooldown_up: "1m", cooldown_down: "0s" } })).toMatchObject({
    cooldownUpMs: 60_000,
    cooldownDownMs: 0,
  });
});

test.each([{}, { autoscale: null }, { autoscale: { min: 1, max: "5", cpu_target: 60 } }, { autoscale: { min: 1 } }])(
  "%p has none",
  (spec) => expect(autoscaleOf(spec)).toBeUndefined(),
);

describe("sleep", () => {
  test.each([
    ["without wake there is none", { idle_after: "5m" }, undefined],
    ["wake: false", { wake: false }, undefined],
    ["a word in place of a switch", { wake: "yes" }, undefined],
    ["its default", { wake: true }, { idleMs: 900_000, idleText: "15m" }],
    ["its own time", { wake: true, idle_after: "90s" }, { idleMs: 90_000, idleText: "90s" }],
    ["never by itself", { wake: true, idle_after: "0" }, { idleMs: undefined, idleText: "0" }],
    ["a time of another version", { wake: true, idle_after: "soon" }, { idleMs: 900_000, idleText: "15m" }],
  ])("%s", (_, spec, policy) => expect(decodePod("deployment", spec).sleep).toEqual(policy));
});
