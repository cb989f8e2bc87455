import { expect, test } from "bun:test";
import { canaryPolicy } from "../../../../src/orchestration/core/resolve-canary.ts";

test("a step without a pause lasts as long as the guard watches", () => {
  const canary = [{ weight: "5%", pause: "2m" }, { weight: "25%", pause: "forever" }, "50%", { weight: "75%" }];
  expect(canaryPolicy({ canary }, 30_000)).toEqual({
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
  expect(canaryPolicy({ canary: ["25%"], keep: "10m" }, 0)?.steps.at(-1)).toEqual({ share: 1, pauseMs: 0 });
  expect(canaryPolicy({ canary: ["100%"], keep: "10m" }, 0)?.steps).toHaveLength(1);
});

test("what cannot be read counts as absent", () => {
  expect(canaryPolicy({}, 0)).toBeUndefined();
  expect(canaryPolicy({ canary: ["much", 5, null, {}] }, 0)).toBeUndefined();
  expect(canaryPolicy({ canary: "5%" }, 0)).toBeUndefined();
});
