import { expect, test } from "bun:test";
import fc from "fast-check";
import { workloadOf } from "./plan-events.ts";
import { emptyWorld, execute, isReady, type ModelPod, plan, readyCount, type World } from "./plan-world.ts";

const stepMs = 10;
/** More rounds than the slowest rollout of these takes. */
const roundsMax = 2_000;

/** A drain takes its time, and the replica serves nobody new meanwhile. */
interface Departing extends ModelPod {
  goneAt: number;
}

const walks = fc.record({
  count: fc.integer({ min: 1, max: 5 }),
  surge: fc.integer({ min: 1, max: 3 }),
  minReadyMs: fc.constantFrom(0, 30, 200),
  drains: fc.infiniteStream(fc.nat({ max: 500 })),
  /** At which rounds a new replica dies, or the server loses what it knows of drains. */
  deaths: fc.uniqueArray(fc.nat({ max: 60 }), { maxLength: 4 }),
  restarts: fc.uniqueArray(fc.nat({ max: 60 }), { maxLength: 2 }),
  again: fc.option(fc.nat({ max: 60 })),
  /** What is written then holds a port of the machine, so that no two may stand side by side. */
  withPort: fc.boolean(),
});

function begin(world: World, drains: Iterator<number>): Departing[] {
  const begun: Departing[] = [];
  for (const step of plan(world).steps) {
    if (step.type !== "remove" || !step.beside) {
      execute(world, step);
      continue;
    }
    const pod = world.pods.find(({ id }) => id === step.pod.id);
    if (pod !== undefined) {
      pod.departing = true;
      begun.push(Object.assign(pod, { goneAt: world.now + Number(drains.next().value) }));
    }
  }
  return begun;
}

const serving = (world: World) => world.pods.filter((pod) => !pod.departing && isReady(world, pod)).length;

test("a rolling restart with slow drains keeps what is ready, stays within one container above the surge, and ends", () => {
  fc.assert(
    fc.property(walks, ({ count, surge, minReadyMs, drains, deaths, restarts, again, withPort }) => {
      const workload = workloadOf("deployment", count, { strategy: "rolling", maxSurge: surge, maxUnavailable: 0 });
      const world = emptyWorld({ ...workload, rollout: { ...workload.rollout, minReadyMs } });
      for (let turn = 0; readyCount(world) < count && turn < roundsMax; turn++) {
        begin(world, drains);
        world.now += stepMs;
      }
      world.workload = { ...world.workload, generation: world.workload.generation + 1 };
      let going: Departing[] = [];
      let done = false;
      for (let turn = 0; turn < roundsMax && !done; turn++) {
        if (turn === again) {
          const generation = world.workload.generation + 1;
          world.workload = { ...world.workload, generation, holdsPorts: withPort };
        }
        if (deaths.includes(turn)) {
          const young = world.pods.find(
            (pod) => pod.generation === world.workload.generation && pod.state === "running" && !isReady(world, pod),
          );
          if (young !== undefined) Object.assign(young, { state: "exited", runningSince: undefined, exitCode: 1 });
        }
        if (restarts.includes(turn)) {
          for (const pod of going) pod.departing = false;
          going = [];
        }
        const before = serving(world);
        const made = world.made;
        const crowd = world.pods.filter(({ departing }) => departing).length;
        going.push(...begin(world, drains));
        if (world.workload.holdsPorts && crowd > 0) expect(world.made).toBe(made);
        expect(serving(world)).toBeGreaterThanOrEqual(Math.min(before, count));
        expect(world.pods.length).toBeLessThanOrEqual(count + surge + 1);
        world.now += stepMs;
        const gone = going.filter(({ goneAt }) => goneAt <= world.now);
        going = going.filter((pod) => !gone.includes(pod));
        world.pods = world.pods.filter((pod) => !gone.some(({ id }) => id === pod.id));
        done = plan(world).done;
      }
      expect(done).toBe(true);
      expect(world.pods.length).toBe(count);
    }),
    { numRuns: 60 },
  );
});
