import { expect, test } from "bun:test";
import { deepFreeze } from "../../../../src/base/pure/deep-freeze.ts";

test("every depth is frozen, and plain values pass", () => {
  const value = { a: [{ b: 1 }], c: "x", d: null };
  expect(deepFreeze(value)).toBe(value);
  expect([value, value.a, value.a[0]].every(Object.isFrozen)).toBe(true);
  expect(() => value.a.push({ b: 2 })).toThrow();
  expect([deepFreeze(1), deepFreeze(null), deepFreeze(undefined)]).toEqual([1, null, undefined]);
});
