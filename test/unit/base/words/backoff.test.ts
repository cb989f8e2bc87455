import { expect, test } from "bun:test";
import { createBackoff } from "../../../../src/base/words/backoff.ts";

const plain = { firstMs: 1_000, maxMs: 60_000, random: () => 0 };

function waits(count: number, random: () => number): number[] {
  const backoff = createBackoff({ ...plain, random });
  return Array.from({ length: count }, () => backoff.next());
}

test("doubles from the first wait to the longest and stays there", () => {
  expect(waits(9, () => 0)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
});

test("jitter takes at most a quarter off", () => {
  expect(waits(3, () => 0.999999)).toEqual([750, 1_500, 3_000]);
});

test("a thousand failures still give a finite wait", () => {
  expect(waits(2_000, () => 0).at(-1)).toBe(60_000);
});

test("counts failures until a reset, then begins anew", () => {
  const backoff = createBackoff(plain);
  backoff.next();
  backoff.next();
  expect(backoff.failures).toBe(2);
  backoff.reset();
  expect(backoff.failures).toBe(0);
  expect(backoff.next()).toBe(1_000);
});
