import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../src/base/wire/failure.ts";
import type { Spec } from "../../src/orchestration/api/manifest.ts";
import { deployment, statefulset } from "../support/manifests.ts";
import { keyOf, type World, world } from "../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const rollout = { min_ready: "5s", progress_deadline: "60s", crash_loop_after: "30s", drain: "10s" };
const app = (v: string, spec: Spec = {}) => deployment("shop", "web", { replicas: 3, rollout, env: { V: v }, ...spec });
const replicas = () => it.runtime.containers().filter(({ name }) => /^shop-(web|db)\.\w+$/.test(name));
const versions = () =>
  replicas()
    .map(({ env }) => env.V)
    .sort()
    .join("");
const running = () => replicas().filter(({ state }) => state === "running").length;
const outline = () =>
  it.store.releases.list(keyOf("deployment", "shop", "web")).map(({ cause, status }) => `${cause} ${status}`);

/** Lets time pass and holds, at each second, that so many replicas run. */
async function passing(seconds: number, atLeast: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    await it.advance(1_000);
    expect(running()).toBeGreaterThanOrEqual(atLeast);
    for (const { name } of replicas()) it.runtime.setConnections(name, { listening: true, established: 0 });
  }
}

describe("a clock that is set by an hour in the middle of a rollout", () => {
  test.each([
    ["back", -3_600_000],
    ["forward", 3_600_000],
  ])("%s changes neither its pace nor its end", async (_, jump) => {
    await it.apply(app("1"));
    await it.settle();
    await it.apply(app("2"));
    await passing(3, 3);
    it.clock.jump(jump);
    await it.advance(1_000);
    expect(versions()).toBe("1112");
    await passing(40, 3);
    expect([versions(), outline()]).toEqual(["222", ["apply succeeded", "apply succeeded"]]);
  });

  test.each([
    ["back", -3_600_000],
    ["forward", 3_600_000],
  ])("%s still ends one that cannot work at its deadline", async (_, jump) => {
    await it.apply(app("1"));
    await it.settle();
    await it.apply(app("2", { rollout: { ...rollout, min_ready: "1h" } }));
    await passing(5, 3);
    it.clock.jump(jump);
    await passing(50, 3);
    expect(outline()[0]).toBe("apply running");
    await passing(10, 3);
    expect([versions(), outline()[1]]).toEqual(["111", "apply failed"]);
  });

  test.each([
    ["back", -3_600_000],
    ["forward", 3_600_000],
  ])("%s heals what dies afterwards as soon as ever", async (_, jump) => {
    await it.apply(app("1"));
    await it.settle();
    const name = replicas()[0]?.name ?? "";
    it.runtime.kill(name);
    await it.advance(100);
    it.clock.jump(jump);
    it.runtime.kill(name);
    await it.advance(5_000);
    expect(running()).toBe(3);
  });

  test("and a new server at the same time cost nothing either", async () => {
    await it.apply(app("1"));
    await it.settle();
    await it.apply(app("2"));
    await passing(3, 3);
    it.clock.jump(-3_600_000);
    await it.crash();
    await passing(60, 3);
    expect([versions(), outline()[0]]).toEqual(["222", "apply succeeded"]);
  });
});

describe("an image", () => {
  test("that vanishes between plan and create is got again", async () => {
    it.runtime.addRemoteImage("app:2");
    await it.apply(app("1"));
    await it.settle();
    it.runtime.fail(
      "create",
      new Failure("conflict", "cannot create: no such image: app:2", { reason: "ImageMissing" }),
      1,
    );
    await it.apply(app("2", { image: "app:2" }));
    await passing(60, 3);
    expect([versions(), outline()[0]]).toEqual(["222", "apply succeeded"]);
  });

  test("that vanishes for good keeps the old replicas, and its release fails with its name", async () => {
    await it.apply(app("1"));
    await it.settle();
    it.runtime.addImage("app:2");
    it.runtime.delay("create", 1_000);
    await it.apply(app("2", { image: "app:2" }));
    await it.quiet();
    // The name that keeps it from being pruned goes as well.
    await it.runtime.removeImage(it.runtime.addImage("app:2").id);
    await passing(70, 3);
    it.runtime.delay("create", 0);
    await it.settle();
    const [, failed] = it.store.releases.list(keyOf("deployment", "shop", "web"));
    expect([versions(), failed?.status]).toEqual(["111", "failed"]);
    // Pinned by its digest when the rollout began.
    expect(failed?.error).toContain('cannot pull image "app@sha256:');
  });
});

test("a statefulset whose changed ordinal never gets ready keeps all others, and is rolled back", async () => {
  const db = (v: string) => statefulset("shop", "db", { replicas: 4, rollout, env: { V: v } });
  await it.apply(db("1"));
  await it.settle();
  await it.apply(db("2"));
  for (let second = 0; second < 40; second++) {
    await it.advance(1_000);
    const broken = replicas().filter(({ env, state }) => env.V === "2" && state === "running");
    for (const { name } of broken) it.runtime.crash(name, 1);
    await it.quiet();
    expect(replicas().filter(({ env, state }) => env.V === "1" && state === "running").length).toBeGreaterThanOrEqual(
      3,
    );
  }
  await it.settle();
  const releases = it.store.releases.list(keyOf("statefulset", "shop", "db"));
  expect(releases.map(({ status }) => status)).toEqual(["succeeded", "failed", "succeeded"]);
  expect(releases[1]?.error).toMatch(/^CrashLoop: shop-db\.3 crash-loops/);
  expect(versions()).toBe("1111");
});
