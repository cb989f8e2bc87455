import { expect, test } from "bun:test";
import { cpuPercent, memoryPercent } from "../../../../src/orchestration/core/usage.ts";

const seconds = (count: number) => count * 1e9;

test.each<[string, { cpuNanos: number; at: number }, { cpuNanos: number; at: number }, number]>([
  ["one core, all the time", { cpuNanos: seconds(5), at: 0 }, { cpuNanos: seconds(6), at: 1_000 }, 100],
  ["two cores and a half", { cpuNanos: 0, at: 0 }, { cpuNanos: seconds(5), at: 2_000 }, 250],
  ["a hundredth of a percent", { cpuNanos: 0, at: 0 }, { cpuNanos: 1e6, at: 10_000 }, 0.01],
  ["nothing", { cpuNanos: 7, at: 0 }, { cpuNanos: 7, at: 1_000 }, 0],
  ["a counter that began anew", { cpuNanos: seconds(99), at: 0 }, { cpuNanos: seconds(1), at: 2_000 }, 50],
  ["no time in between", { cpuNanos: 0, at: 5 }, { cpuNanos: seconds(1), at: 5 }, 0],
  ["a clock that went back", { cpuNanos: 0, at: 5 }, { cpuNanos: seconds(1), at: 4 }, 0],
])("cpu: %s", (_what, before, after, percent) => {
  expect(cpuPercent(before, after)).toBe(percent);
});

test("memory in percent of the limit", () => {
  expect(memoryPercent(1, 3)).toBe(33.33);
  expect(memoryPercent(5, 0)).toBe(0);
});
