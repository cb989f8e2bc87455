import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { containerName } from "../../src/orchestration/core/naming.ts";
import type { Step, WorkloadPlan } from "../../src/orchestration/core/plan/pod.ts";
import { anyEvent, calm, happen, peacefulEvent, rollouts, type WorldEvent, workloadOf } from "./plan-events.ts";
import { advance, emptyWorld, execute, fleetSize, isReady, plan, readyCount, type World } from "./plan-world.ts";

const kinds = fc.constantFrom("deployment" as const, "statefulset" as const);
const replicas = fc.nat({ max: 5 });
/** Between two events the reconciler gets this many rounds, so that events hit half-done work too. */
const rounds = fc.nat({ max: 4 });
const story = (event: fc.Arbitrary<WorldEvent>) => fc.array(fc.record({ event, rounds }), { maxLength: 12 });
/** The order in which the steps of a plan come to their end. */
const disorder = fc.infiniteStream(fc.nat({ max: 1_000 }));
const runs = { numRuns: Number(process.env.BERTH_TEST_CASES ?? 200) };

interface Watch {
  beforeRound?: (world: World, made: WorkloadPlan) => void;
  afterStep?: (world: World, step: Step) => void;
}

/** Plans once and carries the plan out, its steps in any order. */
function round(world: World, order: Iterator<number>, watch: Watch): WorkloadPlan {
  const made = plan(world);
  watch.beforeRound?.(world, made);
  const left = [...made.steps];
  while (left.length > 0) {
    const [step] = left.splice(Number(order.next().value) % left.length, 1);
    if (step === undefined) break;
    execute(world, step);
    watch.afterStep?.(world, step);
  }
  return made;
}

/** Rounds until the plan says it is done; throws when it comes to a standstill or takes too long. */
function settle(world: World, order: Iterator<number>, watch: Watch): void {
  const most = 40 + 20 * (world.workload.replicas + world.pods.length);
  for (let turn = 0; turn < most; turn += 1) {
    const made = round(world, order, watch);
    if (made.done) return;
    const standstill = made.steps.length === 0 && made.againInMs === undefined;
    const leaving = world.pods.some(({ state }) => state === "removing");
    if (standstill && !leaving) throw new Error(`standstill: ${made.waitingFor}`);
    advance(world, made.steps.length > 0 ? 10 : (made.againInMs ?? 10));
  }
  throw new Error(`not done after ${most} rounds: ${plan(world).waitingFor}`);
}

function live(world: World, chapters: { event: WorldEvent; rounds: number }[], order: Iterator<number>, watch: Watch) {
  for (const chapter of chapters) {
    happen(world, chapter.event);
    for (let turn = 0; turn < chapter.rounds; turn += 1) {
      round(world, order, watch);
      advance(world, 10);
    }
  }
}

function touched(steps: readonly Step[]): string[] {
  return steps.flatMap((step) => (step.type === "create" ? [] : [step.pod.id]));
}

function isDouble({ pods }: World, id: string, replicaId: string): boolean {
  return pods.some((pod) => pod.id !== id && pod.replicaId === replicaId && pod.state !== "removing");
}

describe("whatever happens", () => {
  const history = [kinds, replicas, rollouts, story(anyEvent), disorder] as const;

  test("it ends settled: the wanted count, current and ready, under their own names, with nothing left to do", () => {
    fc.assert(
      fc.property(...history, (kind, count, rollout, chapters, order) => {
        const world = emptyWorld(workloadOf(kind, count, rollout));
        live(world, chapters, order, {});
        calm(world);
        settle(world, order, {});
        const { workload, frozen, pods } = world;
        // The plan does not wait for a removal that the engine is at already.
        const active = pods.filter(({ replicaId, state }) => !frozen.has(replicaId) && state !== "removing");
        const ordinals = Array.from({ length: workload.replicas }, (_, ordinal) => String(ordinal));
        const wanted =
          kind === "deployment"
            ? Math.max(0, workload.replicas - frozen.size)
            : ordinals.filter((ordinal) => !frozen.has(ordinal)).length;
        expect(active.length).toBe(wanted);
        expect(active.every((pod) => pod.hash === workload.hash && pod.generation >= workload.generation)).toBe(true);
        expect(active.every((pod) => isReady(world, pod))).toBe(true);
        expect(plan(world)).toMatchObject({ steps: [], done: true, againInMs: undefined, waitingFor: undefined });
      }),
      runs,
    );
  });

  test("a name given by hand does not outlive the next rounds", () => {
    fc.assert(
      fc.property(...history, (kind, count, rollout, chapters, order) => {
        const world = emptyWorld(workloadOf(kind, count, rollout));
        live(world, chapters, order, {});
        calm(world);
        settle(world, order, {});
        const misnamed = world.pods
          .filter(({ state }) => state !== "removing")
          .filter((pod) => pod.containerName !== containerName("shop", "web", pod.replicaId));
        // Doubles of a frozen replica are frozen too, and only one of them can have the name.
        expect(misnamed.filter(({ replicaId, id }) => !isDouble(world, id, replicaId))).toEqual([]);
      }),
      runs,
    );
  });

  test("no plan touches one container twice, and each step says why", () => {
    fc.assert(
      fc.property(...history, (kind, count, rollout, chapters, order) => {
        const world = emptyWorld(workloadOf(kind, count, rollout));
        const beforeRound = (_: World, made: WorkloadPlan) => {
          const ids = touched(made.steps);
          expect(new Set(ids).size).toBe(ids.length);
          expect(made.steps.every(({ why }) => why.trim() !== "")).toBe(true);
          expect(made.done ? made.steps : made.waitingFor).not.toBeUndefined();
        };
        live(world, chapters, order, { beforeRound });
      }),
      runs,
    );
  });

  test("frozen replicas stay as stopped as they are, unless more are frozen than wanted and nothing else is left", () => {
    fc.assert(
      fc.property(...history, (kind, count, rollout, chapters, order) => {
        const world = emptyWorld(workloadOf(kind, count, rollout));
        const beforeRound = ({ frozen, workload, pods }: World, { steps }: WorkloadPlan) => {
          for (const step of steps) {
            if (step.type === "create") {
              expect(frozen.has(String(step.ordinal))).toBe(false);
            } else if (frozen.has(step.pod.replicaId) && step.type !== "rename") {
              expect(step).toMatchObject({ type: "remove", forgetFrozen: true });
              expect(frozen.size).toBeGreaterThan(workload.replicas);
              const others = pods.filter((pod) => !frozen.has(pod.replicaId) && pod.state !== "removing");
              if (kind === "deployment") expect(others).toEqual([]);
              else expect(step.pod.ordinal).toBeGreaterThanOrEqual(workload.replicas);
            } else {
              expect(step).not.toMatchObject({ forgetFrozen: true });
            }
          }
        };
        live(world, chapters, order, { beforeRound });
      }),
      runs,
    );
  });

  test("a held replica is never touched, nothing is done while there is one, and no old replica that serves goes", () => {
    fc.assert(
      fc.property(...history, (kind, count, rollout, chapters, order) => {
        const world = emptyWorld(workloadOf(kind, count, rollout));
        const beforeRound = ({ pods, frozen, held, workload }: World, { steps, done }: WorkloadPlan) => {
          const own = pods.filter((pod) => held.has(pod.replicaId) && !frozen.has(pod.replicaId));
          const ids = new Set(touched(steps));
          expect(own.filter(({ id }) => ids.has(id))).toEqual([]);
          for (const step of steps) {
            if (step.type === "create") expect(held.has(String(step.ordinal))).toBe(false);
          }
          const there = own.filter(({ state, ordinal = 0 }) => state !== "removing" && ordinal < workload.replicas);
          if (there.length === 0) return;
          expect(done).toBe(false);
          const old = steps.flatMap((step) => (step.type === "remove" && step.drain ? [step.pod] : []));
          const wanted = old.filter(({ ordinal = 0, id, replicaId, frozen: isFrozen }) => {
            return ordinal < workload.replicas && !isFrozen && !isDouble(world, id, replicaId);
          });
          expect(wanted.filter(({ hash }) => hash !== workload.hash)).toEqual([]);
        };
        live(world, chapters, order, { beforeRound });
      }),
      runs,
    );
  });

  test("paused containers are never touched", () => {
    fc.assert(
      fc.property(...history, (kind, count, rollout, chapters, order) => {
        const world = emptyWorld(workloadOf(kind, count, rollout));
        const beforeRound = ({ pods, frozen }: World, { steps }: WorkloadPlan) => {
          const paused = pods.filter(({ state, replicaId }) => state === "paused" && !frozen.has(replicaId));
          const ids = new Set(touched(steps));
          expect(paused.filter(({ id }) => ids.has(id))).toEqual([]);
        };
        live(world, chapters, order, { beforeRound });
      }),
      runs,
    );
  });
});

describe("deployment", () => {
  test("a creation never takes the fleet beyond the wanted count and the surge", () => {
    fc.assert(
      fc.property(replicas, rollouts, story(anyEvent), disorder, (count, rollout, chapters, order) => {
        const world = emptyWorld(workloadOf("deployment", count, rollout));
        const surge = rollout.maxSurge === 0 && rollout.maxUnavailable === 0 ? 1 : rollout.maxSurge;
        const afterStep = ({ workload, frozen }: World, step: Step) => {
          if (step.type !== "create") return;
          expect(fleetSize(world)).toBeLessThanOrEqual(Math.max(0, workload.replicas - frozen.size) + surge);
        };
        live(world, chapters, order, { afterStep });
      }),
      runs,
    );
  });

  test("once reached, the ready count never falls below what is wanted less what may be unavailable", () => {
    fc.assert(
      fc.property(replicas, rollouts, story(peacefulEvent), disorder, (count, rollout, chapters, order) => {
        const world = emptyWorld(workloadOf("deployment", count, { ...rollout, strategy: "rolling" }));
        let wanted = count;
        let reached = 0;
        const floorHolds = () => {
          const ready = readyCount(world);
          // Another count: what was reached under the old one may have been the lower floor of that.
          if (world.workload.replicas !== wanted) reached = 0;
          wanted = world.workload.replicas;
          reached = Math.min(wanted, Math.max(reached, ready));
          expect(ready).toBeGreaterThanOrEqual(Math.min(reached, wanted - rollout.maxUnavailable));
        };
        live(world, chapters, order, { beforeRound: floorHolds, afterStep: floorHolds });
        calm(world);
        settle(world, order, { beforeRound: floorHolds, afterStep: floorHolds });
      }),
      runs,
    );
  });

  test("recreate never has two versions at once", () => {
    fc.assert(
      fc.property(replicas, rollouts, story(peacefulEvent), disorder, (count, rollout, chapters, order) => {
        const world = emptyWorld(workloadOf("deployment", count, { ...rollout, strategy: "recreate" }));
        const afterStep = ({ pods }: World, step: Step) => {
          if (step.type !== "create") return;
          expect(new Set(pods.map(({ hash, generation }) => `${hash} ${generation}`)).size).toBe(1);
        };
        live(world, chapters, order, { afterStep });
      }),
      runs,
    );
  });
});

describe("statefulset", () => {
  test("a serving ordinal goes only when every other one is ready, and only one at a time", () => {
    fc.assert(
      fc.property(replicas, rollouts, story(anyEvent), disorder, (count, rollout, chapters, order) => {
        const world = emptyWorld(workloadOf("statefulset", count, rollout));
        const beforeRound = (at: World, { steps }: WorkloadPlan) => {
          const removed = steps.flatMap((step) =>
            step.type === "remove" && !step.forgetFrozen && step.pod.state === "running" ? [step.pod] : [],
          );
          const originals = removed.filter(({ id, replicaId }) => !isDouble(at, id, replicaId));
          expect(originals.length).toBeLessThanOrEqual(1);
          const [gone] = originals;
          if (gone === undefined || !gone.ready || (gone.ordinal ?? 0) >= at.workload.replicas) return;
          expect(slots(at).filter((ordinal) => !serving(at).includes(ordinal))).toEqual([]);
        };
        live(world, chapters, order, { beforeRound });
      }),
      runs,
    );
  });

  test("ordinals come up in order: none is made before all below it are ready", () => {
    fc.assert(
      fc.property(replicas, rollouts, story(anyEvent), disorder, (count, rollout, chapters, order) => {
        const world = emptyWorld(workloadOf("statefulset", count, rollout));
        // One that was there before and is lost is made without waiting.
        const made = new Set<number>();
        const beforeRound = (at: World, { steps }: WorkloadPlan) => {
          for (const step of steps) {
            if (step.type !== "create" || made.has(Number(step.ordinal))) continue;
            made.add(Number(step.ordinal));
            const below = slots(at).filter((ordinal) => ordinal < Number(step.ordinal));
            expect(below.filter((ordinal) => !serving(at).includes(ordinal))).toEqual([]);
          }
        };
        live(world, chapters, order, { beforeRound });
      }),
      runs,
    );
  });

  test("a rollout over ready ordinals never has two of them down", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), rollouts, disorder, (count, rollout, order) => {
        const world = emptyWorld(workloadOf("statefulset", count, rollout));
        settle(world, order, {});
        happen(world, { type: "spec" });
        const oneDown = () => expect(readyCount(world)).toBeGreaterThanOrEqual(count - 1);
        settle(world, order, { beforeRound: oneDown, afterStep: oneDown });
      }),
      runs,
    );
  });

  function slots({ workload, frozen }: World): number[] {
    const all = Array.from({ length: workload.replicas }, (_, ordinal) => ordinal);
    return all.filter((ordinal) => !frozen.has(String(ordinal)));
  }

  function serving(world: World): number[] {
    return world.pods.filter((pod) => isReady(world, pod)).map(({ ordinal }) => ordinal ?? -1);
  }
});
