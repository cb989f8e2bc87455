import { expect, test } from "bun:test";
import { canaryWeights, shareOf, weightsOf } from "../../../../../src/orchestration/core/plan/canary-weights.ts";

test("one new replica beside four old ones gets 5 % of the requests", () => {
  const groups = { fresh: 1, old: 4 };
  const weights = canaryWeights({ share: 0.05, ...groups });
  expect(weights).toEqual({ fresh: 52, old: 247 });
  expect(shareOf(weights, groups)).toBeCloseTo(0.05, 4);
});

test("at 0 and at 1 a group gets nothing, unless it is the only one", () => {
  expect(canaryWeights({ share: 0, fresh: 2, old: 2 })).toEqual({ fresh: 0, old: 256 });
  expect(canaryWeights({ share: 1, fresh: 2, old: 2 })).toEqual({ fresh: 256, old: 0 });
  expect(canaryWeights({ share: 1, fresh: 0, old: 2 })).toEqual({ fresh: 0, old: 256 });
  expect(canaryWeights({ share: 0, fresh: 2, old: 0 })).toEqual({ fresh: 256, old: 0 });
});

const canary = { hash: "b", generation: 5, baseHash: "a", share: 0.25 };
const of = (...hashes: string[]) => hashes.map((hash) => ({ hash, generation: 5 }));

test("after the last step the share grows with the replicas that were replaced", () => {
  expect(weightsOf({ ...canary, mode: "passed" }, of("b", "a", "a", "a"))).toEqual([256, 256, 256, 256]);
  expect(weightsOf({ ...canary, mode: "passed" }, of("b", "b", "b", "a"))).toEqual([256, 256, 256, 256]);
  const [fresh = 0, old = 0] = weightsOf({ ...canary, share: 0.5, mode: "passed" }, of("b", "a", "a", "a")) ?? [];
  expect(fresh).toBeGreaterThan(2.9 * old);
});

test("a release of the same spec is told apart by its generation", () => {
  const same = { ...canary, baseHash: "b", mode: "kept" } as const;
  const pods = [
    { hash: "b", generation: 4 },
    { hash: "b", generation: 5 },
  ];
  expect(weightsOf(same, pods)).toEqual([0, 256]);
  expect(weightsOf({ ...same, mode: "withdrawn" }, pods)).toEqual([256, 0]);
});

test("kept replicas take over when there are no others, and a third version is served", () => {
  expect(weightsOf({ ...canary, mode: "kept" }, of("a", "a"))).toBeUndefined();
  expect(weightsOf({ ...canary, mode: "kept" }, of("a", "b", "c"))).toEqual([0, 256, 256]);
});
