import { describe, expect, test } from "bun:test";
import type { Condition } from "../../../../../src/orchestration/api/describe.ts";
import type { PlannedPod } from "../../../../../src/orchestration/core/plan/pod.ts";
import { type ReconcileError, type StatusInput, statusOf } from "../../../../../src/orchestration/core/plan/status.ts";
import { planWorkload } from "../../../../../src/orchestration/core/plan/workload.ts";
import { aMinute, now, old, pod, starting, workload } from "./fixtures.ts";

const settled = [pod("a"), pod("b"), pod("c")];
const rolling = [pod("a"), pod("b"), pod("c", starting)];

function status(pods: PlannedPod[], more: Partial<StatusInput> = {}, at = now) {
  const wanted = workload();
  const plan = planWorkload({ workload: wanted, pods, frozenIds: [], now: at });
  return statusOf({ plan, workload: wanted, pods, now: at, steadyNow: at, ...more });
}

function error(attempts: number, more: Partial<ReconcileError> = {}): ReconcileError {
  return { reason: "ImagePull", message: 'cannot pull "web:2"', at: now, attempts, ...more };
}

function condition(of: { conditions: Condition[] }, type: string): Omit<Condition, "at" | "type"> | undefined {
  const found = of.conditions.find((each) => each.type === type);
  return found === undefined ? undefined : { status: found.status, reason: found.reason, message: found.message };
}

describe("frozen replicas", () => {
  const wanted = workload();
  const ids = ["a", "b", "c"];
  const stoppedPod = (id: string) => pod(id, { frozen: true, state: "exited", ready: false });
  const frozen = (pods: PlannedPod[], frozenIds: string[], more: Partial<StatusInput> = {}) => {
    const plan = planWorkload({ workload: wanted, pods, frozenIds: ids, now });
    return statusOf({ plan, workload: wanted, pods, now, steadyNow: now, frozenIds, ...more });
  };

  test("all of them: stopped, not ready, and how they come back", () => {
    const made = frozen(ids.map(stoppedPod), ids);
    expect(made.phase).toBe("stopped");
    expect(condition(made, "Ready")).toMatchObject({ status: false, reason: "Frozen" });
    expect(condition(made, "Ready")?.message).toBe("all 3 replicas are frozen; start with: berth start shop/web");
    expect(condition(made, "Degraded")?.status).toBe(false);
    expect(frozen([], ids).phase).toBe("stopped");
  });

  test("one that somebody started by hand is named, and is not in service", () => {
    const made = frozen([...ids.slice(1).map(stoppedPod), pod("a", { frozen: true })], ids);
    expect(made.phase).toBe("stopped");
    expect(condition(made, "Ready")?.message).toContain("shop-web.a runs although frozen");
  });

  test("held by a run for a while is progress, not a stop", () => {
    const made = frozen(ids.map(stoppedPod), []);
    expect(made.phase).toBe("progressing");
    expect(condition(made, "Ready")).toMatchObject({ status: false, message: "0 ready, 3 frozen" });
  });

  test("some of them: the others make it ready", () => {
    const pods = [pod("a"), pod("b"), pod("c", { frozen: true })];
    const plan = planWorkload({ workload: wanted, pods, frozenIds: ["c"], now });
    const made = statusOf({ plan, workload: wanted, pods, now, steadyNow: now, frozenIds: ["c"] });
    expect(made.phase).toBe("ready");
    expect(condition(made, "Ready")?.message).toBe(
      "2 ready, 1 frozen; shop-web.c runs although frozen, started by hand",
    );
  });

  test("a pending release and an error come first", () => {
    expect(frozen(ids.map(stoppedPod), ids, { pendingRelease: "r1" }).phase).toBe("progressing");
    expect(frozen(ids.map(stoppedPod), ids, { lastError: error(3) }).phase).toBe("failing");
  });
});

describe("phase", () => {
  test("ready when settled", () => {
    const made = status(settled);
    expect(made.phase).toBe("ready");
    expect(made.conditions.map(({ type, status: on }) => [type, on])).toEqual([
      ["Ready", true],
      ["Progressing", false],
      ["Degraded", false],
    ]);
    expect(condition(made, "Ready")).toEqual({ status: true, reason: "ReplicasReady", message: "3 ready" });
  });

  test("progressing while there is work, with the words of the plan", () => {
    const made = status(rolling);
    expect(made.phase).toBe("progressing");
    const message = "2 of 3 replicas ready; waiting for shop-web.c";
    expect(condition(made, "Ready")).toEqual({ status: false, reason: "ReplicasNotReady", message });
    expect(condition(made, "Progressing")).toEqual({ status: true, reason: "Reconciling", message });
    const details = made.conditions.map(({ detail }) => detail);
    expect(details).toEqual(["waiting for shop-web.c", "waiting for shop-web.c", undefined]);
    expect(condition(made, "Degraded")).toMatchObject({ status: false, reason: "Healthy" });
  });

  test("an error is named from the first time on, and makes it failing from the third", () => {
    const cause = { reason: "ImagePull", message: 'cannot pull "web:2"' };
    const second = status(rolling, { lastError: error(2) });
    expect(second.phase).toBe("progressing");
    expect(condition(second, "Progressing")).toEqual({ status: true, ...cause });
    expect(condition(second, "Degraded")?.status).toBe(false);
    const third = status(rolling, { lastError: error(3) });
    expect(third.phase).toBe("failing");
    expect(condition(third, "Progressing")).toEqual({ status: true, ...cause });
    expect(condition(third, "Degraded")).toEqual({ status: true, ...cause });
  });

  test("a terminal error is failed at once", () => {
    const made = status(rolling, { lastError: error(1, { reason: "Other", terminal: true }) });
    expect(made.phase).toBe("failed");
    expect(condition(made, "Progressing")).toMatchObject({ status: false, reason: "Other" });
    expect(condition(made, "Degraded")?.status).toBe(true);
  });

  test("failed from the deadline on, with the reason that stood in the way", () => {
    expect(status(rolling, { deadlineAt: now + 1 }).phase).toBe("progressing");
    const made = status(rolling, { deadlineAt: now });
    expect(made.phase).toBe("failed");
    expect(condition(made, "Degraded")).toEqual({
      status: true,
      reason: "ProgressDeadline",
      message: "not ready within the progress deadline: 2 of 3 replicas ready; waiting for shop-web.c",
    });
    const named = status(rolling, { deadlineAt: now, lastError: error(9) });
    expect(condition(named, "Progressing")?.message).toBe(
      'not ready within the progress deadline: cannot pull "web:2"',
    );
  });

  test("a deadline that passed after the end means nothing", () => {
    expect(status(settled, { deadlineAt: now - 1 }).phase).toBe("ready");
  });
});

describe("a paused replica", () => {
  const paused = pod("c", { state: "paused", ready: false });
  const cause = {
    reason: "Paused",
    message: "shop-web.c is paused and left alone; go on with: docker unpause shop-web.c",
  };

  test("is the reason of not being ready, and of the fault", () => {
    const made = status([pod("a"), pod("b"), paused]);
    expect(made.phase).toBe("failing");
    expect(condition(made, "Ready")).toEqual({ status: false, ...cause });
    expect(condition(made, "Degraded")).toEqual({ status: true, ...cause });
  });

  test("stands behind an error that repeats", () => {
    expect(condition(status([pod("a"), paused], { lastError: error(3) }), "Degraded")?.reason).toBe("ImagePull");
  });

  test("that is frozen, or is none, is no fault", () => {
    const others = [pod("a"), pod("b")];
    const frozen = status([...others, { ...paused, frozen: true }]);
    const command = status([...others, pod("c"), { ...paused, role: "release" }]);
    for (const made of [frozen, command]) expect(condition(made, "Degraded")?.reason).toBe("Healthy");
  });

  test("several are counted", () => {
    const second = pod("b", { state: "paused", ready: false });
    const { message } = condition(status([pod("a"), second, paused]), "Ready") ?? {};
    expect(message).toStartWith("shop-web.b and 1 more are paused");
  });
});

describe("crashes", () => {
  const crashed = (count: number, seconds: number, change: Partial<PlannedPod> = {}) =>
    pod("c", { ...starting, exitCode: 3, crashes: { count, since: now - seconds * 1_000 }, ...change });

  test("many in a row, over a minute, are a crash loop", () => {
    const made = status([pod("a"), pod("b"), crashed(5, 60)]);
    expect(made.phase).toBe("failing");
    expect(condition(made, "Degraded")).toEqual({
      status: true,
      reason: "CrashLoop",
      message: "shop-web.c restarted 5 times, last exit code 3",
    });
  });

  test("that are fewer, or have not gone on for long, are told and are no fault yet", () => {
    for (const early of [crashed(4, 600), crashed(9, 59)]) {
      const made = status([pod("a"), pod("b"), early]);
      expect(made.phase).toBe("progressing");
      expect(condition(made, "Ready")?.message).toMatch(/^2 of 3 replicas ready; shop-web\.c restarted \d times, last/);
    }
  });

  test("are over a minute after the last one, and the plan looks again just then", () => {
    const ready = (seconds: number) => crashed(9, 600, { ready: true, runningSince: now - seconds * 1_000 });
    const settledWith = (last: PlannedPod) => [pod("a"), pod("b"), last];
    expect(status(settledWith(ready(59))).phase).toBe("failing");
    expect(status(settledWith(ready(60))).phase).toBe("ready");
    const plan = planWorkload({ workload: workload(), pods: settledWith(ready(59)), frozenIds: [], now });
    expect(plan).toMatchObject({ done: true, againInMs: 1_000 });
  });

  test("running out of memory once is enough, until it has been well for a minute", () => {
    const starved = (since: number) => pod("c", { oomKilled: true, createdAt: 0, runningSince: now - since });
    const made = status([pod("a"), pod("b"), starved(aMinute - 1)]);
    expect(made.phase).toBe("failing");
    expect(condition(made, "Degraded")?.reason).toBe("OutOfMemory");
    expect(status([pod("a"), pod("b"), starved(aMinute)]).phase).toBe("ready");
  });

  test("of old versions, frozen ones and init containers do not count", () => {
    const crashing = { crashes: { count: 9, since: 0 }, oomKilled: true };
    expect(status([...rolling, pod("d", { ...old, ...crashing })]).phase).toBe("progressing");
    expect(status([...rolling, pod("d", { role: "init", ...crashing })]).phase).toBe("progressing");
    expect(status([...rolling, pod("d", { frozen: true, ...crashing })]).phase).toBe("progressing");
  });
});

describe("times", () => {
  const at = (made: { conditions: Condition[] }) => made.conditions.map((each) => Date.parse(each.at) - now);

  test("a condition keeps its time while status and reason stay, though its message moves on", () => {
    const first = status([pod("a", starting), pod("b", starting), pod("c")]);
    const second = status(rolling, { previous: first.conditions }, now + 100);
    expect(second.conditions.map(({ message }) => message)).not.toEqual(first.conditions.map(({ message }) => message));
    expect(at(second)).toEqual([0, 0, 0]);
  });

  test("a new status or a new reason has a new time", () => {
    const first = status(rolling);
    const failing = status(rolling, { previous: first.conditions, lastError: error(3) }, now + 100);
    expect(at(failing)).toEqual([0, 100, 100]);
    const ready = status(settled, { previous: failing.conditions }, now + 200);
    expect(at(ready)).toEqual([200, 200, 200]);
  });

  test("are ISO 8601", () => {
    expect(status(settled).conditions[0]?.at).toBe(new Date(now).toISOString());
  });
});

describe("an app that is asleep", () => {
  const wanted = { ...workload(), replicas: 0 };
  const made = (pods: PlannedPod[], more: Partial<StatusInput> = {}) => {
    const plan = planWorkload({ workload: wanted, pods, frozenIds: [], now });
    return statusOf({ plan, workload: wanted, pods, now, steadyNow: now, isAsleep: true, ...more });
  };

  test("is as it should be, also while its replicas still go", () => {
    for (const pods of [[], settled]) {
      const status = made(pods);
      expect([status.phase, condition(status, "Ready")?.status, condition(status, "Degraded")?.status]).toEqual([
        "asleep",
        true,
        false,
      ]);
    }
  });

  test("whose replicas cannot be removed is failing", () => {
    expect(made(settled, { lastError: error(3) }).phase).toBe("failing");
  });
});
