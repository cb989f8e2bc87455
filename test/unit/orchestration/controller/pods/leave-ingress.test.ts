import { afterEach, expect, test } from "bun:test";
import type { IngressGate } from "../../../../../src/orchestration/controller/state/ingress-gate.ts";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
afterEach(() => it.close());

/** An ingress that serves what is ready and has been told of, and says what happened in which order. */
function fakeGate(options: { busyMs?: number; problem?: string } = {}) {
  const happened: string[] = [];
  const busyUntil = new Map<string, number>();
  let told = new Set<string>();
  const gate: IngressGate = {
    serves: (id) => told.has(id),
    leadsTo: (id) => told.has(id),
    lacks: (id) => !told.has(id),
    problem: () => options.problem,
    async caughtUp() {
      if (options.problem !== undefined) return false;
      const list = it.running.endpoints.list() ?? [];
      for (const { id, leaving } of list) {
        if (leaving && !busyUntil.has(id)) busyUntil.set(id, it.clock.now() + (options.busyMs ?? 0));
      }
      told = new Set(list.filter(({ ready, leaving }) => ready || leaving).map(({ id }) => id));
      const ready = list.filter((one) => one.ready).length;
      const leaving = list.filter((one) => one.leaving).length;
      happened.push(`${ready} ready, ${leaving} leaving`);
      return true;
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
  expect(happened).toEqual(["2 ready, 0 leaving", "2 ready, 0 leaving", "1 ready, 1 leaving"]);
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

const cause = 'no space left for file "haproxy.cfg"';
const hasty = (v: string, spec: Spec = {}) =>
  deployment("shop", "web", {
    replicas: 2,
    rollout: { min_ready: "1s", drain: "1s", progress_deadline: "30s" },
    env: { V: v },
    ...spec,
  });
const versions = () => it.runtime.containers().map(({ env }) => env.V);
const releases = () => it.store.releases.list({ kind: "deployment", scope: "shop", name: "web" });

test.each([
  ["a rolling deployment", (v: string) => hasty(v)],
  ["one that is recreated", (v: string) => hasty(v, { rollout: { strategy: "recreate", progress_deadline: "30s" } })],
  [
    "a statefulset",
    (v: string) => ({
      ...hasty(v),
      kind: "statefulset",
      spec: { ...hasty(v).spec, rollout: { progress_deadline: "30s" } },
    }),
  ],
])(
  "%s keeps the replicas that an ingress leads to which takes no change, and the release fails with the cause",
  async (_, made) => {
    const fault: { problem?: string } = {};
    const { gate } = fakeGate(fault);
    it = await world({ ingressGate: gate });
    await it.apply(made("1"));
    await it.settle();
    await serving(gate);
    fault.problem = cause;
    await it.apply(made("2"));
    await it.advance(20_000);
    expect(versions().filter((v) => v === "1")).toHaveLength(2);
    const key = { kind: made("1").kind, scope: "shop", name: "web" } as const;
    expect(it.store.releases.list(key)[0]?.status).toBe("running");
    await it.settle(60_000);
    expect(versions().filter((v) => v === "1")).toHaveLength(2);
    const failed = it.store.releases.list(key).find(({ status }) => status === "failed");
    expect(failed?.error).toContain("within the progress deadline of 30 s");
    expect(failed?.error).toContain("the ingress leads to it and takes no change over");
    expect(failed?.error).toContain(cause);
  },
);

test("a release goes on within seconds once the ingress takes changes again", async () => {
  const fault: { problem?: string | undefined } = {};
  const { gate } = fakeGate(fault as { problem?: string });
  it = await world({ ingressGate: gate });
  await it.apply(hasty("1"));
  await it.settle();
  await serving(gate);
  fault.problem = cause;
  await it.apply(hasty("2"));
  await it.advance(10_000);
  expect(versions()).toContain("1");
  fault.problem = undefined;
  await it.advance(10_000);
  expect(versions()).toEqual(["2", "2"]);
  expect(releases()[0]?.status).toBe("succeeded");
});

test("a first release is not done before the ingress leads to its replicas", async () => {
  const fault: { problem?: string | undefined } = { problem: cause };
  const { gate } = fakeGate(fault as { problem?: string });
  it = await world({ ingressGate: gate });
  await it.apply({ kind: "ingress", scope: "shop", name: "web", spec: { host: "shop.test" } });
  await it.apply(hasty("1"));
  await it.advance(10_000);
  expect(releases()[0]?.status).toBe("running");
  fault.problem = undefined;
  await it.advance(3_000);
  expect(releases()[0]?.status).toBe("succeeded");
});

test("what no ingress leads to, and what is deleted, is not held up by it", async () => {
  const { gate } = fakeGate({ problem: cause });
  it = await world({ ingressGate: gate });
  await it.apply(hasty("1"));
  await it.settle();
  await it.apply(hasty("2"));
  await it.settle(20_000);
  expect(versions()).toEqual(["2", "2"]);
});
