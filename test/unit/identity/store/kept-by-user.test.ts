import { expect, test } from "bun:test";
import { createKeptByUser, type KeptByUser } from "../../../../src/identity/store/kept-by-user.ts";

/** Only what comes a second time is kept. */
function putTwice<Value>(kept: KeptByUser<Value>, key: string, piece: { user: number; value: Value }): void {
  kept.put(key, piece.user, piece.value);
  kept.put(key, piece.user, piece.value);
}

test("what was put is there until its user is forgotten, and no other's goes with it", () => {
  const kept = createKeptByUser<string>(9);
  putTwice(kept, "a", { user: 1, value: "of 1" });
  putTwice(kept, "b", { user: 1, value: "of 1, too" });
  putTwice(kept, "c", { user: 2, value: "of 2" });
  expect(["a", "b", "c", "d"].map(kept.get)).toEqual(["of 1", "of 1, too", "of 2", undefined]);
  kept.forget([1, 7]);
  expect(["a", "b", "c"].map(kept.get)).toEqual([undefined, undefined, "of 2"]);
  kept.forget("all");
  expect(kept.get("c")).toBeUndefined();
});

test("there is room for so many and no more, and what is asked for stays longest", () => {
  const kept = createKeptByUser<number>(20);
  for (let n = 0; n < 100; n += 1) {
    putTwice(kept, `${n}`, { user: n, value: n });
    expect(kept.get("0")).toBe(0);
  }
  const left = Array.from({ length: 100 }, (_, n) => n).filter((n) => kept.get(`${n}`) !== undefined);
  expect(left.length).toBeGreaterThanOrEqual(10);
  expect(left.length).toBeLessThanOrEqual(20);
  expect(left).toEqual([0, ...left.slice(1).toSorted((a, b) => a - b)]);
  expect(left.at(-1)).toBe(99);
});

test("what has moved on to be kept longer is forgotten with its user all the same", () => {
  const kept = createKeptByUser<string>(4);
  for (const key of ["a", "b", "c"]) putTwice(kept, key, { user: key === "a" ? 1 : 2, value: key });
  expect(kept.get("a")).toBe("a");
  kept.forget([1]);
  expect(kept.get("a")).toBeUndefined();
});

test("what comes only once is not kept, and pushes out nothing", () => {
  const kept = createKeptByUser<number>(4);
  putTwice(kept, "a", { user: 1, value: 1 });
  for (let n = 2; n < 100; n += 1) kept.put(`${n}`, n, n);
  expect(kept.get("99")).toBeUndefined();
  expect(kept.get("a")).toBe(1);
});

test("without room nothing is kept", () => {
  const kept = createKeptByUser<number>(0);
  putTwice(kept, "a", { user: 1, value: 1 });
  expect(kept.get("a")).toBeUndefined();
});
