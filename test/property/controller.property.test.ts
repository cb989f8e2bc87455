import { expect, test } from "bun:test";
import fc from "fast-check";
import { type World, world } from "../support/world.ts";
import {
  breakable,
  containersOf,
  emptyModel,
  keyFor,
  kindOf,
  type Model,
  type Operation,
  operations,
  type Resource,
  resources,
} from "./controller-operations.ts";

const bearable = {
  numRuns: Math.min(Number(process.env.BERTH_TEST_CASES ?? 10), 1_000),
  interruptAfterTimeLimit: 40_000,
};

test(
  "whatever was done, in the end there is what is wanted: no more, no less, and nothing frozen was touched",
  () => fc.assert(fc.asyncProperty(operations, check), bearable),
  180_000,
);

async function check(steps: Operation[]): Promise<void> {
  const it = await world();
  const model = emptyModel();
  try {
    for (const step of steps) await step.run(it, model);
    it.runtime.engineUp();
    for (const operation of breakable) it.runtime.fail(operation, undefined);
    await it.settle(30 * 60_000);
    await it.advance(61_000);
    await it.settle(30 * 60_000);
    await Promise.all(model.waiting);
    for (const name of resources) checkResource(it, model, name);
    checkMachine(it, model);
  } finally {
    await it.close();
  }
}

function checkResource(it: World, model: Model, name: Resource): void {
  const wanted = model.wanted.get(name);
  const all = containersOf(it, name);
  if (wanted === undefined) {
    expect(all).toEqual([]);
    return;
  }
  const frozenIds = new Set(it.store.frozen.list(keyFor(name)));
  const idOf = (container: (typeof all)[number]) => container.labels["berth.replica_id"] ?? "";
  const serving = all.filter((container) => !frozenIds.has(idOf(container)));
  expect(serving.map(({ state, env }) => [state, env.VERSION, env.SET])).toEqual(
    serving.map(() => ["running", wanted.version, model.config.get(name)]),
  );
  expect(new Set(all.map(idOf)).size).toBe(all.length);
  expect(all.map((container) => container.name)).toEqual(all.map((container) => `shop-${name}.${idOf(container)}`));
  expect(serving.map(idOf).sort()).toEqual(
    expectedIds({ name, replicas: wanted.replicas, frozenIds, serving: serving.map(idOf) }),
  );
}

interface Expectation {
  name: Resource;
  replicas: number;
  frozenIds: Set<string>;
  serving: string[];
}

/** Ordinals below the count that are not frozen; of a deployment any ids, as many as are wanted. */
function expectedIds({ name, replicas, frozenIds, serving }: Expectation): string[] {
  if (kindOf(name) === "deployment") return serving.slice(0, Math.max(0, replicas - frozenIds.size)).sort();
  return Array.from({ length: replicas }, (_, ordinal) => String(ordinal)).filter((id) => !frozenIds.has(id));
}

function checkMachine(it: World, model: Model): void {
  const ours = resources.flatMap((name) => containersOf(it, name));
  expect(it.runtime.containers()).toHaveLength(ours.length);
  expect(it.store.deletions.list()).toEqual([]);
  const marks = new Set(it.store.frozen.all().map((mark) => `${mark.kind}/${mark.name}/${mark.replicaId}`));
  for (const container of ours) {
    const { labels, state, id } = container;
    const isMarked = marks.has(`${labels["berth.kind"]}/${labels["berth.name"]}/${labels["berth.replica_id"]}`);
    expect([id, state === "running"]).toEqual([id, !isMarked]);
  }
  const present = new Set(ours.map(({ id }) => id));
  expect([...model.frozen.keys()].filter((id) => !present.has(id))).toEqual([]);
}
