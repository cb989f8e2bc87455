import { afterEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
afterEach(() => it.close());

const aDay = 24 * 60 * 60_000;
const callsOf = (operation: string) => it.runtime.calls.filter((call) => call.split(" ", 1)[0] === operation);

/** The engine, but deaf: nothing that happens is ever told. */
const deaf = {
  wrapRuntime: (runtime: World["runtime"]) => ({
    ...runtime,
    events: async function* (signal: AbortSignal, onOpen: () => void) {
      for await (const _ of runtime.events(signal, onOpen)) if (signal.aborted) yield _;
    },
  }),
};

describe("a resync", () => {
  test("picks up what no event told", async () => {
    it = await world(deaf);
    await it.apply([deployment("shop", "web", { replicas: 2 }), statefulset("shop", "db")]);
    await it.settle();
    const [name = ""] = it.containers().filter((row) => row.startsWith("shop-web."));
    it.runtime.removeByHand(name);
    it.runtime.kill("shop-db.0");
    await it.advance(29_000);
    expect(it.containers()).toHaveLength(2);
    await it.advance(2_000);
    expect(it.containers()).toHaveLength(3);
    expect(it.runtime.containers().every(({ state }) => state === "running")).toBe(true);
  });

  test("of what is at rest asks the engine for one listing, and writes nothing", async () => {
    it = await world();
    await it.apply([deployment("shop", "web", { replicas: 3 }), statefulset("shop", "db", { replicas: 3 })]);
    await it.advance(60_000);
    const rows = it.store.status.get(keyOf("deployment", "shop", "web"));
    const events = it.events().length;
    it.runtime.calls.length = 0;
    await it.advance(5 * 60_000);
    expect(it.runtime.calls).toEqual(Array(10).fill("observe"));
    expect(it.store.status.get(keyOf("deployment", "shop", "web"))).toBe(rows);
    expect(it.events()).toHaveLength(events);
  });

  test("leaves those that are failing to their back-off", async () => {
    it = await world();
    it.runtime.fail("create", new Failure("conflict", "no", { reason: "Other" }));
    await it.apply(deployment("shop", "web"));
    await it.advance(5 * 60_000);
    const before = callsOf("create").length;
    for (let times = 0; times < 10; times++) await it.running.reconciler.resync();
    await it.quiet();
    expect(callsOf("create")).toHaveLength(before);
  });

  test("a day of rest costs few calls and no rows", async () => {
    it = await world();
    await it.apply([deployment("shop", "web", { replicas: 3 }), statefulset("shop", "db", { replicas: 3 })]);
    await it.settle();
    await it.advance(60_000);
    const events = it.events().length;
    it.runtime.calls.length = 0;
    await it.advance(aDay);
    expect(it.events()).toHaveLength(events);
    // One listing a resync, one for each resource at each deep one, and one of the images each hour.
    expect(it.runtime.calls.length).toBeLessThan((aDay / 30_000) * 1.25);
    expect(new Set(it.runtime.calls.map((call) => call.split(" ", 1)[0]))).toEqual(new Set(["observe", "listImages"]));
  });
});

/** Full in test/soak. */
const many = process.env.BERTH_TEST_CASES === undefined ? 2_000 : 10_000;

test(`${many} resources at rest cost one listing a resync`, async () => {
  it = await world({ limits: { reconcileWorkers: 256 } });
  for (let from = 0; from < many; from += 1_000) {
    await it.apply(Array.from({ length: 1_000 }, (_, n) => deployment("many", `app${from + n}`, { replicas: 0 })));
  }
  await it.settle();
  await it.advance(31_000);
  it.runtime.calls.length = 0;
  expect(await it.running.reconciler.resync()).toBe(0);
  expect(it.runtime.calls).toEqual(["observe"]);
  await it.apply(deployment("many", "app7", { replicas: 1 }));
  await it.settle();
  expect(it.containers()).toHaveLength(1);
  expect(callsOf("observe").length).toBeLessThan(10);
}, 180_000);

describe("one slow or broken resource", () => {
  test("does not hold up the others", async () => {
    it = await world({ limits: { reconcileWorkers: 2 } });
    it.runtime.addRemoteImage("slow:1");
    it.runtime.delay("pull", 60_000);
    await it.apply(deployment("shop", "slow", { image: "slow:1" }));
    await it.quiet();
    await it.apply([deployment("shop", "web"), statefulset("shop", "db", { replicas: 3 })]);
    await it.advance(30_000);
    expect(it.containers()).toHaveLength(4);
    await it.settle();
    expect(it.containers()).toHaveLength(5);
  });

  test("starts no more containers at a time than the machine is good for", async () => {
    let most = 0;
    let now = 0;
    it = await world({
      limits: { engineCallsMax: 5 },
      wrapRuntime: (runtime) => ({
        ...runtime,
        create: async (spec) => {
          most = Math.max(most, ++now);
          return runtime.create(spec).finally(() => now--);
        },
      }),
    });
    it.runtime.delay("create", 100);
    await it.apply([deployment("shop", "web", { replicas: 30 }), deployment("shop", "other", { replicas: 30 })]);
    await it.settle();
    expect([it.containers().length, most]).toEqual([60, 5]);
  });

  test("is never worked on twice at once", async () => {
    it = await world();
    it.runtime.delay("create", 1_000);
    await it.apply(deployment("shop", "web", { replicas: 3 }));
    for (let times = 0; times < 20; times++) {
      it.running.reconciler.enqueue(keyOf("deployment", "shop", "web"));
      await it.advance(100);
    }
    await it.settle();
    expect(it.containers()).toHaveLength(3);
    expect(callsOf("create")).toHaveLength(3);
  });
});

describe("the status", () => {
  test("says which revision and generation it is about", async () => {
    it = await world();
    const [applied] = (await it.apply(deployment("shop", "web"))).applied;
    await it.settle();
    const first = await it.status("deployment", "shop", "web");
    expect(first.observed_revision).toBe(applied?.metadata?.revision ?? -1);
    await it.controller.restart({ name: "web" }, { wait: false, actor: "ana" });
    expect((await it.status("deployment", "shop", "web")).observed_generation).toBe(first.observed_generation);
    await it.settle();
    const second = await it.status("deployment", "shop", "web");
    expect(second.observed_generation).toBeGreaterThan(first.observed_generation);
    expect(second.observed_revision).toBe(first.observed_revision);
  });

  test("keeps the time of a condition that did not change", async () => {
    it = await world();
    await it.apply(deployment("shop", "web"));
    await it.settle();
    const { conditions } = await it.status("deployment", "shop", "web");
    await it.advance(20 * 60_000);
    await it.apply(deployment("shop", "web", { replicas: 2 }));
    await it.settle();
    const later = (await it.status("deployment", "shop", "web")).conditions;
    expect(later.find(({ type }) => type === "Degraded")?.at).toBe(
      conditions.find(({ type }) => type === "Degraded")?.at ?? "",
    );
  });
});

test("a server that stops lets go of everything, and does nothing any more", async () => {
  it = await world();
  await it.apply(deployment("shop", "web"));
  await it.settle();
  await it.stop();
  it.runtime.calls.length = 0;
  const [name = ""] = it.containers();
  it.runtime.kill(name);
  expect(it.clock.sleepers).toBe(0);
  await it.advance(60_000);
  expect(it.runtime.calls).toEqual([]);
});
