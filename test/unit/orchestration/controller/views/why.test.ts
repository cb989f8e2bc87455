import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { cronjob, deployment, job, statefulset } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const hourMs = 3_600_000;
const web = (spec: Spec = {}) => deployment("shop", "web", spec);
const why = (target = {}) => it.controller.why({ scope: "shop", name: "web", ...target });
const firstPod = () => it.containers().find((name) => name.startsWith("shop-web.")) ?? "";

async function running(spec: Spec = {}): Promise<void> {
  await it.apply(web(spec));
  await it.settle();
}

describe("a replica that died", () => {
  test("is told with its signal, its last lines and what started it anew", async () => {
    await running();
    const pod = firstPod();
    for (let line = 1; line <= 120; line++) it.runtime.writeLog(pod, `line ${line}\n`);
    await it.advance(60_000);
    it.runtime.kill(pod, 137);
    await it.settle();
    const told = await why();
    expect(told).toMatchObject({
      kind: "deployment",
      scope: "shop",
      name: "web",
      deleted: false,
      phase: "ready",
      deaths: 1,
    });
    expect(told.death).toMatchObject({
      replica_id: pod.split(".")[1],
      exit_code: 137,
      signal: "SIGKILL",
      oom_killed: false,
      image: "berth-fixture:1",
      probes: [],
    });
    expect([told.death?.logs.length, told.death?.logs.at(-1)]).toEqual([100, "line 120"]);
    expect(told.at).toBe(told.death?.at ?? "");
  });

  test("for want of memory says so", async () => {
    await running({ restart: "no" });
    it.runtime.crash(firstPod(), 137, { oomKilled: true });
    await it.quiet();
    expect(await why()).toMatchObject({ phase: "failing", death: { oom_killed: true, signal: "SIGKILL" } });
  });

  test("is told before it is on record, and once when it is", async () => {
    await running({ restart: "no" });
    it.runtime.fail("start", new Failure("conflict", "no such device", { reason: "PortTaken" }));
    it.runtime.crash(firstPod(), 3);
    await it.quiet();
    const told = await why();
    expect(told.deaths).toBe(1);
    expect(told.death).toMatchObject({ exit_code: 3 });
  });

  test("keeps its exit code when the engine itself has started it again", async () => {
    await running();
    it.runtime.crash(firstPod(), 2);
    await it.advance(1_000);
    expect(await why()).toMatchObject({ phase: "ready", deaths: 1, death: { exit_code: 2 } });
  });

  test("with exit code 0 has no signal", async () => {
    await running();
    it.runtime.kill(firstPod(), 0);
    await it.settle();
    expect((await why()).death).toMatchObject({ exit_code: 0 });
    expect((await why()).death).not.toHaveProperty("signal");
  });

  test("is not one that a person stopped", async () => {
    await running();
    await it.controller.stopPod(firstPod(), { freeze: true, actor: "ana" });
    await it.settle();
    expect(await why()).toMatchObject({
      deaths: 0,
      events: expect.arrayContaining([expect.objectContaining({ action: "pod.stop" })]),
    });
  });
});

test("where a rollback would go is told, and of a first release that there is nowhere to go", async () => {
  const missing = { image: "nowhere.invalid/none:1", rollout: { auto_rollback: false } };
  await it.apply(web(missing));
  await it.advance(5_000);
  expect((await why()).rollback_to).toBeUndefined();
  await running();
  const [good] = it.store.releases.list(keyOf("deployment", "shop", "web"));
  await it.apply(web(missing));
  await it.advance(5_000);
  expect([good?.good, (await why()).rollback_to]).toEqual([true, good?.id ?? ""]);
});

describe("a rollout that failed", () => {
  async function failed(): Promise<void> {
    await running({ env: { A: "1" }, rollout: { min_ready: "30s" } });
    const old = firstPod();
    await it.apply(web({ env: { A: "2" }, rollout: { min_ready: "30s" } }));
    await it.quiet();
    const releases = () => it.store.releases.list(keyOf("deployment", "shop", "web"));
    for (let second = 0; second < 60 && releases()[0]?.cause === "apply"; second++) {
      for (const name of it.containers()) if (name !== old) it.runtime.crash(name, 1);
      await it.advance(1_000);
    }
    await it.settle();
  }

  test("is told with its reason, where it went back to, and the death behind it", async () => {
    await failed();
    const told = await why();
    expect(told.failed_release).toMatchObject({
      cause: "apply",
      image: "berth-fixture:1",
      error: expect.stringContaining("CrashLoop"),
      output: [],
    });
    const [back, , first] = it.store.releases.list(keyOf("deployment", "shop", "web"));
    expect([back?.cause, told.failed_release?.rolled_back_to]).toEqual(["auto_rollback", first?.id ?? ""]);
    expect(told.death?.reason).toContain("CrashLoop");
    expect(told.phase).toBe("ready");
    // What runs is the good one.
    expect(told.rollback_to).toBeUndefined();
  });
});

describe("what changed in the hour before", () => {
  test("holds what was done to it and to what it reads, and nothing else", async () => {
    await it.apply([
      { kind: "asset", scope: "shop", name: "files", spec: { files: { conf: "1" } } },
      statefulset("shop", "other"),
      deployment("blog", "web"),
      web({ env_from: ["base/common"], volumes: ["${asset.files.conf}:/etc/conf:ro"] }),
    ]);
    await it.settle();
    await it.advance(2 * hourMs);
    const set = (scope: string, name?: string) =>
      it.controller.setConfig({ scope, name }, { K: `${scope}${name}` }, { restart: false, actor: "ana" });
    await set("shop");
    await set("shop", "web");
    await set("shop", "other");
    await set("base");
    await set("base", "common");
    await set("elsewhere");
    await it.apply({ kind: "asset", scope: "shop", name: "files", spec: { files: { conf: "2" } } });
    await it.settle();
    it.runtime.kill(firstPod());
    await it.settle();
    const { events } = await why();
    const told = events.filter(({ action }) => !action.startsWith("replica."));
    expect(told.map(({ action, kind, scope, name }) => [action, kind, scope, name].filter(Boolean).join(" "))).toEqual([
      "config.set shop",
      "config.set shop web",
      "config.set base",
      "config.set base common",
      "manifest.apply asset shop files",
      "asset.changed deployment shop web",
      "release.succeeded deployment shop web",
    ]);
  });

  test("ends with the death: what came later is not a cause", async () => {
    await running();
    it.runtime.kill(firstPod());
    await it.settle();
    await it.advance(10_000);
    await it.controller.setConfig({ scope: "shop", name: undefined }, { K: "1" }, { restart: false, actor: "ana" });
    expect((await why()).events.map(({ action }) => action)).not.toContain("config.set");
  });

  test("leads up to now while it is failing", async () => {
    await running();
    it.runtime.kill(firstPod());
    await it.settle();
    await it.advance(2 * hourMs);
    await it.apply(web({ image: "nowhere:1" }));
    await it.advance(30_000);
    const told = await why();
    expect(told).toMatchObject({ phase: "failing", last_reconcile_error: expect.stringContaining("nowhere:1") });
    expect(told.at).toBe(new Date(it.clock.now()).toISOString());
    expect(told.events.map(({ action }) => action)).toContain("manifest.apply");
    expect(told.conditions.map(({ type }) => type)).toContain("Degraded");
  });
});

describe("the resource", () => {
  test("that is well has nothing to tell", async () => {
    await running();
    expect(await why()).toMatchObject({ phase: "ready", deaths: 0, deleted: false });
    expect(await why()).not.toHaveProperty("failed_release");
  });

  test("that was deleted is remembered by its deaths", async () => {
    await running();
    it.runtime.kill(firstPod());
    await it.settle();
    await it.controller.deleteManifest({ kind: "deployment", name: "web" }, { prune: false, actor: "ana" });
    await it.settle();
    expect(await why()).toMatchObject({ kind: "deployment", deleted: true, deaths: 1, conditions: [] });
    expect(await why({ kind: "deployments" })).toMatchObject({ deleted: true });
  });

  test("is found by its name alone, and refused where that is ambiguous or unknown", async () => {
    await it.apply([web(), statefulset("shop", "web")]);
    await it.settle();
    await expectFailure(why(), "invalid");
    expect(await it.controller.why({ kind: "statefulset", name: "web" })).toMatchObject({ scope: "shop" });
    await expectFailure(it.controller.why({ name: "none" }), "not_found");
    await expectFailure(it.controller.why({}), "invalid");
  });

  test("is told from memory while the engine is away", async () => {
    await running();
    it.runtime.kill(firstPod());
    await it.settle();
    it.runtime.engineDown();
    await it.advance(1_000);
    expect((await why()).deaths).toBe(1);
    expect((await why()).conditions).toContainEqual(expect.objectContaining({ reason: "EngineUnavailable" }));
  });
});

describe("a run that failed", () => {
  const report = (spec: Spec = {}) => job("shop", "report", { timeout: "1m", ...spec });
  const whyReport = (target = {}) => why({ name: "report", ...target });

  /** Starts a run, and ends its process. */
  async function run(exitCode: number, lines: string): Promise<string> {
    const target = { kind: "job" as const, scope: "shop", name: "report" };
    const { run_id: id } = await it.controller.runJob(target, { wait: false, actor: "ana" });
    await it.quiet();
    const name = it.containers().find((one) => one.includes("report")) ?? "";
    it.runtime.writeLog(name, lines);
    it.runtime.finish(name, exitCode);
    await it.quiet();
    return id;
  }

  test("is told with exit code, signal, last lines and what changed before", async () => {
    await it.apply(report());
    await it.advance(2 * hourMs);
    await it.controller.setConfig({ scope: "shop", name: "report" }, { A: "1" }, { restart: true, actor: "ana" });
    const id = await run(139, "reading\nat row 7\n");
    const told = await whyReport();
    expect(told).toMatchObject({ kind: "job", phase: "ready", deaths: 0 });
    expect(told.failed_run).toMatchObject({ run_id: id, status: "failed", exit_code: 139, signal: "SIGSEGV" });
    expect(told.failed_run?.tail).toEqual(["reading", "at row 7"]);
    expect(told.at).toBe(told.failed_run?.ended_at ?? "");
    expect(told.events.map(({ action }) => action)).toEqual(["config.set", "run.start", "run.failed"]);
  });

  test("stays the last one that failed after others that did not; none is none", async () => {
    await it.apply(report());
    expect((await whyReport()).failed_run).toBeUndefined();
    const failed = await run(1, "no\n");
    await run(0, "yes\n");
    expect((await whyReport({ kind: "job" })).failed_run?.run_id).toBe(failed);
  });

  test("also one that took too long, or whose instant was missed", async () => {
    await it.apply([report(), cronjob("shop", "tick", { starting_deadline: "10s" })]);
    await it.controller.runJob({ kind: "job", scope: "shop", name: "report" }, { wait: false, actor: "ana" });
    await it.advance(5 * 60_000);
    expect((await whyReport()).failed_run).toMatchObject({ status: "timed_out" });
    await it.stop();
    await it.advance(5 * 60_000);
    await it.restart();
    await it.advance(1_000);
    const tick = await why({ name: "tick" });
    expect(tick.kind).toBe("cronjob");
    expect(tick.failed_run).toMatchObject({ status: "missed", trigger: "schedule" });
    expect(tick.failed_run?.error).not.toBe("");
  });

  test("a deployment of the name comes first, unless the kind is given", async () => {
    await it.apply([report(), deployment("shop", "report")]);
    await run(3, "");
    expect((await whyReport()).kind).toBe("deployment");
    expect((await whyReport({ kind: "jobs" })).failed_run?.exit_code).toBe(3);
    expect((await expectFailure(why({ name: "nobody" }), "not_found")).message).toContain("job/shop/nobody");
    expect((await expectFailure(why({ name: "web", kind: "cronjob" }), "not_found")).message).toContain("cronjob");
  });
});

test("what a reference reads counts as changed too", async () => {
  const ingress = (host: string) => ({ kind: "ingress", scope: "shop", name: "front", spec: { host, service: "web" } });
  await it.apply([web({ env: { URL: `\${ref.ingress.front.url}` } }), ingress("a.test")]);
  await it.settle();
  await it.advance(2 * hourMs);
  await it.apply(ingress("b.test"));
  await it.settle();
  it.runtime.kill(firstPod(), 1);
  await it.settle();
  const told = await why();
  const seen = told.events.map(({ action, kind }) => `${action} ${kind}`);
  expect(seen).toContain("manifest.apply ingress");
  expect(seen).toContain("reference.changed deployment");
});
