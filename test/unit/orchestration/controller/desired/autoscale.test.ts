import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import type { ReplicaUsage } from "../../../../../src/orchestration/controller/desired/autoscale.ts";
import { deployment } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
/** What every running replica of `web` is said to use; undefined is a sampler without figures. */
let cpuPercent: number | undefined;
let isReady: (name: string) => boolean;

beforeEach(async () => {
  cpuPercent = undefined;
  isReady = () => true;
  it = await world({ usageOf: usage });
});
afterEach(() => it.close());

function usage({ name }: { name: string }): ReplicaUsage[] {
  if (cpuPercent === undefined) return [];
  const percent = cpuPercent;
  return it.runtime
    .containers()
    .filter((container) => container.name.startsWith(`shop-${name}.`))
    .map((container) => ({ cpuPercent: percent, cpuLimit: 0.5, ready: isReady(container.name) }));
}

const tickMs = 15_000;
const scaling = { min: 1, max: 4, cpu_target: 50, cooldown_up: "30s", cooldown_down: "5m" };
const web = (autoscale: Spec = scaling, spec: Spec = {}) => deployment("shop", "web", { autoscale, ...spec });
const unscaled = (replicas: number) => deployment("shop", "web", { replicas });
const key = keyOf("deployment", "shop", "web");
const count = () => it.containers().filter((name) => name.startsWith("shop-web.")).length;
const steps = () => it.events().filter(({ action }) => action.startsWith("autoscale."));

async function running(autoscale?: Spec): Promise<void> {
  await it.apply(web(autoscale));
  await it.settle();
}

describe("under load", () => {
  test("one replica more a step, a cool-down apart, up to max", async () => {
    await running();
    cpuPercent = 50;
    await it.advance(tickMs);
    expect(count()).toBe(2);
    await it.advance(tickMs);
    expect(count()).toBe(2);
    await it.advance(tickMs);
    expect(count()).toBe(3);
    await it.advance(10 * tickMs);
    expect(count()).toBe(4);
    expect(steps().map(({ actor, action, detail }) => [actor, action, detail?.from, detail?.to])).toEqual([
      ["autoscaler", "autoscale.up", 1, 2],
      ["autoscaler", "autoscale.up", 2, 3],
      ["autoscaler", "autoscale.up", 3, 4],
    ]);
    expect(steps()[0]?.detail?.why).toBe("mean CPU use 100 % of the limit, target 50 %: one up");
  });

  test("a step is no release, and the manifest stays as it was written", async () => {
    await running();
    const before = it.store.manifests.get(key);
    const releases = it.store.releases.list(key).map(({ id }) => id);
    cpuPercent = 50;
    await it.advance(2 * tickMs);
    expect(it.store.manifests.get(key)).toEqual(before);
    expect(it.store.releases.list(key).map(({ id }) => id)).toEqual(releases);
    expect(await it.status("deployment", "shop", "web")).toMatchObject({ replicas: 2, ready_replicas: 2 });
  });

  test("replicas that are not ready have no say", async () => {
    await running();
    cpuPercent = 50;
    isReady = () => false;
    await it.advance(4 * tickMs);
    expect([count(), steps()]).toEqual([1, []]);
  });

  test("without figures nothing moves", async () => {
    await running({ ...scaling, min: 2 });
    await it.advance(40 * tickMs);
    expect([count(), steps()]).toEqual([2, []]);
  });

  test("nothing moves while the engine is away", async () => {
    await running();
    cpuPercent = 50;
    it.runtime.engineDown();
    await it.advance(4 * tickMs);
    expect(steps()).toEqual([]);
    it.runtime.engineUp();
    await it.advance(4 * tickMs);
    expect(steps()[0]).toMatchObject({ action: "autoscale.up" });
  });
});

describe("without load", () => {
  test("one replica less a step, not before the long cool-down after the last step up, down to min", async () => {
    await running();
    cpuPercent = 50;
    await it.advance(tickMs);
    cpuPercent = 1;
    await it.advance(5 * 60_000 - tickMs);
    expect(count()).toBe(2);
    await it.advance(2 * tickMs);
    expect(count()).toBe(1);
    await it.advance(20 * 60_000);
    expect(count()).toBe(1);
    expect(steps().map(({ action }) => action)).toEqual(["autoscale.up", "autoscale.down"]);
  });
});

test("the count does not fall while a canary release runs old and new replicas beside each other", async () => {
  const canary = { rollout: { canary: [{ weight: "50%", pause: "1h" }], min_ready: "1s" } };
  await it.apply(web({ ...scaling, min: 2 }));
  await it.settle();
  cpuPercent = 50;
  await it.advance(4 * tickMs);
  const before = count();
  await it.apply(web({ ...scaling, min: 2 }, { ...canary, env: { V: "2" } }));
  cpuPercent = 0;
  await it.advance(1_200_000);
  expect(it.store.autoscale.get(key)?.replicas).toBe(before);
  await it.controller.tellRollout(key, { command: "promote", actor: "ana" });
  await it.settle();
  await it.advance(1_200_000);
  expect(it.store.autoscale.get(key)?.replicas).toBe(2);
});

describe("a restart of the server", () => {
  test("keeps the count and the cool-down", async () => {
    await running();
    cpuPercent = 50;
    await it.advance(tickMs);
    cpuPercent = 1;
    await it.advance(60_000);
    await it.restart();
    await it.advance(3 * 60_000);
    expect(count()).toBe(2);
    await it.advance(2 * 60_000);
    expect(count()).toBe(1);
  });
});

describe("an apply", () => {
  async function scaledTo3(): Promise<void> {
    await running();
    cpuPercent = 50;
    await it.advance(3 * tickMs);
    cpuPercent = undefined;
    expect(count()).toBe(3);
  }

  test("of the same, or of another image, never resets the count", async () => {
    await scaledTo3();
    await it.apply(web());
    await it.settle();
    expect(count()).toBe(3);
    await it.apply(web(scaling, { env: { A: "1" } }));
    await it.settle();
    expect(count()).toBe(3);
  });

  test("that moves the bounds is honoured at once, and told", async () => {
    await scaledTo3();
    await it.apply(web({ ...scaling, max: 2 }));
    await it.settle();
    expect(count()).toBe(2);
    await it.advance(tickMs);
    expect(steps().at(-1)).toMatchObject({ action: "autoscale.down", detail: { from: 3, to: 2 } });
    await it.apply(web({ ...scaling, min: 4 }));
    await it.settle();
    expect(count()).toBe(4);
  });

  test("that takes the block away forgets the count", async () => {
    await scaledTo3();
    await it.apply(unscaled(2));
    await it.settle();
    expect([count(), it.store.autoscale.get(key)]).toEqual([2, undefined]);
  });

  test("that brings the block starts from the replicas there are, within the bounds", async () => {
    await it.apply(unscaled(3));
    await it.settle();
    const before = it.containers();
    const dry = await it.apply(web(), { dryRun: true });
    expect(dry.plan?.[0]?.replicas).toEqual([]);
    await it.apply(web());
    await it.settle();
    expect(it.containers()).toEqual(before);
    expect(it.store.autoscale.get(key)?.replicas).toBe(3);
  });

  test("a rollback keeps the count of now", async () => {
    await scaledTo3();
    await it.apply(web(scaling, { env: { A: "1" } }));
    await it.settle();
    await it.controller.rollback({ scope: "shop", name: "web", releaseId: undefined }, { actor: "ana" });
    await it.settle();
    expect(count()).toBe(3);
  });
});

test("a deleted deployment leaves no count behind", async () => {
  await running();
  cpuPercent = 50;
  await it.advance(tickMs);
  await it.controller.deleteManifest(
    { kind: "deployment", scope: "shop", name: "web" },
    { prune: false, actor: "ana" },
  );
  await it.settle();
  expect(it.store.autoscale.get(key)).toBeUndefined();
});
