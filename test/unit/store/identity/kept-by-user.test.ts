import { expect, test } from "bun:test";
import { createKeptByUser } from "../../../../src/store/identity/kept-by-user.ts";

test("what was put is there until its user is forgotten, and no other's goes with it", () => {
  const kept = createKeptByUser<string>(9);
  kept.put("a", 1, "of 1");
  kept.put("b", 1, "of 1, too");
  kept.put("c", 2, "of 2");
  expect(["a", "b", "c", "d"].map(kept.get)).toEqual(["of 1", "of 1, too", "of 2", undefined]);
  kept.forget([1, 7]);
  expect(["a", "b", "c"].map(kept.get)).toEqual([undefined, undefined, "of 2"]);
  kept.forget("all");
  expect(kept.get("c")).toBeUndefined();
});

test("the user who was kept first makes room, with all of it", () => {
  const kept = createKeptByUser<number>(3);
  kept.put("a", 1, 1);
  kept.put("b", 2, 2);
  kept.put("c", 1, 3);
  kept.put("d", 3, 4);
  expect(["a", "b", "c", "d"].map(kept.get)).toEqual([undefined, 2, undefined, 4]);
});

test("without room nothing is kept", () => {
  const kept = createKeptByUser<number>(0);
  kept.put("a", 1, 1);
  expect(kept.get("a")).toBeUndefined();
});
