import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { deployment } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const key = keyOf("deployment", "shop", "web");
const rollout = { min_ready: "1s", drain: "10m", progress_deadline: "60s" };
const app = (v: string, spec: Spec = {}) => deployment("shop", "web", { replicas: 3, rollout, env: { V: v }, ...spec });
const all = () => it.runtime.containers().filter(({ name }) => name.startsWith("shop-web."));
const versions = () =>
  all()
    .filter(({ state }) => state === "running")
    .map(({ env }) => env.V)
    .sort()
    .join("");
const releases = () => it.store.releases.list(key).map(({ status }) => status);
const status = () => it.status("deployment", "shop", "web");

/** Visitors of what runs, who stay until told otherwise. */
function visitors(established: number): void {
  for (const { name } of all()) it.runtime.setConnections(name, { listening: true, established });
}

/** The first version runs and has visitors; the second begins, and an old replica drains for them. */
async function draining(): Promise<void> {
  await it.apply(app("1"));
  await it.settle();
  visitors(1);
  await it.apply(app("2"));
  await it.advance(1_500);
  expect((await status()).conditions.find(({ type }) => type === "Ready")?.message).toContain("draining and stopping");
}

describe("an old replica that drains for long", () => {
  test("does not hold up the next new one; at most one container more than the surge stands beside the wanted", async () => {
    await draining();
    await it.advance(60_000);
    expect(versions()).toBe("11122");
    visitors(0);
    await it.settle();
    expect([versions(), releases()]).toEqual(["222", ["succeeded", "succeeded"]]);
  });

  test("counts for no deadline, while nothing else is waited for", async () => {
    await draining();
    await it.advance(5 * 60_000);
    expect(releases()).toEqual(["running", "succeeded"]);
  });

  test("is no excuse for a new one that does not come up", async () => {
    await it.apply(app("1"));
    await it.settle();
    visitors(1);
    await it.apply(app("2"));
    await it.advance(1_010);
    // The second new one, made while the first old one drains.
    const [second] = all().filter(({ env, startedAt }) => env.V === "2" && (startedAt ?? 0) >= it.clock.now() - 100);
    expect(second).toBeDefined();
    it.runtime.fail("start", new Failure("conflict", "no such device", { reason: "StartFailed" }));
    it.runtime.kill(second?.name ?? "");
    await it.advance(70_000);
    it.runtime.fail("start", undefined);
    expect(releases()).toContain("failed");
    visitors(0);
    await it.settle();
    expect(versions()).toBe("111");
  });

  test("goes in its time when its spec is wanted again, and another one takes its place", async () => {
    await draining();
    await it.apply(app("1"));
    await it.advance(30_000);
    expect(versions()).toBe("1111");
    visitors(0);
    await it.settle();
    expect(versions()).toBe("111");
  });

  test("stands beside no replica of a spec that forbids two at a time", async () => {
    await draining();
    // Those that are to be stopped first have no visitors; the one that drains still has.
    const { pods } = await it.controller.listPods({}, { detail: false, spec: false });
    const leaving = pods.flatMap(({ name, stopping }) => (stopping ? [name] : []));
    expect(leaving).toHaveLength(1);
    visitors(0);
    it.runtime.setConnections(leaving[0] ?? "", { listening: true, established: 1 });
    await it.apply(app("3", { rollout: { ...rollout, strategy: "recreate" } }));
    await it.advance(60_000);
    expect(versions()).toBe("1");
    visitors(0);
    await it.settle();
    expect(versions()).toBe("333");
  });

  test("goes at once when the resource is deleted, and a namesake comes up", async () => {
    await draining();
    await it.controller.deleteManifest({ ...key }, { prune: true, actor: "ana" });
    await it.advance(2_000);
    expect(all()).toEqual([]);
    await it.apply(app("3"));
    await it.settle(10_000);
    expect(versions()).toBe("333");
  });

  test("goes in its time when no replica is wanted", async () => {
    await draining();
    await it.apply(app("2", { replicas: 0 }));
    visitors(0);
    await it.settle();
    expect(all()).toEqual([]);
  });

  test.each(["restart", "crash"] as const)("is found again after a %s of the server, and goes", async (how) => {
    await draining();
    const [old] = all().filter(({ env }) => env.V === "1");
    // Nobody waits out the drain.
    const before = it.clock.steady();
    await it[how]();
    expect(it.clock.steady() - before).toBeLessThan(10_000);
    expect(old).toBeDefined();
    visitors(0);
    await it.settle();
    expect(versions()).toBe("222");
  });

  test("is taken up again when Docker was away in the middle", async () => {
    await draining();
    it.runtime.engineDown();
    visitors(0);
    await it.advance(5_000);
    it.runtime.engineUp();
    await it.settle();
    expect([versions(), releases()]).toEqual(["222", ["succeeded", "succeeded"]]);
  });
});

describe.each(["stop", "remove"] as const)("an old replica that refuses its %s", (operation) => {
  beforeEach(async () => {
    await it.apply(app("1", { rollout: { ...rollout, drain: "0s" } }));
    await it.settle();
    it.runtime.fail(operation, new Failure("conflict", "device or resource busy", { reason: "Other" }));
    await it.apply(app("2", { rollout: { ...rollout, drain: "0s" } }));
  });

  test("is told of, and goes once it can", async () => {
    await it.advance(20_000);
    expect(await status()).toMatchObject({ last_reconcile_error: "device or resource busy" });
    it.runtime.fail(operation, undefined);
    await it.settle();
    expect([versions(), releases()]).toEqual(["222", ["succeeded", "succeeded"]]);
  });

  test("costs no hot loop, and fails the release at its deadline", async () => {
    await it.advance(30_000);
    it.runtime.calls.length = 0;
    await it.advance(30 * 60_000);
    expect(it.runtime.calls.filter((call) => call.startsWith(`${operation} `)).length).toBeLessThan(200);
    expect(releases()).toContain("failed");
    it.runtime.fail(operation, undefined);
    await it.advance(2 * 60_000);
    expect(versions()).toBe("111");
  });
});
