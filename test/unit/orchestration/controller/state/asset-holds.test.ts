import { expect, test } from "bun:test";
import { createAssetHolds } from "../../../../../src/orchestration/controller/state/asset-holds.ts";

test("a file is held until everyone has let go of it, each once", () => {
  const holds = createAssetHolds();
  const [first, second] = [holds.hold(["a", "b"]), holds.hold(["a"])];
  first();
  first();
  expect([holds.has("a"), holds.has("b")]).toEqual([true, false]);
  second();
  expect(holds.has("a")).toBe(false);
});
