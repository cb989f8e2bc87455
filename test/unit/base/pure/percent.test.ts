import { expect, test } from "bun:test";
import { formatPercent, parsePercent } from "../../../../src/base/pure/percent.ts";

test.each([
  ["0%", 0],
  ["5%", 0.05],
  ["0.5%", 0.005],
  ["12.5 %", 0.125],
  ["100%", 1],
])("%s is a share of %d", (text, share) => {
  expect(parsePercent(text)).toBeCloseTo(share, 12);
});

test.each(["", "5", "%", "-1%", "101%", "5%%", "five%", "1e1%", ".5%"])("%j is not a percentage", (text) => {
  expect(parsePercent(text)).toBeUndefined();
});

test("prints three digits that count", () => {
  expect([0, 0.05, 0.12345, 1 / 3, 0.00004].map(formatPercent)).toEqual(["0 %", "5 %", "12.3 %", "33.3 %", "0.004 %"]);
});
