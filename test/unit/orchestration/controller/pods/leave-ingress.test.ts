import { afterEach, expect, test } from "bun:test";
import type { IngressGate } from "../../../../../src/orchestration/controller/state/ingress-gate.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
afterEach(() => it.close());

/** An ingress that serves what is ready and has been told of, and says what happened in which order. */
function fakeGate(options: { busyMs?: number; catchesUp?: boolean } = {}) {
  const happened: string[] = [];
  const busyUntil = new Map<string, number>();
  let told = new Set<string>();
  const gate: IngressGate = {
    serves: (id) => told.has(id),
    async caughtUp() {
      const list = it.running.endpoints.list() ?? [];
      for (const { id, leaving } of list) {
        if (leaving && !busyUntil.has(id)) busyUntil.set(id, it.clock.now() + (options.busyMs ?? 0));
      }
      told = new Set(list.filter(({ ready, leaving }) => ready || leaving).map(({ id }) => id));
      const ready = list.filter((one) => one.ready).length;
      const leaving = list.filter((one) => one.leaving).length;
      happened.push(`${ready} ready, ${leaving} leaving`);
      return options.catchesUp ?? true;
    },
    isBusy: async (id) => it.clock.now() < (busyUntil.get(id) ?? 0),
  };
  return { gate, happened };
}

const app = (v: string) =>
  deployment("shop", "web", { replicas: 1, rollout: { min_ready: "2s", drain: "5s" }, env: { V: v } });

/** The ingress knows the replicas that run now. */
async function serving(gate: IngressGate): Promise<void> {
  await gate.caughtUp(new AbortController().signal);
}

test("the new replica is in the ingress before the old one leaves, and the old one is out before it is stopped", async () => {
  const { gate, happened } = fakeGate();
  it = await world({ ingressGate: gate });
  await it.apply(app("1"));
  await it.settle();
  await serving(gate);
  happened.length = 0;
  await it.apply(app("2"));
  await it.settle();
  expect(happened).toEqual(["2 ready, 0 leaving", "1 ready, 1 leaving"]);
});

test("what the ingress has passed to a pod is waited for", async () => {
  const { gate } = fakeGate({ busyMs: 3_000 });
  it = await world({ ingressGate: gate });
  await it.apply(app("1"));
  await it.settle();
  await serving(gate);
  await it.apply(app("2"));
  await it.advance(4_000);
  expect(it.containers()).toHaveLength(2);
  await it.advance(6_000);
  expect(it.containers()).toHaveLength(1);
});

test("a request that never ends is not waited for beyond the drain", async () => {
  const { gate } = fakeGate({ busyMs: 1_000_000 });
  it = await world({ ingressGate: gate });
  await it.apply(app("1"));
  await it.settle();
  await serving(gate);
  await it.apply(app("2"));
  await it.settle(40_000);
  expect(it.containers()).toHaveLength(1);
});

test("a pod of a statefulset, which has no drain, still finishes what visitors asked for", async () => {
  const { gate } = fakeGate({ busyMs: 3_000 });
  it = await world({ ingressGate: gate });
  const db = (v: string) => statefulset("shop", "db", { replicas: 1, rollout: { min_ready: "1s" }, env: { V: v } });
  await it.apply(db("1"));
  await it.settle();
  await serving(gate);
  await it.apply(db("2"));
  await it.advance(1_000);
  expect(it.runtime.containers().map(({ env }) => env.V)).toEqual(["1"]);
  await it.settle();
  expect(it.runtime.containers().map(({ env }) => env.V)).toEqual(["2"]);
});

test("an ingress that cannot catch up holds nothing up", async () => {
  const { gate } = fakeGate({ busyMs: 1_000_000, catchesUp: false });
  it = await world({ ingressGate: gate });
  await it.apply(app("1"));
  await it.settle();
  await serving(gate);
  await it.apply(app("2"));
  await it.settle(20_000);
  expect(it.containers()).toHaveLength(1);
});
