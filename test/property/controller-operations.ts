import fc from "fast-check";
import { Failure } from "../../src/base/wire/failure.ts";
import type { InspectedPod } from "../../src/orchestration/engine/pod.ts";
import { deployment, statefulset } from "../support/manifests.ts";
import { keyOf, type World } from "../support/world.ts";

export const resources = ["web", "api", "db"] as const;
export type Resource = (typeof resources)[number];

/** What the operations so far should come to. */
export interface Model {
  wanted: Map<Resource, { replicas: number; version: string }>;
  config: Map<Resource, string>;
  /** Ids of containers that were frozen and have to stay as they are, with their resource. */
  frozen: Map<string, string>;
  /** Deletions under way that their callers wait for. */
  waiting: Promise<unknown>[];
}

export function emptyModel(): Model {
  return { wanted: new Map(), config: new Map(), frozen: new Map(), waiting: [] };
}

export interface Operation {
  name: string;
  run(it: World, model: Model): Promise<void> | void;
}

const resource = fc.constantFrom(...resources);
/** What a failing run prints. */
function named(name: string, run: Operation["run"]): Operation {
  return Object.assign({ name, run }, { [fc.toStringMethod]: () => name });
}

const pick = fc.nat({ max: 20 });
const actor = "somebody";

export const kindOf = (name: Resource) => (name === "db" ? "statefulset" : "deployment");
export const keyFor = (name: Resource) => keyOf(kindOf(name), "shop", name);
export const containersOf = (it: World, name: Resource): InspectedPod[] =>
  it.runtime.containers().filter(({ labels }) => labels["berth.name"] === name);

function manifestOf(name: Resource, replicas: number, version: string) {
  const spec = { replicas, env: { VERSION: version }, rollout: { min_ready: "1s" } };
  if (name !== "db") return deployment("shop", name, spec);
  return statefulset("shop", name, { ...spec, volume_claims: [{ name: "data", mount_path: "/data" }] });
}

function thaw(model: Model, name: Resource): void {
  for (const [id, owner] of model.frozen) if (owner === name) model.frozen.delete(id);
}

/** Where fewer are wanted than are frozen, which of them go is not for us to say. */
function thawSurplus(it: World, model: Model): void {
  for (const [name, { replicas }] of model.wanted) {
    if (it.store.frozen.list(keyFor(name)).length > replicas) thaw(model, name);
  }
}

/** An operation that needs a container; nothing happens where there is none. */
function onContainer(what: string, act: (it: World, container: InspectedPod, model: Model) => Promise<void> | void) {
  return pick.map((n) =>
    named(`${what} container ${n}`, async (it, model) => {
      const all = it.runtime.containers();
      const container = all[n % Math.max(1, all.length)];
      if (container !== undefined) await expected(() => act(it, container, model));
    }),
  );
}

/** What is refused changes nothing, so that the model stays as it is. */
async function expected(act: () => Promise<void> | void): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}

const apply = fc
  .record({ name: resource, replicas: fc.nat({ max: 4 }), version: fc.constantFrom("1", "2", "3") })
  .map(({ name, replicas, version }) =>
    named(`apply ${name} ×${replicas} version ${version}`, async (it, model) => {
      await it.apply(manifestOf(name, replicas, version));
      model.wanted.set(name, { replicas, version });
      thawSurplus(it, model);
    }),
  );

const remove = fc.record({ name: resource, prune: fc.boolean() }).map(({ name, prune }) =>
  named(`delete ${name}${prune ? " with prune" : ""}`, async (it, model) => {
    if (!model.wanted.has(name)) return;
    thaw(model, name);
    model.waiting.push(it.controller.deleteManifest(keyFor(name), { prune, actor }));
    await it.quiet();
    model.wanted.delete(name);
    if (prune) model.config.delete(name);
  }),
);

const config = fc.record({ name: resource, value: fc.constantFrom("", "x", "y") }).map(({ name, value }) =>
  named(`config ${name} "${value}"`, async (it, model) => {
    await it.controller.setConfig({ scope: "shop", name }, { SET: value }, { restart: true, actor });
    if (value === "") model.config.delete(name);
    else model.config.set(name, value);
  }),
);

const restart = resource.map((name) =>
  named(`restart ${name}`, (it, model) =>
    expected(async () => {
      await it.controller.restart(keyFor(name), { wait: false, actor });
      thaw(model, name);
    }),
  ),
);

const freeze = onContainer("freeze", async (it, { name, id, labels }, model) => {
  await it.controller.stopPod(name, { freeze: true, actor });
  // The reconciler may have been about to replace it.
  await it.quiet();
  if (it.runtime.containers().every((container) => container.id !== id)) return;
  model.frozen.set(id, labels["berth.name"] ?? "");
  thawSurplus(it, model);
});

const start = onContainer("start", async (it, { name, id }, model) => {
  await it.controller.startPod(name, { actor });
  model.frozen.delete(id);
});

const advance = fc.integer({ min: 1, max: 90_000 }).map((ms) => named(`${ms} ms pass`, (it) => it.advance(ms)));

export const breakable = ["create", "start", "stop", "remove", "observe", "inspect"] as const;

const breakage = fc
  .record({
    operation: fc.constantFrom(...breakable),
    times: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ operation, times }) =>
    named(`${operation} fails ${times} times`, (it) =>
      it.runtime.fail(operation, new Failure("conflict", "a bad moment", { reason: "Other" }), times),
    ),
  );

const plain = (name: string, run: Operation["run"]) => fc.constant(named(name, run));

/** Everything that operators, hands and bad luck do. */
export const operations: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: apply },
    { weight: 1, arbitrary: remove },
    { weight: 2, arbitrary: config },
    { weight: 1, arbitrary: restart },
    { weight: 2, arbitrary: freeze },
    { weight: 1, arbitrary: start },
    {
      weight: 1,
      arbitrary: onContainer(
        "stop",
        async (it, { name }) => void (await it.controller.stopPod(name, { freeze: false, actor })),
      ),
    },
    { weight: 2, arbitrary: onContainer("kill", (it, { id }) => it.runtime.kill(id)) },
    { weight: 1, arbitrary: onContainer("crash", (it, { id }) => it.runtime.crash(id)) },
    {
      weight: 1,
      arbitrary: onContainer("rename", (it, { id }) => it.runtime.renameByHand(id, `by-hand-${id.slice(0, 12)}`)),
    },
    {
      weight: 2,
      arbitrary: onContainer("remove", (it, { id }, model) => {
        it.runtime.removeByHand(id);
        model.frozen.delete(id);
      }),
    },
    { weight: 4, arbitrary: advance },
    { weight: 1, arbitrary: breakage },
    { weight: 1, arbitrary: plain("the engine goes down", (it) => it.runtime.engineDown()) },
    { weight: 2, arbitrary: plain("the engine comes up", (it) => it.runtime.engineUp()) },
    { weight: 1, arbitrary: plain("the server restarts", (it) => it.restart()) },
  ),
  { minLength: 5, maxLength: 30 },
);
