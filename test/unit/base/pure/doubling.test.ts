import { describe, expect, test } from "bun:test";
import { doubledWait, spreadWait } from "../../../../src/base/pure/doubling.ts";

describe("waits after failures", () => {
  const waits = { firstMs: 100, maxMs: 1_000 };

  test("double with each failure, up to the longest", () => {
    expect([0, 1, 2, 3, 4, 5, 6].map((failures) => doubledWait(waits, failures))).toEqual([
      0, 100, 200, 400, 800, 1_000, 1_000,
    ]);
  });

  test("stay the longest after any number of failures", () => {
    expect(doubledWait(waits, 1e6)).toBe(1_000);
  });

  test("lose up to a quarter", () => {
    expect([0, 0.5, 1].map((random) => spreadWait(1_000, random))).toEqual([1_000, 875, 750]);
  });
});
