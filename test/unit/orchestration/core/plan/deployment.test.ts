import { describe, expect, test } from "bun:test";
import type { PlannedPod, PlanWorkload } from "../../../../../src/orchestration/core/plan/pod.ts";
import { planWorkload } from "../../../../../src/orchestration/core/plan/workload.ts";
import { aMinute, exited, now, old, oldExited, oldStarting, pod, starting, words, workload } from "./fixtures.ts";

function plan(pods: PlannedPod[], wanted: PlanWorkload = workload(), frozenIds: string[] = []) {
  return planWorkload({ workload: wanted, pods, frozenIds, now });
}

function steps(pods: PlannedPod[], wanted?: PlanWorkload, frozenIds?: string[]): string[] {
  return words(plan(pods, wanted, frozenIds).steps);
}

describe("scale", () => {
  test("all missing replicas are created in one plan", () => {
    const { steps: made } = plan([], workload({ replicas: 50 }));
    expect(made.length).toBe(50);
    expect(made.every((step) => step.type === "create" && step.ordinal === undefined)).toBe(true);
  });

  test("a settled fleet has nothing to do", () => {
    expect(plan([pod("a"), pod("b"), pod("c")])).toEqual({
      steps: [],
      againInMs: undefined,
      done: true,
      counts: { ready: 3, updated: 3, frozen: 0, total: 3 },
      waitingFor: undefined,
    });
  });

  test("down: not ready before ready, then the youngest", () => {
    const pods = [
      pod("oldest", { createdAt: now - 3 * aMinute }),
      pod("middle", { createdAt: now - 2 * aMinute }),
      pod("youngest"),
      pod("starting", { ...starting, createdAt: now - 9 * aMinute }),
    ];
    expect(steps(pods, workload({ replicas: 3 }))).toEqual(["remove starting"]);
    expect(steps(pods, workload({ replicas: 2 }))).toEqual(["remove starting", "remove youngest"]);
  });

  test("down in the middle of a rollout: outdated ones go first", () => {
    const pods = [pod("a", { createdAt: now }), pod("b", { createdAt: now }), pod("c", old), pod("d", old)];
    expect(steps(pods, workload({ replicas: 2 }))).toEqual(["remove c", "remove d"]);
  });

  test("down with nothing ready: no more than the surge stays beside the wanted ones", () => {
    const news = ["a", "b", "c"].map((id) => pod(id, starting));
    const olds = ["d", "e", "f"].map((id) => pod(id, oldStarting));
    const { steps: made } = plan([...news, ...olds], workload({ replicas: 3 }));
    expect(made.length).toBe(2);
    expect(made.every((step) => step.type === "remove" && step.pod.hash === "old")).toBe(true);
  });

  test("a paused replica that cannot go does not cost a ready one its place", () => {
    const pods = [pod("a"), pod("b"), pod("c"), pod("p", { state: "paused", ready: false })];
    expect(steps(pods)).toEqual([]);
    expect(steps([...pods, pod("o", old)])).toEqual(["remove o"]);
  });

  test("to zero removes all, ready and not, current and outdated", () => {
    const pods = [pod("a"), pod("b", old), pod("c", starting), pod("d", oldExited), pod("e", exited)];
    const all = ["remove a", "remove b", "remove c", "remove d", "remove e"];
    expect(steps(pods, workload({ replicas: 0 }))).toEqual(all);
    expect(plan([], workload({ replicas: 0 })).done).toBe(true);
  });

  test("ready ones are drained, others are not", () => {
    const { steps: made } = plan([pod("a"), pod("b", starting)], workload({ replicas: 0 }));
    const drained = made.map((step) => (step.type === "remove" ? [step.pod.replicaId, step.drain] : []));
    expect(Object.fromEntries(drained)).toEqual({ a: true, b: false });
  });
});

describe("heal", () => {
  test("a killed replica is started, a removed one is made anew", () => {
    expect(steps([pod("a"), pod("b", exited)])).toEqual(["create", "start b"]);
  });

  test("a back-off is waited out", () => {
    const waiting = plan([pod("a"), pod("b"), pod("c", { ...exited, startNotBefore: now + 4_000 })]);
    expect(waiting).toMatchObject({ steps: [], againInMs: 4_000, done: false });
    expect(steps([pod("a"), pod("b"), pod("c", { ...exited, startNotBefore: now })])).toEqual(["start c"]);
  });

  test("a dead one is removed and replaced at once", () => {
    expect(steps([pod("a"), pod("b"), pod("c", { state: "dead", ready: false })])).toEqual(["create", "remove c"]);
  });

  test("one that ended for good holds its place and is not ready", () => {
    const made = plan([pod("a"), pod("b"), pod("c", exited)], workload({ restart: "no" }));
    expect(made).toMatchObject({ steps: [], done: false, againInMs: undefined, counts: { ready: 2, total: 3 } });
    expect(made.waitingFor).toBe('2 of 3 replicas ready; shop-web.c ended and restart policy "no" leaves it so');
    expect(made.waitingDetail).toBe('shop-web.c ended and restart policy "no" leaves it so');
    const rolling = plan([pod("a"), pod("b", old), pod("c", { ...old, frozen: true })]);
    expect(rolling.waitingFor).toBe(`2 of 3 replicas ready, ${rolling.waitingDetail}`);
    expect(rolling.waitingDetail).toStartWith("1 updated, 1 frozen; ");
  });

  test("of two containers with one replica id the current, ready, older one stays", () => {
    const both = (change: Partial<PlannedPod>, other: Partial<PlannedPod>) =>
      plan([pod("b"), pod("c"), pod("a", { id: "one", ...change }), pod("a", { id: "two", ...other })]).steps;
    const removed = (change: Partial<PlannedPod>, other: Partial<PlannedPod>) =>
      both(change, other).map((step) => (step.type === "remove" ? step.pod.id : step.type));
    expect(removed(old, starting)).toEqual(["one"]);
    expect(removed(starting, {})).toEqual(["one"]);
    expect(removed(exited, starting)).toEqual(["one"]);
    expect(removed({ createdAt: now }, { createdAt: now - 1 })).toEqual(["one"]);
  });

  test("paused and unknown containers are left alone and told of", () => {
    const made = plan([pod("a", { state: "paused" }), pod("b", { state: "unknown" }), pod("c")]);
    expect(made).toMatchObject({ steps: [], done: false });
    expect(made.waitingFor).toBe(
      "1 of 3 replicas ready; shop-web.a is paused and left alone; shop-web.b is in an unknown state and left alone",
    );
    expect(steps([pod("a", { state: "paused" })], workload({ replicas: 0 }))).toEqual([]);
  });

  test("init and release containers are none of its business", () => {
    const others = [pod("x", { role: "init" }), pod("y", { role: "release", ...exited })];
    expect(plan([pod("a"), pod("b"), pod("c"), ...others])).toMatchObject({ done: true, counts: { total: 3 } });
  });

  test("what the engine is removing is replaced without waiting for it", () => {
    expect(steps([pod("a"), pod("b"), pod("c", { state: "removing", ready: false })])).toEqual(["create"]);
  });
});

describe("rolling", () => {
  const olds = [pod("a", old), pod("b", old), pod("c", old)];

  test("begins with as many new replicas as the surge allows", () => {
    expect(steps(olds)).toEqual(["create"]);
    expect(steps(olds, workload({ rollout: { maxSurge: 2 } }))).toEqual(["create", "create"]);
  });

  test("no old one goes before a new one is ready", () => {
    expect(steps([...olds, pod("d", starting)])).toEqual([]);
    expect(steps([...olds, pod("d")])).toEqual(["remove a"]);
  });

  test("the youngest old one goes first", () => {
    const aged = [pod("a", { ...old, createdAt: now - 9 * aMinute }), pod("b", old)];
    expect(steps([...aged, pod("d")], workload({ replicas: 2 }))).toEqual(["remove b"]);
  });

  test("what may be unavailable goes at once, beside the creations", () => {
    const half = workload({ rollout: { maxSurge: 1, maxUnavailable: 1 } });
    expect(steps(olds, half)).toEqual(["create", "remove a"]);
    const noSurge = workload({ rollout: { maxSurge: 0, maxUnavailable: 1 } });
    expect(steps(olds, noSurge)).toEqual(["remove a"]);
    expect(steps(olds.slice(1), noSurge)).toEqual(["create"]);
  });

  test("neither surge nor slack counts as a surge of one", () => {
    expect(steps(olds, workload({ rollout: { maxSurge: 0, maxUnavailable: 0 } }))).toEqual(["create"]);
  });

  test("a lower generation rolls like another spec, and says so", () => {
    const { steps: made } = plan([pod("d"), pod("a", { generation: 1 }), pod("b"), pod("c")]);
    expect(words(made)).toEqual(["remove a"]);
    expect(made[0]?.why).toBe("made before the last restart or config change");
  });

  test("old ones that are not ready go before those that serve", () => {
    expect(steps([pod("a", old), pod("b", oldStarting), pod("c", old), pod("d")])).toEqual(["remove b"]);
  });

  test("old ones that stopped are replaced at once and never started", () => {
    expect(steps([pod("a", oldExited), pod("b", oldExited), pod("c", oldExited)])).toEqual([
      "create",
      "create",
      "create",
      "remove a",
      "remove b",
      "remove c",
    ]);
  });

  test("after a reboot, with nothing ready yet, old ones are not thrown away for a version not yet proved", () => {
    const waking = [pod("a", oldStarting), pod("b", oldStarting), pod("c", oldStarting)];
    expect(steps(waking)).toEqual(["create"]);
    expect(steps([...waking, pod("d", starting)])).toEqual([]);
  });

  test("broken old ones do not block their fix", () => {
    const broken = [pod("a", oldStarting), pod("b", oldStarting), pod("c", oldStarting)];
    expect(steps([...broken, pod("d")])).toEqual(["remove a"]);
    expect(steps([...broken.slice(1), pod("d")])).toEqual(["create"]);
  });

  test("the half-made replicas of a superseded rollout go at once", () => {
    const superseded = pod("d", { ...starting, hash: "between" });
    expect(steps([...olds, superseded])).toEqual(["remove d"]);
  });
});

describe("recreate", () => {
  const recreate = workload({ rollout: { strategy: "recreate" } });

  test("removes all old ones first, drained, and creates only when they are gone", () => {
    const pods = [pod("a", old), pod("b", oldStarting), pod("c", oldExited)];
    expect(steps(pods, recreate)).toEqual(["remove a", "remove b", "remove c"]);
    expect(steps([pod("c", oldExited)], recreate)).toEqual(["remove c"]);
    expect(steps([], recreate)).toEqual(["create", "create", "create"]);
  });

  test("starts no new one beside an old one", () => {
    expect(steps([pod("a", old), pod("b", exited)], recreate)).toEqual(["remove a"]);
    expect(steps([pod("a", { ...old, state: "paused" }), pod("b", exited)], recreate)).toEqual([]);
  });

  test("without a change it scales and heals like any other", () => {
    expect(steps([pod("a"), pod("b", exited)], recreate)).toEqual(["create", "start b"]);
  });
});

describe("frozen", () => {
  test("holds its place, with its container and without", () => {
    const stopped = pod("f", { ...exited, frozen: true });
    expect(plan([pod("a"), pod("b"), stopped], workload(), ["f"])).toMatchObject({
      steps: [],
      done: true,
      counts: { ready: 2, updated: 2, frozen: 1, total: 3 },
    });
    expect(plan([pod("a"), pod("b")], workload(), ["f"])).toMatchObject({
      done: true,
      counts: { frozen: 1, total: 2 },
    });
  });

  test("is not replaced by a rollout", () => {
    const stopped = pod("f", { ...oldExited, frozen: true });
    expect(plan([pod("a"), pod("b"), stopped], workload(), ["f"])).toMatchObject({ steps: [], done: true });
  });

  test("goes only when fewer are wanted than are frozen, after all others, with its mark", () => {
    const one = pod("f", { ...exited, frozen: true, createdAt: now - 2 * aMinute });
    const two = pod("g", { ...exited, frozen: true });
    const single = workload({ replicas: 1 });
    expect(steps([pod("a"), one, two], single, ["f", "g"])).toEqual(["remove a"]);
    const { steps: made } = plan([one, two], single, ["f", "g"]);
    expect(made).toMatchObject([{ type: "remove", pod: { replicaId: "g" }, drain: false, forgetFrozen: true }]);
    expect(plan([one], single, ["f"]).done).toBe(true);
  });

  test("a mark without a container counts as the first surplus", () => {
    const stopped = pod("f", { ...exited, frozen: true });
    expect(plan([stopped], workload({ replicas: 1 }), ["f", "gone"])).toMatchObject({ steps: [], done: true });
  });

  test("two containers of one frozen replica are one frozen replica", () => {
    const copies = [pod("f", { ...exited, id: "one" }), pod("f", { ...exited, id: "two" })];
    expect(steps(copies, workload({ replicas: 1 }), ["f"])).toEqual([]);
    expect(steps(copies, workload({ replicas: 0 }), ["f"])).toEqual(["remove f", "remove f"]);
  });
});

describe("held by a run of ours", () => {
  const heldPlan = (pods: PlannedPod[], change: Parameters<typeof workload>[0] = {}) =>
    planWorkload({ workload: workload({ replicas: 1, ...change }), pods, frozenIds: [], now });
  const held = { held: "being restarted by its liveness probe" };

  test("the only new replica: it takes nothing from the count, and the old one stays", () => {
    for (const state of [{}, starting, exited]) {
      const found = heldPlan([pod("new", { ...state, ...held }), pod("old", old)]);
      expect(found).toMatchObject({ steps: [], done: false, counts: { ready: 1, frozen: 0 } });
      expect(found.waitingFor).toBe(
        "0 of 1 new replicas ready, 1 old one serves; shop-web.new is being restarted by its liveness probe",
      );
    }
  });

  test("an old one: no other old one goes until it is back", () => {
    const pods = [pod("a"), pod("b", old), pod("c", { ...old, ...held })];
    expect(heldPlan(pods, { replicas: 2, rollout: { maxUnavailable: 1 } })).toMatchObject({ done: false });
    expect(words(heldPlan(pods, { replicas: 2, rollout: { maxUnavailable: 1 } }).steps)).not.toContain("remove b");
    const free = pods.map((one) => ({ ...one, held: undefined }));
    expect(words(heldPlan(free, { replicas: 2, rollout: { maxUnavailable: 1 } }).steps)).toContain("remove b");
  });

  test("with recreate as well", () => {
    const pods = [pod("a", old), pod("b", { ...old, ...held })];
    expect(heldPlan(pods, { replicas: 2, rollout: { strategy: "recreate" } })).toMatchObject({
      steps: [],
      done: false,
    });
  });

  test("scaled to zero, the others go at once", () => {
    const found = heldPlan([pod("a"), pod("b", old), pod("c", held)], { replicas: 0 });
    expect(words(found.steps)).toEqual(["remove a", "remove b"]);
  });

  test("a kept replica of before the canary is no part of what is wanted, held or not", () => {
    const canary = { phase: "keep" as const, baseHash: "old" };
    expect(heldPlan([pod("a"), pod("b", { ...old, ...held })], { canary })).toMatchObject({ steps: [] });
  });
});
