import { describe, expect, test } from "bun:test";
import type { PlannedPod, WorkloadPlan } from "../../../../src/core/plan/pod.ts";
import { reachedBy, type VerdictInput, verdictOf } from "../../../../src/core/plan/verdict.ts";
import { now, old, pod, starting, workload } from "./fixtures.ts";

const going: WorkloadPlan = {
  steps: [],
  againInMs: undefined,
  done: false,
  counts: { ready: 2, updated: 1, frozen: 0, total: 3 },
  waitingFor: "2 of 3 replicas ready",
};

function verdict(pods: PlannedPod[], change: Partial<VerdictInput> = {}) {
  return verdictOf({
    plan: going,
    workload: workload(),
    pods,
    movedAt: now - 1_000,
    lastError: undefined,
    now,
    ...change,
  });
}

describe("a rollout", () => {
  test("is done when the plan says so, whatever restarts there were on the way", () => {
    const restless = pod("a", { restarts: 50, ...starting });
    expect(verdict([restless], { plan: { ...going, done: true } })).toEqual({ outcome: "done" });
  });

  test("goes on while new replicas have time to come up", () => {
    expect(verdict([pod("a", starting)])).toEqual({ outcome: "going" });
  });

  test("goes on through two restarts, and has failed at the third", () => {
    expect(verdict([pod("a", { ...starting, restarts: 2 })])).toEqual({ outcome: "going" });
    expect(verdict([pod("a", { ...starting, restarts: 3, exitCode: 7 })])).toEqual({
      outcome: "failed",
      reason: "CrashLoop",
      message: "shop-web.a crash-loops: 3 restarts, last exit code 7",
    });
  });

  test("says so when the exit code is not known", () => {
    const crashing = pod("a", { ...starting, restarts: 3 });
    expect(verdict([crashing])).toMatchObject({ message: "shop-web.a crash-loops: 3 restarts, exit code unknown" });
  });

  test("has failed when a new replica runs out of memory", () => {
    const starved = pod("a", { ...starting, oomKilled: true });
    expect(verdict([starved])).toMatchObject({ outcome: "failed", reason: "OutOfMemory" });
    expect(verdict([{ ...starved, ready: true }])).toEqual({ outcome: "going" });
  });

  test.each([
    ["outdated", { ...old }],
    ["of an older generation", { generation: 1 }],
    ["frozen", { frozen: true }],
    ["an init container", { role: "init" }],
  ] as [string, Partial<PlannedPod>][])("does not fail for a crashing replica that is %s", (_, what) => {
    expect(verdict([pod("a", { ...starting, ...what, restarts: 9, oomKilled: true })])).toEqual({ outcome: "going" });
  });

  test("does not fail for restarts of one that is ready now", () => {
    expect(verdict([pod("a", { restarts: 9 })])).toEqual({ outcome: "going" });
  });

  test("has failed once its deadline has passed, and not a moment earlier", () => {
    const movedAt = now - 300_000;
    expect(verdict([], { movedAt: movedAt + 1 })).toEqual({ outcome: "going" });
    expect(verdict([], { movedAt })).toEqual({
      outcome: "failed",
      reason: "ProgressDeadline",
      message: "not ready within the progress deadline of 300 s: 2 of 3 replicas ready",
    });
  });

  test("names the last error before what it waits for", () => {
    expect(verdict([], { movedAt: 0, lastError: "no such image" })).toMatchObject({
      message: "not ready within the progress deadline of 300 s: no such image",
    });
  });
});

describe("how far a rollout is", () => {
  const reached = (...pods: PlannedPod[]) => reachedBy(pods, workload());

  test("grows when a new replica is ready, and when an old one is gone", () => {
    const before = reached(pod("a", old), pod("b", old), pod("c", starting));
    const ready = reached(pod("a", old), pod("b", old), pod("c"));
    const gone = reached(pod("b", old), pod("c"));
    expect([ready - before, gone - ready]).toEqual([1, 1]);
  });

  test("does not grow when a new one is made and not ready", () => {
    expect(reached(pod("a", old), pod("b", starting))).toBe(reached(pod("a", old)));
  });

  test("is not about frozen replicas and init containers", () => {
    expect(reached(pod("a"), pod("b", { frozen: true }), pod("c", { role: "init" }))).toBe(1);
  });
});
