import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ManifestKey, Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
/** What the ingress counts of `web`; undefined: no ingress leads there. */
let use: { requests: number; active: number } | undefined;
let isProxyAway: boolean;
let busyPods: boolean;

beforeEach(async () => {
  [use, isProxyAway, busyPods] = [{ requests: 0, active: 0 }, false, false];
  const gate = {
    serves: () => false,
    leadsTo: () => false,
    lacks: () => false,
    caughtUp: async () => true,
    problem: () => undefined,
    isBusy: async () => busyPods,
  };
  it = await world({
    ingressGate: gate,
    ingressUse: async () => {
      if (isProxyAway) throw new Error("no answer");
      return ({ name }: ManifestKey) =>
        use === undefined || name !== "web" ? undefined : { mark: String(use.requests), active: use.active };
    },
  });
});
afterEach(() => it.close());

const key = keyOf("deployment", "shop", "web");
const app = (spec: Spec = {}) => deployment("shop", "web", { wake: true, idle_after: "5m", ...spec });
const pods = () => it.containers().filter((name) => name.startsWith("shop-web."));
const phase = async () => (await it.status("deployment", "shop", "web")).phase;
const turns = () =>
  it
    .events()
    .filter(({ action }) => action === "sleep" || action === "wake")
    .map(({ action, actor, detail }) => `${actor} ${action}: ${detail?.why}`);
const requested = (host = "shop.test") => it.running.sleep.requested(key, host);
const minute = 60_000;

async function running(spec: Spec = {}): Promise<void> {
  await it.apply(app(spec));
  await it.settle();
}

async function asleep(spec: Spec = {}): Promise<void> {
  await running(spec);
  await it.advance(6 * minute);
  expect([pods(), await phase()]).toEqual([[], "asleep"]);
}

describe("an app that nobody uses", () => {
  test("is put to sleep after its time, and a request wakes it once", async () => {
    await running({ replicas: 2 });
    await it.advance(4 * minute);
    expect(pods()).toHaveLength(2);
    await it.advance(2 * minute);
    expect([pods(), await phase()]).toEqual([[], "asleep"]);
    await Promise.all(Array.from({ length: 50 }, () => requested()));
    await it.settle();
    expect([pods().length, await phase()]).toEqual([2, "ready"]);
    expect(turns()).toEqual(["ingress sleep: 5m without requests", "ingress wake: a request to shop.test"]);
  });

  test("sleeps again when the request was the only one", async () => {
    await asleep();
    await requested();
    await it.advance(4 * minute);
    expect(pods()).toHaveLength(1);
    await it.advance(2 * minute);
    expect(pods()).toEqual([]);
  });

  test("is put to sleep after a restart, too", async () => {
    await running();
    await it.advance(minute);
    await it.controller.restart(key, { wait: false, actor: "ana" });
    await it.settle();
    await it.advance(6 * minute);
    expect(pods()).toEqual([]);
  });

  test("is a settled state, not a fault", async () => {
    await asleep();
    const { conditions, replicas } = await it.status("deployment", "shop", "web");
    expect(replicas).toBe(0);
    expect(conditions.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ["Ready", true, "Asleep"],
      ["Progressing", false, "Settled"],
      ["Degraded", false, "Healthy"],
    ]);
    expect(it.store.manifests.get(key)?.spec).not.toHaveProperty("replicas");
  });
});

describe("stays awake", () => {
  test("while requests come", async () => {
    await running();
    for (let count = 1; count <= 10; count++) {
      await it.advance(2 * minute);
      use = { requests: count, active: 0 };
    }
    expect(pods()).toHaveLength(1);
    expect(turns()).toEqual([]);
  });

  test("while a WebSocket is open", async () => {
    await running();
    use = { requests: 1, active: 1 };
    await it.advance(20 * minute);
    expect(pods()).toHaveLength(1);
    use = { requests: 1, active: 0 };
    await it.advance(6 * minute);
    expect(pods()).toEqual([]);
  });

  test("while a worker of the proxy that was replaced still has one of its requests", async () => {
    busyPods = true;
    await running();
    await it.advance(20 * minute);
    expect(pods()).toHaveLength(1);
  });

  test.each<[string, Spec, () => void]>([
    ["without an ingress", {}, () => (use = undefined)],
    ["with a proxy that does not answer", {}, () => (isProxyAway = true)],
    ["with idle_after: 0", { idle_after: "0" }, () => undefined],
    ["without wake", { wake: false, idle_after: undefined }, () => undefined],
  ])("%s", async (_, spec, prepare) => {
    prepare();
    await running(spec);
    await it.advance(30 * minute);
    expect(pods()).toHaveLength(1);
  });

  test("while a release keeps its old replicas", async () => {
    await running();
    await it.apply(app({ env: { V: "2" }, rollout: { canary: ["100%"], keep: "20m" } }));
    await it.settle();
    await it.advance(15 * minute);
    expect([pods().length, await phase()]).toEqual([2, "ready"]);
    await it.advance(15 * minute);
    expect([pods(), await phase()]).toEqual([[], "asleep"]);
  });

  test("and stays stopped what a person has stopped", async () => {
    await running();
    await it.controller.stopPod(pods()[0] ?? "", { freeze: true, actor: "ana" });
    await it.advance(20 * minute);
    await requested();
    await it.advance(minute);
    expect([await phase(), turns()]).toEqual(["stopped", []]);
  });
});

describe("scale", () => {
  const scale = (replicas: string) => it.controller.scale({ scope: "shop", name: "web", replicas }, { actor: "ana" });

  test("to 0 puts it to sleep and keeps its count; a request brings that back", async () => {
    await running({ replicas: 2 });
    expect(await scale("0")).toMatchObject({ replicas: 0, previous: 2 });
    await it.settle();
    expect([pods(), await phase(), it.store.manifests.get(key)?.spec.replicas]).toEqual([[], "asleep", 2]);
    await requested();
    await it.settle();
    expect(pods()).toHaveLength(2);
    expect(turns()).toEqual(["ana sleep: scaled to 0", "ingress wake: a request to shop.test"]);
  });

  test("to more wakes it", async () => {
    await asleep();
    expect(await scale("3")).toMatchObject({ replicas: 3, previous: 0 });
    await it.settle();
    expect(pods()).toHaveLength(3);
  });

  test("to the count of its manifest wakes it, too", async () => {
    await asleep({ replicas: 2 });
    expect(await scale("2")).toMatchObject({ replicas: 2, previous: 0 });
    await it.settle();
    expect(pods()).toHaveLength(2);
  });

  test("to 0 without wake stops it for good", async () => {
    await running({ wake: false, idle_after: undefined });
    await scale("0");
    await it.settle();
    await requested();
    await it.advance(minute);
    expect([pods(), await phase()]).toEqual([[], "ready"]);
  });

  test("to 0 is allowed where an autoscaler decides, and the count comes back", async () => {
    await running({ autoscale: { min: 2, max: 4, cpu_target: 50 } });
    await scale("0");
    await it.settle();
    expect(pods()).toEqual([]);
    await requested();
    await it.settle();
    expect(pods()).toHaveLength(2);
  });
});

test("a request that comes while its replicas drain keeps those that still run", async () => {
  await running({ replicas: 2, rollout: { drain: "30s" } });
  const before = pods();
  for (const name of before) it.runtime.setConnections(name, { listening: true, established: 1 });
  await it.controller.scale({ scope: "shop", name: "web", replicas: "0" }, { actor: "ana" });
  await it.advance(10_000);
  expect(it.running.endpoints.list()?.map(({ leaving }) => leaving)).toEqual([true, true]);
  await requested();
  await it.quiet();
  expect(it.running.endpoints.list()?.map(({ leaving, ready }) => [leaving, ready])).toEqual([
    [false, true],
    [false, true],
  ]);
  await it.advance(minute);
  expect([pods(), await phase()]).toEqual([before, "ready"]);
});

describe("an apply", () => {
  test("of the same manifest lets it sleep", async () => {
    await asleep();
    await it.apply(app());
    await it.advance(minute);
    expect([pods(), await phase()]).toEqual([[], "asleep"]);
  });

  test("with a new release starts it, and it sleeps again after its time", async () => {
    await asleep();
    await it.apply(app({ env: { V: "2" } }));
    await it.settle();
    const [release] = it.store.releases.list(key);
    expect([pods().length, release?.status]).toEqual([1, "succeeded"]);
    expect(turns().at(-1)).toBe(`reconciler wake: release ${release?.id}`);
    await it.advance(6 * minute);
    expect(pods()).toEqual([]);
  });

  test("that is only tried shows that a new release starts it, and starts nothing", async () => {
    await asleep();
    const same = await it.apply(app(), { dryRun: true });
    const changed = await it.apply(app({ env: { V: "2" } }), { dryRun: true });
    expect([same, changed].map(({ plan }) => plan?.[0]?.replicas.map(({ action }) => action))).toEqual([
      [],
      ["create"],
    ]);
    expect([pods(), await phase()]).toEqual([[], "asleep"]);
  });

  test("of another setting lets it sleep", async () => {
    await asleep();
    await it.apply(app({ replicas: 3 }));
    await it.advance(minute);
    expect(pods()).toEqual([]);
    await requested();
    await it.settle();
    expect(pods()).toHaveLength(3);
  });

  test("without wake starts it for good", async () => {
    await asleep();
    await it.apply(deployment("shop", "web"));
    await it.settle();
    await it.advance(30 * minute);
    expect([pods().length, it.store.sleep.get(key)]).toEqual([1, undefined]);
  });

  test("with replicas: 0 proves the release with one replica, which then sleeps", async () => {
    await running({ replicas: 0 });
    expect(pods()).toHaveLength(1);
    await it.advance(6 * minute);
    expect(pods()).toEqual([]);
    await requested();
    await it.settle();
    expect(pods()).toHaveLength(1);
  });

  test("with replicas: 0 of an app that runs, or was stopped so without wake, puts it to sleep", async () => {
    await running({ replicas: 2 });
    const { plan } = await it.apply(app({ replicas: 0 }), { dryRun: true });
    expect(plan?.[0]?.replicas.map(({ action }) => action)).toEqual(["remove", "remove"]);
    await it.apply(app({ replicas: 0 }));
    await it.settle();
    expect([pods(), await phase(), turns()]).toEqual([[], "asleep", ["test sleep: applied with replicas: 0"]]);
    await requested();
    await it.apply(app({ replicas: 0 }));
    await it.settle();
    expect(pods()).toHaveLength(1);

    await it.apply(deployment("shop", "web", { replicas: 0 }));
    await it.settle();
    expect(await phase()).toBe("ready");
    await it.apply(app({ replicas: 0 }));
    await it.settle();
    expect([pods(), await phase()]).toEqual([[], "asleep"]);
  });

  test("with a new config lets it sleep, and the next start has it", async () => {
    await asleep();
    await it.controller.setConfig({ scope: "shop", name: "web" }, { A: "1" }, { restart: true, actor: "ana" });
    await it.advance(minute);
    expect(pods()).toEqual([]);
    await requested();
    await it.settle();
    expect(it.runtime.containers().find(({ name }) => name.startsWith("shop-web."))?.env).toMatchObject({ A: "1" });
  });
});

describe("the server", () => {
  test("comes back and it still sleeps; a request wakes it", async () => {
    await asleep();
    await it.restart();
    await it.advance(minute);
    expect([pods(), await phase()]).toEqual([[], "asleep"]);
    await requested();
    await it.settle();
    expect(pods()).toHaveLength(1);
  });

  test("that was killed right after a wake goes on with it", async () => {
    await asleep();
    await requested();
    await it.crash();
    await it.settle();
    expect(pods()).toHaveLength(1);
  });

  test("begins to count anew after a start", async () => {
    await running();
    await it.advance(4 * minute);
    await it.restart();
    await it.advance(4 * minute);
    expect(pods()).toHaveLength(1);
    await it.advance(2 * minute);
    expect(pods()).toEqual([]);
  });
});

test("an app that crashes when it is woken is started by one request, not by each", async () => {
  await asleep();
  await requested();
  await it.quiet();
  expect(it.running.sleep.stateOf(key)).toMatchObject({ asleep: false });
  for (let count = 0; count < 40; count++) {
    await requested();
    await it.quiet();
    for (const name of pods()) it.runtime.crash(name, 1);
    await it.advance(20_000);
  }
  // Its requests wait no longer than those of any other app.
  expect(it.running.sleep.stateOf(key)).toBeUndefined();
  // What does not come up is a fault, and is not hidden by sleep.
  expect(await phase()).not.toBe("asleep");
  expect(turns().filter((text) => text.includes("wake"))).toHaveLength(1);
});

test("POST /wake starts it, and says when it was awake", async () => {
  await asleep();
  const target = { scope: "shop", name: "web" };
  expect(await it.controller.wake(target, { actor: "ana" })).toMatchObject({ ...key, woken: true });
  await it.settle();
  expect(pods()).toHaveLength(1);
  expect(await it.controller.wake(target, { actor: "ana" })).toMatchObject({ woken: false });
  await expectFailure(it.controller.wake({ scope: "shop", name: "none" }, { actor: "ana" }), "not_found");
});

test("a deleted app leaves nothing of it", async () => {
  await asleep();
  await it.controller.deleteManifest(key, { actor: "ana", prune: false });
  await it.advance(minute);
  expect(it.store.sleep.get(key)).toBeUndefined();
  expect(it.running.sleep.stateOf(key)).toBeUndefined();
});
