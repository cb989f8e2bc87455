import { describe, expect, test } from "bun:test";
import type { PlannedPod, WorkloadPlan } from "../../../../../src/orchestration/core/plan/pod.ts";
import {
  awaitsDepartures,
  reachedBy,
  type Verdict,
  type VerdictInput,
  verdictOf,
} from "../../../../../src/orchestration/core/plan/verdict.ts";
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
    const restless = pod("a", { crashes: { count: 50, since: 0 }, ...starting });
    expect(verdict([restless], { plan: { ...going, done: true } })).toEqual({ outcome: "done" });
  });

  test("goes on while new replicas have time to come up", () => {
    expect(verdict([pod("a", starting)])).toEqual({ outcome: "going" });
  });

  const crashing = (count: number, seconds: number) =>
    pod("a", { ...starting, crashes: { count, since: now - seconds * 1_000 }, exitCode: 7 });

  test("goes on through crashes that are few, or have not gone on for long", () => {
    expect(verdict([crashing(4, 600)])).toEqual({ outcome: "going" });
    expect(verdict([crashing(50, 59)])).toEqual({ outcome: "going" });
  });

  test("has failed when they are many and have gone on for long, and names the rule", () => {
    expect(verdict([crashing(9, 61)])).toEqual({
      outcome: "failed",
      reasons: ["CrashLoop"],
      message:
        "shop-web.a crash-loops: restarted 9 times, last exit code 7, in 61 s; " +
        "rule: crash_loop_restarts 5, crash_loop_after 1m",
    });
  });

  test("follows the fields of its rollout block", () => {
    const own = workload({ rollout: { crashRestarts: 2, crashAfterMs: 30_000 } });
    expect(verdict([crashing(2, 29)], { workload: own }).outcome).toBe("going");
    expect(verdict([crashing(2, 30)], { workload: own }).outcome).toBe("failed");
  });

  test("says so when the exit code is not known, or when we ended it", () => {
    const message = (change: Partial<PlannedPod>) => verdict([{ ...crashing(5, 60), ...change }]);
    expect(message({ exitCode: undefined })).toMatchObject({ message: expect.stringContaining("exit code unknown") });
    expect(message({ killedFor: "killed by its liveness probe" })).toMatchObject({
      message: expect.stringContaining("restarted 5 times, killed by its liveness probe"),
    });
  });

  test("has failed at the second try of what can never be started, and at once when it says so itself", () => {
    const lasting = {
      reason: "StartFailed" as const,
      message: 'exec: "x": executable file not found',
      attempts: 1,
      lasting: true,
    };
    expect(verdict([], { lastError: lasting })).toEqual({ outcome: "going" });
    expect(verdict([], { lastError: { ...lasting, attempts: 9, lasting: false } })).toEqual({ outcome: "going" });
    expect(verdict([], { lastError: { ...lasting, attempts: 2 } })).toEqual({
      outcome: "failed",
      reasons: ["StartFailed"],
      message: lasting.message,
    });
    expect(verdict([pod("a", { ...starting, cannotStart: "exec /x: exec format error" })])).toMatchObject({
      reasons: ["StartFailed"],
      message: "shop-web.a: exec /x: exec format error",
    });
  });

  test.each([
    ["ImageMissing", 3, true, "failed"],
    ["ImagePull", 3, true, "failed"],
    ["ImagePull", 2, true, "going"],
    ["ImagePull", 9, false, "going"],
    ["PortTaken", 9, true, "going"],
    ["EngineUnavailable", 9, true, "going"],
  ] as const)("with %s at try %i, atomic: %p, is %s", (reason, attempts, isAtomic, outcome) => {
    const lastError = { reason, message: "no such image", attempts, lasting: false };
    const found = verdict([], { lastError, isAtomic });
    expect(found.outcome).toBe(outcome);
    if (found.outcome === "failed") expect(found).toMatchObject({ reasons: [reason], message: "no such image" });
  });

  test("has failed when a new replica runs out of memory", () => {
    const starved = pod("a", { ...starting, oomKilled: true });
    expect(verdict([starved])).toMatchObject({ outcome: "failed", reasons: ["OutOfMemory"] });
    expect(verdict([{ ...starved, ready: true }])).toEqual({ outcome: "going" });
  });

  test.each([
    ["outdated", { ...old }],
    ["of an older generation", { generation: 1 }],
    ["frozen", { frozen: true }],
    ["an init container", { role: "init" }],
  ] as [string, Partial<PlannedPod>][])("does not fail for a crashing replica that is %s", (_, what) => {
    const crashes = { count: 9, since: 0 };
    expect(verdict([pod("a", { ...starting, ...what, crashes, oomKilled: true })])).toEqual({ outcome: "going" });
  });

  test("does not fail for restarts of one that is ready now", () => {
    expect(verdict([pod("a", { crashes: { count: 9, since: 0 } })])).toEqual({ outcome: "going" });
  });

  test("has failed once its deadline has passed, and not a moment earlier", () => {
    const movedAt = now - 300_000;
    expect(verdict([], { movedAt: movedAt + 1 })).toEqual({ outcome: "going" });
    expect(verdict([], { movedAt })).toEqual({
      outcome: "failed",
      reasons: ["ProgressDeadline"],
      message: "not ready within the progress deadline of 300 s: 2 of 3 replicas ready",
    });
  });

  test("tells a probe that keeps a new replica from being ready, and not one of a replica that goes", () => {
    const probe = "readiness probe (GET :80/) fails since 2026-01-01T00:00:00Z: 503";
    const reasons = (change: object) => verdict([pod("a", { ...starting, probe, ...change })], { movedAt: 0 });
    expect(reasons({})).toMatchObject({ reasons: ["ProgressDeadline", "ProbeFailing"] });
    expect(reasons(old)).toMatchObject({ reasons: ["ProgressDeadline"] });
  });

  test("has failed when its guard finds a fault in the requests, also of replicas that are all ready", () => {
    const guardFault = "12 of 80 requests failed";
    const failed: Verdict = { outcome: "failed", reasons: ["GuardTripped"], message: guardFault };
    expect(verdict([pod("a")], { guardFault })).toEqual(failed);
    expect(verdict([pod("a")], { guardFault, plan: { ...going, done: true } })).toEqual(failed);
  });

  test("names the last error before what it waits for", () => {
    expect(
      verdict([], {
        movedAt: 0,
        lastError: { reason: "ImageMissing", message: "no such image", attempts: 1, lasting: false },
      }),
    ).toMatchObject({
      reasons: ["ProgressDeadline", "ImageMissing"],
      message: "not ready within the progress deadline of 300 s: no such image",
    });
  });
});

describe("a rollout waits for nothing but departures", () => {
  const departing = pod("d", { ...old, departing: true });
  const waits = (pods: PlannedPod[], plan = going) => awaitsDepartures(plan, pods, workload());

  test("while one drains and all that is new is ready", () => {
    expect(waits([departing, pod("a")])).toBe(true);
    expect(waits([departing])).toBe(true);
    expect(waits([departing, pod("f", { ...starting, frozen: true }), pod("h", { held: "being restarted" })])).toBe(
      true,
    );
  });

  test("not beside a new one that is not ready, beside a step that is to be done, or where none drains", () => {
    expect(waits([departing, pod("a"), pod("b", starting)])).toBe(false);
    expect(waits([departing], { ...going, steps: [{ type: "create", ordinal: undefined, why: "missing" }] })).toBe(
      false,
    );
    expect(waits([pod("a"), pod("o", old)])).toBe(false);
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

  test("grows when a new one serves, and not again when it has been watched", () => {
    const watched = reached(pod("a", old), pod("b", { ...starting, watchedUntil: now + 1_000 }));
    expect(watched).toBe(reached(pod("a", old), pod("b")));
    expect(watched).toBe(reached(pod("a", old), pod("b", starting)) + 1);
  });

  test("does not grow when a new one is made and not ready", () => {
    expect(reached(pod("a", old), pod("b", starting))).toBe(reached(pod("a", old)));
  });

  test("is not about frozen replicas and init containers", () => {
    expect(reached(pod("a"), pod("b", { frozen: true }), pod("c", { role: "init" }))).toBe(1);
  });
});
