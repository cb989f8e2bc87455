import { expect, test } from "bun:test";
import { decodeRollout } from "../../../../../src/orchestration/core/spec/rollout.ts";

const canaryOf = (rollout: object) => decodeRollout("deployment", rollout).canary;

test("a step without a pause lasts as long as the guard watches", () => {
  const canary = [{ weight: "5%", pause: "2m" }, { weight: "25%", pause: "forever" }, "50%", { weight: "75%" }];
  expect(canaryOf({ canary, guard: { errors: "5%", over: "30s" } })).toEqual({
    steps: [
      { share: 0.05, pauseMs: 120_000 },
      { share: 0.25, pauseMs: undefined },
      { share: 0.5, pauseMs: 30_000 },
      { share: 0.75, pauseMs: 30_000 },
    ],
    keepMs: 0,
  });
});

test("old replicas that are kept get no requests: a last step of 100 % is added", () => {
  expect(canaryOf({ canary: ["25%"], keep: "10m" })?.steps.at(-1)).toEqual({ share: 1, pauseMs: 0 });
  expect(canaryOf({ canary: ["100%"], keep: "10m" })?.steps).toHaveLength(1);
});

test("what cannot be read counts as absent", () => {
  expect(canaryOf({})).toBeUndefined();
  expect(canaryOf({ canary: ["much", 5, null, {}] })).toBeUndefined();
  expect(canaryOf({ canary: "5%" })).toBeUndefined();
});
