import { describe, expect, test } from "bun:test";
import type { PlannedPod, PlanWorkload } from "../../../../../src/orchestration/core/plan/pod.ts";
import { planWorkload } from "../../../../../src/orchestration/core/plan/workload.ts";
import { exited, now, old, oldExited, oldStarting, pod, starting, words, workload } from "./fixtures.ts";

const three = workload({ kind: "statefulset" });

function wanted(replicas: number): PlanWorkload {
  return workload({ kind: "statefulset", replicas });
}

function plan(pods: PlannedPod[], of: PlanWorkload = three, frozenIds: string[] = []) {
  return planWorkload({ workload: of, pods, frozenIds, now });
}

function steps(pods: PlannedPod[], of?: PlanWorkload, frozenIds?: string[]): string[] {
  return words(plan(pods, of, frozenIds).steps);
}

describe("coming up", () => {
  test("one ordinal after the other, each when all below are ready", () => {
    expect(steps([])).toEqual(["create 0"]);
    expect(steps([pod(0, starting)])).toEqual([]);
    expect(steps([pod(0)])).toEqual(["create 1"]);
    expect(steps([pod(0), pod(1)])).toEqual(["create 2"]);
    expect(plan([pod(0), pod(1), pod(2)])).toMatchObject({ steps: [], done: true });
  });

  test("a gap is filled although a higher one exists, whatever that does", () => {
    expect(steps([pod(0), pod(2, starting)])).toEqual(["create 1"]);
  });

  test("a missing ordinal that was there before is made at once, whatever the others do", () => {
    const lost = (pods: PlannedPod[], settledReplicas: number | undefined) =>
      words(planWorkload({ workload: three, pods, frozenIds: [], settledReplicas, now }).steps);
    const waiting = [pod(0, starting), pod(1, starting)];
    expect(lost(waiting, 3)).toEqual(["create 2"]);
    expect(lost([pod(1, starting)], 3)).toEqual(["create 0", "create 2"]);
    expect(lost(waiting, 2)).toEqual([]);
    expect(lost(waiting, undefined)).toEqual([]);
    expect(lost([...waiting, pod(2, { state: "removing", ready: false })], 3)).toEqual([]);
  });

  test("a missing ordinal below one that exists is made at once", () => {
    expect(steps([pod(0, starting), pod(2, starting)])).toEqual(["create 1"]);
  });

  test("a frozen ordinal is skipped, with its container and without", () => {
    expect(steps([pod(0), pod(1, exited)], three, ["1"])).toEqual(["create 2"]);
    expect(steps([pod(0)], three, ["1"])).toEqual(["create 2"]);
    expect(plan([pod(0), pod(2)], three, ["1"])).toMatchObject({ steps: [], done: true });
  });

  test("an ordinal whose container the engine still removes is waited for", () => {
    const made = plan([pod(0), pod(1, { state: "removing", ready: false }), pod(2)]);
    expect(made).toMatchObject({ steps: [], done: false });
    expect(made.waitingFor).toContain("waiting for the engine to remove shop-web.1");
  });
});

describe("healing", () => {
  test("starts are not gated on each other", () => {
    expect(steps([pod(0, exited), pod(1, exited), pod(2, { state: "created", ready: false })])).toEqual([
      "start 0",
      "start 1",
      "start 2",
    ]);
  });

  test("a dead one is removed, then made again in its turn", () => {
    expect(steps([pod(0), pod(1, { state: "dead", ready: false }), pod(2)])).toEqual(["remove 1"]);
    expect(steps([pod(0), pod(2)])).toEqual(["create 1"]);
  });

  test("of two containers of one ordinal the worse one goes", () => {
    const { steps: made } = plan([pod(0, { id: "worse", ...starting }), pod(0), pod(1), pod(2)]);
    expect(made).toMatchObject([{ type: "remove", pod: { id: "worse" } }]);
  });

  test("a paused double does not hide the container that serves", () => {
    const double = pod(0, { id: "double", state: "paused", ready: false });
    const made = plan([pod(0), double, pod(1)]);
    expect(words(made.steps)).toEqual(["create 2"]);
    expect(plan([pod(0), double, pod(1), pod(2)]).done).toBe(false);
  });
});

describe("replacing", () => {
  test("from the highest, one at a time, each when all are ready", () => {
    expect(steps([pod(0, old), pod(1, old), pod(2, old)])).toEqual(["remove 2"]);
    expect(steps([pod(0, old), pod(1, old)])).toEqual(["create 2"]);
    expect(steps([pod(0, old), pod(1, old), pod(2, starting)])).toEqual([]);
    expect(steps([pod(0, old), pod(1, old), pod(2)])).toEqual(["remove 1"]);
    expect(steps([pod(0, old), pod(1), pod(2)])).toEqual(["remove 0"]);
  });

  test("nothing that serves goes while another is down", () => {
    expect(steps([pod(0, old), pod(1, exited), pod(2, old)])).toEqual(["start 1"]);
    expect(steps([pod(0, old), pod(1, { ...exited, startNotBefore: now + 1 }), pod(2, old)])).toEqual([]);
    expect(steps([pod(0, old), pod(1, { state: "paused", ready: false }), pod(2, old)])).toEqual([]);
  });

  test("a broken old ordinal is replaced first, lowest first, and then waited for", () => {
    expect(steps([pod(0, old), pod(1, oldStarting), pod(2, oldStarting)])).toEqual(["remove 1"]);
    expect(steps([pod(0, old), pod(2, oldStarting)])).toEqual(["create 1"]);
    expect(steps([pod(0, old), pod(1, starting), pod(2, oldStarting)])).toEqual([]);
    expect(steps([pod(0, old), pod(1), pod(2, oldStarting)])).toEqual(["remove 2"]);
  });

  test("a new ordinal that waits for a broken old one below it does not block that one's fix", () => {
    expect(steps([pod(0, oldStarting), pod(1), pod(2, starting)])).toEqual(["remove 0"]);
  });

  test("old ones that stopped are removed at once, and never started", () => {
    expect(steps([pod(0, oldExited), pod(1, old), pod(2, oldExited)])).toEqual(["remove 0", "remove 2"]);
  });

  test("frozen ordinals neither block nor are replaced", () => {
    expect(steps([pod(0, old), pod(1, old), pod(2, oldExited)], three, ["2"])).toEqual(["remove 1"]);
    expect(plan([pod(0), pod(1), pod(2, oldExited)], three, ["2"]).done).toBe(true);
  });
});

describe("scaling down", () => {
  test("from the highest, one per plan", () => {
    const pods = [pod(0), pod(1), pod(2)];
    expect(steps(pods, wanted(1))).toEqual(["remove 2"]);
    expect(steps(pods.slice(0, 2), wanted(1))).toEqual(["remove 1"]);
    expect(plan(pods.slice(0, 1), wanted(1)).done).toBe(true);
  });

  test("extras are removed in whatever state, never started", () => {
    expect(steps([pod(0), pod(1, exited)], wanted(1))).toEqual(["remove 1"]);
  });

  test("a paused extra is left alone and does not hold up the others", () => {
    const paused = pod(3, { state: "paused", ready: false });
    expect(steps([pod(0), pod(1), pod(2), paused], wanted(2))).toEqual(["remove 2"]);
    expect(plan([pod(0), pod(1), paused], wanted(2))).toMatchObject({ steps: [], done: false });
  });

  test("a broken ordinal that stays does not block it", () => {
    expect(steps([pod(0, starting), pod(1)], wanted(1))).toEqual(["remove 1"]);
  });

  test("comes before replacing", () => {
    expect(steps([pod(0, old), pod(1, old), pod(2, old)], wanted(2))).toEqual(["remove 2"]);
    expect(steps([pod(0, oldStarting), pod(1), pod(2)], wanted(2))).toEqual(["remove 2"]);
  });

  test("a container without an ordinal is an extra", () => {
    expect(steps([pod(0), pod(1), pod(2), pod("odd")])).toEqual(["remove odd"]);
  });

  test("to zero", () => {
    expect(steps([pod(0)], wanted(0))).toEqual(["remove 0"]);
    expect(plan([], wanted(0)).done).toBe(true);
  });

  test("frozen ones go when fewer are wanted than are frozen: last, the highest first, with their marks", () => {
    const frozen = [pod(1, exited), pod(2, exited)];
    expect(steps([pod(0), ...frozen], wanted(2), ["1", "2"])).toEqual([]);
    const { steps: made } = plan([pod(0), ...frozen], wanted(1), ["1", "2"]);
    expect(made).toMatchObject([{ type: "remove", pod: { ordinal: 2 }, forgetFrozen: true }]);
    expect(steps([pod(0), ...frozen, pod(3)], wanted(1), ["1", "2"])).toEqual(["remove 3"]);
  });
});

describe("held by a run of ours", () => {
  const heldPlan = (pods: PlannedPod[], ids: string[]) => {
    const held = new Map(ids.map((id) => [id, "being recreated"]));
    const known = pods.map((one) => ({ ...one, held: held.get(one.replicaId) }));
    return planWorkload({ workload: wanted(3), pods: known, frozenIds: [], held, settledReplicas: 3, now });
  };

  test("an ordinal without a container is neither made nor passed over", () => {
    const found = heldPlan([pod(0, old), pod(2)], ["1"]);
    expect(found).toMatchObject({ steps: [], done: false });
    expect(found.waitingFor).toBe("2 of 3 replicas ready, 1 updated; shop-web.1 is being recreated");
  });

  test("one that was ready holds up the others, and is not replaced", () => {
    expect(heldPlan([pod(0, old), pod(1, old), pod(2)], ["2"])).toMatchObject({ steps: [], done: false });
    expect(heldPlan([pod(0), pod(1, old), pod(2)], ["1"])).toMatchObject({ steps: [], done: false });
  });

  test("with all others current nothing is done until it is back", () => {
    expect(heldPlan([pod(0), pod(1, exited), pod(2)], ["1"])).toMatchObject({ steps: [], done: false });
    expect(heldPlan([pod(0), pod(1), pod(2)], [])).toMatchObject({ steps: [], done: true });
  });
});
