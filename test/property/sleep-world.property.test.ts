import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ManifestKey } from "../../src/orchestration/api/manifest.ts";
import { deployment } from "../support/manifests.ts";
import { keyOf, type World, world } from "../support/world.ts";

const bearable = {
  numRuns: Math.min(Number(process.env.BERTH_TEST_CASES ?? 10), 500),
  interruptAfterTimeLimit: 30_000,
};
const key = keyOf("deployment", "shop", "web");
const minute = 60_000;
const actor = "somebody";

interface Model {
  replicas: number;
  version: string;
  /** What the ingress counts. */
  requests: number;
}

interface Operation {
  name: string;
  run(it: World, model: Model): Promise<void>;
}

const manifest = ({ replicas, version }: Model) =>
  deployment("shop", "web", { wake: true, idle_after: "5m", replicas, env: { V: version }, rollout: { drain: "5s" } });

function named(name: string, run: Operation["run"]): Operation {
  return Object.assign({ name, run }, { [fc.toStringMethod]: () => name });
}

const plain = (name: string, run: Operation["run"]) => fc.constant(named(name, run));

async function visit(it: World, model: Model): Promise<void> {
  await it.running.sleep.requested(key, "shop.test");
  model.requests += 1;
}

async function scale(it: World, replicas: number): Promise<void> {
  await it.controller.scale({ scope: "shop", name: "web", replicas: String(replicas) }, { actor });
}

const operations: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    plain("a request", visit),
    plain("scale to 0", (it) => scale(it, 0)),
    fc.integer({ min: 1, max: 3 }).map((replicas) =>
      named(`scale to ${replicas}`, async (it, model) => {
        await scale(it, replicas);
        model.replicas = replicas;
      }),
    ),
    fc.record({ replicas: fc.nat({ max: 3 }), version: fc.constantFrom("1", "2") }).map(({ replicas, version }) =>
      named(`apply ×${replicas} version ${version}`, async (it, model) => {
        Object.assign(model, { replicas, version });
        await it.apply(manifest(model));
      }),
    ),
    fc.integer({ min: 1, max: 8 * minute }).map((ms) => named(`${ms} ms pass`, (it) => it.advance(ms))),
    plain("a restart", async (it) => {
      await it.controller.restart(key, { wait: false, actor });
    }),
    plain("a new server", (it) => it.crash()),
    plain("the death of a replica", async (it) => {
      const [one] = it.runtime.containers();
      if (one?.state === "running") it.runtime.kill(one.id);
      await it.quiet();
    }),
  ),
  { maxLength: 12 },
);

/** The versions that run. */
const running = (it: World) => it.runtime.containers().map(({ state, env }) => `${state} ${env.V}`);

test(
  "whatever was done, a request finds the app as it was applied, and without one it is gone",
  () =>
    fc.assert(
      fc.asyncProperty(operations, async (steps) => {
        const model: Model = { replicas: 1, version: "1", requests: 0 };
        const it = await world({
          ingressUse: async () => (asked: ManifestKey) =>
            asked.name === key.name ? { mark: String(model.requests), active: 0 } : undefined,
        });
        try {
          await it.apply(manifest(model));
          for (const step of steps) await step.run(it, model);
          await visit(it, model);
          await it.settle(10 * minute);
          expect(running(it)).toEqual(
            Array.from({ length: Math.max(1, model.replicas) }, () => `running ${model.version}`),
          );
          await it.advance(12 * minute);
          expect(running(it)).toEqual([]);
          expect((await it.status("deployment", "shop", "web")).phase).toBe("asleep");
        } finally {
          await it.close();
        }
      }),
      bearable,
    ),
  120_000,
);
