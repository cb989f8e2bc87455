import { expect, test } from "bun:test";
import { createLeaving } from "../../../../../src/orchestration/controller/state/leaving.ts";

test("a container that begins to leave, or stays after all, is told of", () => {
  let changes = 0;
  const leaving = createLeaving(
    () => true,
    () => changes++,
  );
  leaving.remove("a");
  expect(changes).toBe(0);
  leaving.add("a");
  expect(changes).toBe(1);
  leaving.remove("a");
  leaving.remove("a");
  expect(changes).toBe(2);
});

test("a container leaves until it stays after all, and is forgotten once it is gone", () => {
  const known = new Set(["a", "b", "c"]);
  const leaving = createLeaving((id) => known.has(id));
  leaving.add("a");
  leaving.add("b");
  expect([leaving.has("a"), leaving.has("b"), leaving.has("c")]).toEqual([true, true, false]);
  leaving.remove("b");
  expect(leaving.has("b")).toBe(false);
  known.delete("a");
  expect(leaving.has("a")).toBe(true);
  leaving.add("c");
  expect([leaving.has("a"), leaving.has("c")]).toEqual([false, true]);
});
