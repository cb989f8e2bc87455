import { describe, expect, test } from "bun:test";
import type { PlannedPod } from "../../../../../src/orchestration/core/plan/pod.ts";
import { planWorkload } from "../../../../../src/orchestration/core/plan/workload.ts";
import { exited, now, old, oldStarting, pod, starting, workload } from "./fixtures.ts";

function plan(pods: PlannedPod[], change: Parameters<typeof workload>[0] = {}, frozenIds: string[] = []) {
  return planWorkload({ workload: workload(change), pods, frozenIds, now });
}

describe("when to plan again", () => {
  test("when the first of the running ones passes min-ready", () => {
    const since = (ms: number) => ({ ready: false, runningSince: now - ms });
    expect(plan([pod("a"), pod("b", since(500)), pod("c", since(1_200))]).againInMs).toBe(800);
  });

  test("when the back-off ends before that", () => {
    const pods = [pod("a"), pod("b", starting), pod("c", { ...exited, startNotBefore: now + 300 })];
    expect(plan(pods).againInMs).toBe(300);
  });

  test("an old version that becomes capacity counts too", () => {
    expect(plan([pod("a", oldStarting)], { replicas: 1 }).againInMs).toBe(1_500);
  });

  test("not for what only a probe or an event can change", () => {
    expect(plan([pod("a", { ready: false }), pod("b"), pod("c")]).againInMs).toBeUndefined();
    expect(plan([pod("a", { state: "restarting", ready: false }), pod("b"), pod("c")]).againInMs).toBeUndefined();
    expect(plan([pod("a", { runningSince: now - 1 }), pod("b"), pod("c")]).againInMs).toBeUndefined();
  });
});

describe("counts", () => {
  test("ready of all versions, updated of the wanted one, marks of frozen ones, all containers", () => {
    const pods = [pod("a"), pod("b", old), pod("c", starting), pod("f", exited), pod("x", { role: "init" })];
    expect(plan(pods, { replicas: 5 }, ["f", "gone"]).counts).toEqual({ ready: 2, updated: 2, frozen: 2, total: 4 });
  });
});

describe("what it waits for", () => {
  test("the replicas that are not ready, by their names", () => {
    expect(plan([pod("a"), pod("b"), pod("k3x7a", starting)]).waitingFor).toBe(
      "2 of 3 replicas ready; waiting for shop-web.k3x7a",
    );
  });

  test("no more than three names", () => {
    const pods = ["a", "b", "c", "d", "e"].map((id) => pod(id, starting));
    expect(plan(pods, { replicas: 5 }).waitingFor).toBe(
      "0 of 5 replicas ready; waiting for shop-web.a, shop-web.b, shop-web.c and 2 more",
    );
  });

  test("a rollout says how far it is, and what happens next", () => {
    expect(plan([pod("a", old), pod("b", old), pod("c", old), pod("d")]).waitingFor).toBe(
      "3 of 3 replicas ready, 1 updated; removing shop-web.a",
    );
  });

  test("while new replicas do not come up it says who serves", () => {
    const failing = pod("n", { ...starting, probe: "readiness probe fails" });
    const one = plan([pod("a", old), failing], { replicas: 1 });
    const text = "0 of 1 new replicas ready, 1 old one serves; shop-web.n readiness probe fails";
    expect([one.waitingFor, one.waitingDetail]).toEqual([text, text]);
    expect(plan([pod("a", old), pod("b", old), pod("c"), failing]).waitingFor).toStartWith(
      "1 of 3 new replicas ready, 2 old ones serve; ",
    );
  });

  test("a replica that is watched is told apart from one that is waited for, and looked at when its watch ends", () => {
    const watched = pod("a", { ...starting, watchedUntil: now + 7_000 });
    const planned = plan([watched, pod("b", { ready: false, runningSince: now - 90_000 }), pod("c")]);
    expect(planned.waitingFor).toBe(
      "1 of 3 replicas ready; waiting for shop-web.b; watching the requests of shop-web.a",
    );
    expect(plan([watched, pod("b"), pod("c")]).againInMs).toBe(7_000);
  });

  test("creations, starts and frozen ones", () => {
    expect(plan([pod("a", exited)], {}, ["f"]).waitingFor).toBe(
      "0 of 3 replicas ready, 1 frozen; creating 1; starting shop-web.a",
    );
  });

  test("a back-off, without a time: the sentence is stored and must not change by itself", () => {
    expect(plan([pod("a"), pod("b"), pod("c", { ...exited, startNotBefore: now + 9_000 })]).waitingFor).toBe(
      "2 of 3 replicas ready; shop-web.c stopped and starts again after a pause",
    );
  });

  test("the name of a workload without a scope", () => {
    const pods = [pod("a", { ...starting, containerName: "web.a" })];
    expect(plan(pods, { scope: "", replicas: 1 }).waitingFor).toBe("0 of 1 replicas ready; waiting for web.a");
  });
});

describe("why", () => {
  test("a start tells what became of the container", () => {
    const why = (change: Partial<PlannedPod>) =>
      plan([pod("a", { ...exited, ...change })], { replicas: 1 }).steps[0]?.why;
    expect(why({ exitCode: 137 })).toBe("it stopped with exit code 137");
    expect(why({ oomKilled: true })).toBe("it ran out of memory");
    expect(why({ exitCode: undefined })).toBe("it stopped");
    expect(why({ state: "created" })).toBe("it was created and never started");
  });

  test("a creation tells scale from rollout", () => {
    expect(plan([pod("a")], { replicas: 2 }).steps[0]?.why).toBe("2 replicas are wanted, 1 exist");
    expect(plan([pod("a", old)], { replicas: 1 }).steps[0]?.why).toBe("an outdated replica is to be replaced");
  });
});

test("the plan is a function of its input: the same, and nothing of it changed", () => {
  const pods = [pod("b", old), pod("a", exited), pod("c", starting), pod("c", { id: "double" })].map(Object.freeze);
  const input = Object.freeze({
    workload: workload(),
    pods: Object.freeze(pods) as PlannedPod[],
    frozenIds: ["x"],
    now,
  });
  expect(planWorkload(input)).toEqual(planWorkload(input));
});
