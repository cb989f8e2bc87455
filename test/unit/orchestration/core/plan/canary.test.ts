import { describe, expect, test } from "bun:test";
import {
  canaryAfter,
  canaryBegin,
  canaryLeftMs,
  type CanaryState,
  canaryText,
  canaryTold,
  canaryWait,
  freshWanted,
  stepNow,
} from "../../../../../src/orchestration/core/plan/canary.ts";
import type { CanaryPolicy } from "../../../../../src/orchestration/core/workload.ts";

const policy: CanaryPolicy = {
  steps: [
    { share: 0.05, pauseMs: 120_000 },
    { share: 0.25, pauseMs: undefined },
    { share: 0.5, pauseMs: 0 },
  ],
  keepMs: 0,
};
const at = (change: Partial<CanaryState>): CanaryState => ({ ...canaryBegin, ...change });
const up = (state: CanaryState, ranMs = 0, own = policy) => canaryAfter(own, state, { isUp: true, ranMs });

describe("a step", () => {
  test("waits for its replicas, then moves the share, then lasts", () => {
    const waiting = canaryAfter(policy, canaryBegin, { isUp: false, ranMs: 5_000 });
    expect(waiting).toEqual(canaryBegin);
    const begun = up(waiting, 5_000);
    expect(begun).toEqual(at({ share: 0.05 }));
    expect(up(begun, 60_000)).toEqual(at({ share: 0.05, elapsedMs: 60_000 }));
    expect(canaryLeftMs(policy, at({ share: 0.05, elapsedMs: 60_000 }))).toBe(60_000);
    expect(up(at({ share: 0.05, elapsedMs: 60_000 }), 60_000)).toEqual(at({ step: 1, share: 0.05 }));
  });

  test("stands still while a replica is away or it is paused", () => {
    const state = at({ share: 0.05, elapsedMs: 60_000 });
    expect(canaryAfter(policy, state, { isUp: false, ranMs: 90_000 })).toEqual(state);
    expect(up({ ...state, isPaused: true }, 90_000)).toEqual({ ...state, isPaused: true });
    expect(canaryLeftMs(policy, { ...state, isPaused: true })).toBeUndefined();
  });

  test("without an end waits for a person", () => {
    const state = at({ step: 1, share: 0.25 });
    expect(up(state, 3_600_000).step).toBe(1);
    expect(canaryWait(policy, state)).toBe("person");
    expect(canaryTold(policy, state, "resume")).toEqual(at({ step: 2, share: 0.25 }));
  });

  test("without a pause goes on at once, and after the last one the rest is replaced", () => {
    const last = at({ step: 2, share: 0.5 });
    expect(up(last)).toEqual(at({ step: 3, share: 0.5 }));
    expect(canaryWait(policy, up(last))).toBe("rest");
    expect(up(up(last), 1_000)).toEqual(up(last));
  });
});

describe("told by a person", () => {
  test("pause and resume keep the time that the step has lasted", () => {
    const state = at({ share: 0.05, elapsedMs: 60_000 });
    const paused = canaryTold(policy, state, "pause") as CanaryState;
    expect(paused).toEqual({ ...state, isPaused: true });
    expect(canaryTold(policy, paused, "resume")).toEqual(state);
  });

  test("promote skips the steps; where the last one has all requests, that one comes first", () => {
    const promoted = canaryTold(policy, at({ share: 0.05, isPaused: true }), "promote") as CanaryState;
    expect(stepNow(policy, promoted)).toBeUndefined();
    expect(up(promoted)).toEqual({ ...promoted, step: 3 });
    const full = { ...policy, steps: [...policy.steps, { share: 1, pauseMs: 60_000 }] };
    expect(stepNow(full, promoted)).toEqual({ share: 1, pauseMs: 0 });
    const moved = up(promoted, 0, full);
    expect(moved).toMatchObject({ step: 0, share: 1 });
    expect(up(moved, 0, full).step).toBe(4);
  });

  test("is refused where it means nothing", () => {
    const state = at({ share: 0.05 });
    expect(canaryTold(policy, state, "resume")).toEqual({ problem: "it is not paused" });
    expect(canaryTold(policy, { ...state, isPaused: true }, "pause")).toEqual({ problem: "it is paused already" });
    expect(canaryTold(policy, at({ step: 1, share: 0.05 }), "resume")).toEqual({
      problem: "its new replicas are not ready yet",
    });
    for (const command of ["pause", "resume", "promote"] as const) {
      expect(canaryTold(policy, at({ step: 3, share: 0.5 }), command)).toEqual({
        problem: "all of its steps have passed",
      });
    }
  });
});

test("replicas of a step are its share, rounded up, and at least one", () => {
  const of = (share: number, wanted: number) => freshWanted({ share, pauseMs: 0 }, wanted);
  expect([of(0.05, 4), of(0.25, 4), of(0.26, 4), of(0.07, 100), of(1, 3), of(0.5, 0)]).toEqual([1, 1, 2, 7, 3, 0]);
});

test("says what it does for people", () => {
  expect(canaryText(policy, canaryBegin)).toBe("canary step 1 of 3, 5 % of the requests for 2m");
  expect(canaryText(policy, at({ isPaused: true }))).toContain("; paused, until: berth rollout resume");
  expect(canaryText(policy, at({ step: 1 }))).toBe(
    "canary step 2 of 3, 25 % of the requests; waits for: berth rollout resume",
  );
  expect(canaryText(policy, at({ step: 2 }))).toBe("canary step 3 of 3, 50 % of the requests");
  expect(canaryText(policy, at({ step: 3 }))).toBe("the canary steps have passed");
});
