import { expect, test } from "bun:test";
import { createCache } from "../../../../src/orchestration/store/cache.ts";

test("a value is made once until it is dropped", () => {
  const cache = createCache<number>(10);
  let made = 0;
  const get = () => cache.get("a", () => ++made);
  expect([get(), get()]).toEqual([1, 1]);
  cache.drop("a");
  expect(get()).toBe(2);
  cache.clear();
  expect(get()).toBe(3);
});

test("undefined is not kept", () => {
  const cache = createCache<number | undefined>(10);
  expect(cache.get("a", () => undefined)).toBeUndefined();
  expect(cache.get("a", () => 1)).toBe(1);
});

test("a full cache forgets instead of growing", () => {
  const cache = createCache<number>(2);
  for (const key of ["a", "b", "c"]) cache.get(key, () => 1);
  expect(cache.get("a", () => 2)).toBe(2);
  expect(cache.get("c", () => 2)).toBe(1);
});

test("what was set is there, and room is made for what is new only", () => {
  const cache = createCache<number>(2);
  for (const [key, value] of [
    ["a", 1],
    ["b", 2],
    ["a", 3],
  ] as const)
    cache.set(key, value);
  expect([cache.peek("a"), cache.peek("b"), cache.peek("c")]).toEqual([3, 2, undefined]);
  cache.set("c", 4);
  expect([cache.peek("a"), cache.peek("c")]).toEqual([undefined, 4]);
});
