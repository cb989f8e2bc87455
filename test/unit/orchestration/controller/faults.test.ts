import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../src/base/wire/failure.ts";
import { containerSpec } from "../../../support/container-spec.ts";
import { deployment, statefulset } from "../../../support/manifests.ts";
import { type World, world } from "../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const engineAway = new Failure("unavailable", "socket hang up", { reason: "EngineUnavailable" });
const halfStarted = new Failure("unavailable", "task already exists", { reason: "EngineUnavailable", anew: true });
const anHour = 60 * 60_000;
const refusal = (text = "no such device", reason: "StartFailed" | "Other" = "StartFailed") =>
  new Failure("conflict", text, { reason });
const status = () => it.status("deployment", "shop", "web");
const count = (operation: string) => it.runtime.calls.filter((call) => call.startsWith(`${operation} `)).length;

describe("a container that cannot be made or started", () => {
  test("in part leaves the others running, and the rest comes when it can", async () => {
    it.runtime.fail("create", refusal(), 2);
    await it.apply(deployment("shop", "web", { replicas: 5 }));
    await it.quiet();
    expect(it.containers()).toHaveLength(5 - 2 + 2);
    expect(new Set(it.containers()).size).toBe(5);
    await it.settle();
    expect(it.containers()).toHaveLength(5);
  });

  test.each(["create", "start"] as const)("at %s leaves nothing behind and costs no hot loop", async (operation) => {
    it.runtime.fail(operation, refusal());
    await it.apply([deployment("shop", "web", { replicas: 3 }), statefulset("shop", "db", { replicas: 3 })]);
    await it.advance(60_000);
    expect(it.containers()).toEqual([]);
    it.runtime.calls.length = 0;
    const events = it.events().length;
    await it.advance(anHour);
    // Tries a minute apart, three at a time for the deployment and one for the statefulset.
    expect(count("create")).toBeGreaterThan(200);
    expect(count("create")).toBeLessThan(420);
    expect(it.runtime.calls.length).toBeLessThan(5_000);
    // Both releases are failed once, at their deadline.
    expect(
      it
        .events()
        .slice(events)
        .map(({ action }) => action),
    ).toEqual(["release.failed", "release.failed"]);
    expect(it.containers()).toEqual([]);
    it.runtime.fail(operation, undefined);
    await it.settle();
    expect(it.containers()).toHaveLength(6);
  });

  test("and cannot be removed either does not pile up", async () => {
    it.runtime.fail("start", refusal());
    it.runtime.fail("remove", refusal("device or resource busy", "Other"));
    await it.apply(deployment("shop", "web"));
    await it.advance(anHour);
    expect(it.containers().length).toBeLessThanOrEqual(2);
    expect(await status()).toMatchObject({ phase: "failed" });
    it.runtime.fail("start", undefined);
    it.runtime.fail("remove", undefined);
    await it.settle();
    expect(it.containers()).toHaveLength(1);
  });

  test("is no trouble of the spec that mends it", async () => {
    it.runtime.fail("start", refusal("no such program"));
    await it.apply(deployment("shop", "web", { command: ["nope"] }));
    await it.advance(60_000);
    expect(await status()).toMatchObject({ phase: "failing", last_reconcile_error: "no such program" });
    it.runtime.fail("start", undefined);
    it.runtime.delay("start", 5_000);
    await it.apply(deployment("shop", "web"));
    await it.quiet();
    const mending = await status();
    expect(mending).toMatchObject({ phase: "progressing", observed_revision: 2 });
    expect(mending).not.toHaveProperty("last_reconcile_error");
    await it.settle();
  });

  test("is no trouble either when it was being tried while the mended spec came", async () => {
    it.runtime.fail("start", refusal("no such program"));
    it.runtime.delay("start", 5_000);
    await it.apply(deployment("shop", "web", { command: ["nope"] }));
    await it.advance(1_000);
    await it.apply(deployment("shop", "web"));
    it.runtime.fail("start", undefined);
    await it.advance(4_500);
    expect(await status()).not.toHaveProperty("last_reconcile_error");
    await it.settle();
  });

  test.each(["deployment", "statefulset"])(
    "because an engine's end left it half started is made anew: %s",
    async (kind) => {
      const manifest = kind === "deployment" ? deployment("shop", "web") : statefulset("shop", "web");
      // The first refusal comes with an engine that is away when the container is to be removed.
      it.runtime.fail("start", halfStarted, 2);
      it.runtime.fail("remove", engineAway, 1);
      await it.apply(manifest);
      await it.settle(10_000);
      expect(count("create")).toBe(2);
      const [made] = it.runtime.containers();
      // One that ran and ended is in the same case.
      it.runtime.kill(made?.id ?? "");
      it.runtime.fail("start", halfStarted, 1);
      await it.settle(30_000);
      expect(it.runtime.containers().map(({ id, state }) => [id === made?.id, state])).toEqual([[false, "running"]]);
    },
  );

  test("because its name is taken is named, and the other container is left alone", async () => {
    await it.close();
    it = await world({
      wrapRuntime: (runtime) => ({
        ...runtime,
        observe: async (filter) =>
          (await runtime.observe(filter)).filter(({ labels }) => labels["berth.scope"] !== undefined),
      }),
    });
    const theirs = await it.runtime.create(containerSpec({ name: "shop-db.0" }));
    await it.apply(statefulset("shop", "db"));
    await it.advance(20_000);
    const { conditions } = await it.status("statefulset", "shop", "db");
    expect(conditions.find(({ type }) => type === "Degraded")).toMatchObject({ reason: "NameTaken" });
    expect(it.runtime.containers().map(({ id }) => id)).toEqual([theirs.id]);
    it.runtime.removeByHand("shop-db.0");
    await it.settle();
    expect(it.containers()).toEqual(["shop-db.0"]);
  });

  test("is a bug of ours: told in the log with its stack, and tried again", async () => {
    it.runtime.fail("create", new TypeError("undefined is not a function") as unknown as Failure, 2);
    await it.apply(deployment("shop", "web"));
    await it.quiet();
    expect((await status()).last_reconcile_error).toBe("undefined is not a function");
    expect(it.logged.some((line) => line.includes('"reconcile bug"') && line.includes("at "))).toBe(true);
    await it.settle();
    expect(it.containers()).toHaveLength(1);
  });

  test("shows its number of tries and the next one", async () => {
    it.runtime.fail("create", refusal());
    await it.apply(deployment("shop", "web"));
    const seen: number[] = [];
    for (let tries = 0; tries < 5; tries++) {
      await it.quiet();
      const { attempts = 0, next_retry_at = "" } = await status();
      seen.push(attempts);
      expect(Date.parse(next_retry_at)).toBeGreaterThan(it.clock.now());
      await it.advance(Date.parse(next_retry_at) - it.clock.now());
    }
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("a replica cut off from the platform's network by hand", () => {
  test("is replaced at the next resync, without going below what is wanted", async () => {
    await it.apply(deployment("shop", "web", { replicas: 2 }));
    await it.settle();
    await it.advance(60_000);
    const [victim = "", other = ""] = it.containers();
    it.runtime.disconnectByHand(victim, "berth0");
    await it.advance(60_000);
    await it.settle();
    expect(it.containers()).toHaveLength(2);
    expect(it.containers()).toContain(other);
    expect(it.containers()).not.toContain(victim);
    const [removed] = it.events("replica.remove");
    expect(removed?.detail?.why).toContain('cut off from network "berth0"');
  });
});

describe("the engine", () => {
  test("down at the start: the server answers, says so, and goes to work when it comes", async () => {
    await it.close();
    it = await world({ engineDown: true });
    await it.apply([deployment("shop", "web"), { kind: "job", scope: "shop", name: "tidy", spec: { image: "x:1" } }]);
    await it.advance(10 * 60_000);
    expect((await status()).conditions).toEqual([expect.objectContaining({ reason: "EngineUnavailable" })]);
    expect((await it.describe("job", "shop", "tidy")).status).toMatchObject({ phase: "ready" });
    it.runtime.engineUp();
    await it.settle(11_000);
    expect(it.containers()).toHaveLength(1);
  });

  test("down is asked at a slow pace, and everything is looked at when it is back", async () => {
    await it.apply([deployment("shop", "web"), statefulset("shop", "db")]);
    await it.settle();
    it.runtime.engineDown();
    it.runtime.calls.length = 0;
    await it.advance(anHour);
    expect(it.runtime.calls.filter((call) => call !== "info")).toEqual([]);
    expect(it.runtime.calls.length).toBeLessThanOrEqual(anHour / 2_000);
    for (const name of it.containers()) it.runtime.kill(name);
    await it.apply(deployment("shop", "late"));
    it.runtime.engineUp();
    await it.settle(11_000);
    expect(it.runtime.containers().map(({ state }) => state)).toEqual(["running", "running", "running"]);
  });

  test("lost in the middle of a rollout picks it up again, with nothing doubled or left over", async () => {
    await it.apply(deployment("shop", "web", { replicas: 3 }));
    await it.settle();
    await it.advance(60_000);
    it.runtime.delay("start", 2_000);
    await it.apply(deployment("shop", "web", { replicas: 3, env: { A: "1" } }));
    await it.advance(3_000);
    it.runtime.engineDown();
    await it.advance(30_000);
    expect(it.runtime.containers().filter(({ state }) => state === "running").length).toBeGreaterThanOrEqual(3);
    it.runtime.delay("start", 0);
    it.runtime.engineUp();
    await it.settle();
    expect(it.runtime.containers().map(({ env, state }) => [env.A, state])).toEqual([
      ["1", "running"],
      ["1", "running"],
      ["1", "running"],
    ]);
  });

  test("whose stream breaks again and again never loses anything", async () => {
    await it.apply(deployment("shop", "web", { replicas: 2 }));
    await it.settle();
    for (let breaks = 0; breaks < 5; breaks++) {
      it.runtime.engineDown();
      const [name = ""] = it.containers();
      it.runtime.removeByHand(name);
      it.runtime.engineUp();
      await it.advance(12_000);
      expect(it.containers()).toHaveLength(2);
    }
    const links = it.logged.filter((line) => /"engine (up|down)"/.test(line));
    expect(links).toHaveLength(11);
  });

  test("that fails a single listing is asked again", async () => {
    await it.apply(deployment("shop", "web"));
    await it.settle();
    it.runtime.fail("observe", new Failure("timeout", "too slow"), 2);
    const [name = ""] = it.containers();
    it.runtime.removeByHand(name);
    await it.settle();
    expect(it.containers()).toHaveLength(1);
  });

  test("that hangs is down in seconds, keeps the causes that were known, and restarts nothing when it goes on", async () => {
    const probe = { exec: { command: ["check"] }, period: "1s", failure_threshold: 3 };
    await it.apply(deployment("shop", "web", { probes: { liveness: probe, readiness: probe } }));
    await it.settle();
    it.runtime.fail("create", new Failure("conflict", "no such image", { reason: "ImageMissing" }));
    await it.apply(deployment("shop", "broken"));
    await it.advance(30_000);
    const cause = async () => (await it.status("deployment", "shop", "broken")).conditions.at(-1);
    expect(await cause()).toMatchObject({ reason: "ImageMissing" });
    const [pod = ""] = it.containers();

    it.runtime.engineHangs(true);
    await it.advance(1_000);
    const asked = it.controller.listPods({}, { detail: false, spec: false }).catch((error: Failure) => error);
    await it.advance(15_000);
    expect(await asked).toMatchObject({ code: "unavailable", reason: "EngineUnavailable" });
    expect(await it.controller.system()).toMatchObject({ engine: { up: false } });
    expect((await cause())?.message).toMatch(
      /^the container engine cannot be reached: docker has not answered since 2026-01-01T00:00:\d\dZ/,
    );
    expect((await cause())?.message).toContain("before that: ImageMissing: ");
    expect((await it.status("deployment", "shop", "broken")).last_reconcile_error).toContain("no such image");
    await it.advance(10 * 60_000);
    expect(it.controller.podReady(pod)).toMatchObject({ ready: true });

    it.runtime.calls.length = 0;
    it.runtime.engineHangs(false);
    await it.advance(2_000);
    expect(await it.controller.system()).toMatchObject({ engine: { up: true } });
    expect((await cause())?.message).toContain("no such image");
    await it.advance(60_000);
    expect(it.containers()).toEqual([pod]);
    expect(it.runtime.calls.filter((call) => /^(?:stop|start|remove|create) shop-web/.test(call))).toEqual([]);
  });

  test.each([
    ["hangs", (isAway: boolean) => it.runtime.engineHangs(isAway)],
    ["is gone", (isAway: boolean) => (isAway ? it.runtime.engineDown() : it.runtime.engineUp())],
  ])("that %s for longer than a progress deadline fails no release by it", async (_, away) => {
    const probes = { readiness: { exec: { command: ["check"] }, period: "1s" } };
    const app = (v: string, rollout = {}) =>
      deployment("shop", "web", { env: { V: v }, probes, rollout: { progress_deadline: "60s", ...rollout } });
    let passes = true;
    it.runtime.onExec(() => () => (passes ? 0 : 1));
    await it.apply(app("1"));
    await it.settle();
    passes = false;
    await it.apply(app("2"));
    await it.advance(50_000);
    const all = () => it.store.releases.list({ kind: "deployment", scope: "shop", name: "web" });
    const id = all()[0]?.id;
    const status = () => all().find((one) => one.id === id)?.status;
    away(true);
    await it.advance(20 * 60_000);
    away(false);
    await it.advance(5_000);
    expect(status()).toBe("running");
    await it.advance(60_000);
    expect(status()).toBe("failed");
  });
});
