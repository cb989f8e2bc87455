import { expect, test } from "bun:test";
import { durationMaxMs, formatDuration, parseDuration } from "../../../../src/base/pure/duration.ts";

test.each([
  ["0", 0],
  ["0s", 0],
  ["10s", 10_000],
  ["500ms", 500],
  ["1h30m", 5_400_000],
  ["2d", 172_800_000],
  ["1.5h", 5_400_000],
  ["1d2h3m4s5ms", 93_784_005],
])("%s is %d ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(["", "10", "s", "-1s", "1m1h", "1s1s", "1 s", "1S", "1us", "ten", "25d", "1e3s", "1h30"])(
  "%j is none",
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test("the longest duration fits a timer", () => {
  expect(parseDuration("24d")).toBeLessThanOrEqual(durationMaxMs);
});

test("prints the shortest spelling", () => {
  expect(formatDuration(5_400_000)).toBe("1h30m");
  expect(formatDuration(0)).toBe("0s");
  expect(formatDuration(1_001)).toBe("1s1ms");
});
