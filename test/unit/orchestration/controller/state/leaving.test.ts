import { expect, test } from "bun:test";
import { createLeaving } from "../../../../../src/orchestration/controller/state/leaving.ts";

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
