import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const key = keyOf("deployment", "shop", "web");
const dbKey = keyOf("statefulset", "shop", "db");
const rollout = { min_ready: "5s", progress_deadline: "60s", crash_loop_after: "30s" };
/** Crashes, a second apart, that are a crash loop. */
const loop = 32;
const app = (v: string, spec: Spec = {}) => deployment("shop", "web", { replicas: 3, rollout, env: { V: v }, ...spec });
const db = (v: string, spec: Spec = {}) => statefulset("shop", "db", { replicas: 3, rollout, env: { V: v }, ...spec });
const all = (prefix = "shop-web.") => it.runtime.containers().filter(({ name }) => name.startsWith(prefix));
const versions = (prefix?: string) =>
  all(prefix)
    .filter(({ state }) => state === "running")
    .map(({ env }) => env.V)
    .sort()
    .join("");
const releases = (of = key) => it.store.releases.list(of);
const outline = (of = key) => releases(of).map(({ cause, status }) => `${cause} ${status}`);
const storedEnv = (of = key) => it.store.manifests.get(of)?.spec.env;
const status = () => it.status("deployment", "shop", "web");

/** Crashes every running replica of that version, again and again for a while. */
async function crashing(v: string, times: number, prefix?: string): Promise<void> {
  for (let time = 0; time < times; time++) {
    await it.advance(1_000);
    for (const { name, env, state } of all(prefix)) if (env.V === v && state === "running") it.runtime.crash(name, 3);
    await it.quiet();
  }
}

async function running(v = "1", spec: Spec = {}): Promise<void> {
  await it.apply(app(v, spec));
  await it.settle();
}

describe("who asked for a release, and why,", () => {
  test("is kept with it, for an apply and a rollback", async () => {
    await it.apply(app("1"), { message: " first " });
    await it.settle();
    await it.apply(app("2"));
    await it.settle();
    await it.controller.rollback({ ...key, releaseId: undefined }, { actor: "ana", message: "2 is slow" });
    expect(releases().map(({ actor, message }) => [actor, message])).toEqual([
      ["ana", "2 is slow"],
      ["test", undefined],
      ["test", "first"],
    ]);
    expect(it.events("release.rollback")[0]?.detail).toMatchObject({ message: "2 is slow" });
    expect(it.events("manifest.apply")[0]?.detail).toMatchObject({ message: "first" });
    expect(it.controller.listReleases(key).releases[0]).toMatchObject({ actor: "ana", message: "2 is slow" });
  });

  test("is nobody where a failed release went back by itself", async () => {
    await running();
    await it.apply(app("2"), { message: "new" });
    await it.quiet();
    await crashing("2", loop);
    expect(releases().map(({ cause, actor, message }) => [cause, actor, message])).toEqual([
      ["auto_rollback", "reconciler", undefined],
      ["apply", "test", "new"],
      ["apply", "test", undefined],
    ]);
  });

  test("has limits, and a bad one stores nothing", async () => {
    for (const message of ["x".repeat(501), "a\nb"]) {
      expect(it.apply(app("1"), { message })).rejects.toThrow("message: ");
      expect(it.controller.rollback({ ...key, releaseId: undefined }, { actor: "ana", message })).rejects.toThrow(
        "message: ",
      );
    }
    expect(it.store.manifests.get(key)).toBeUndefined();
  });
});

describe("a rollout that works", () => {
  test("starts a new replica, waits until it is ready, and only then stops an old one", async () => {
    await running();
    await it.apply(app("2"));
    await it.quiet();
    expect(versions()).toBe("1112");
    await it.advance(4_900);
    expect(versions()).toBe("1112");
    await it.advance(200);
    expect(versions()).toBe("1122");
    await it.settle();
    expect(versions()).toBe("222");
    expect(outline()).toEqual(["apply succeeded", "apply succeeded"]);
    expect(releases()[0]).toMatchObject({ good: true, error: undefined });
  });

  test("goes in steps as wide as its spec allows", async () => {
    await running();
    await it.apply(app("2", { rollout: { ...rollout, max_surge: 3 } }));
    await it.quiet();
    expect(versions()).toBe("111222");
    await it.advance(5_100);
    expect(versions()).toBe("222");
  });

  test("goes below the count only where its spec allows", async () => {
    await running();
    await it.apply(app("2", { rollout: { ...rollout, max_surge: 0, max_unavailable: 1 } }));
    await it.quiet();
    expect(versions()).toBe("112");
    await it.settle();
    expect(versions()).toBe("222");
  });

  test("stops first where both cannot run at once", async () => {
    await it.apply(app("1", { replicas: 1, ports: ["18080:80"] }));
    await it.settle();
    await it.apply(app("2", { replicas: 1, ports: ["18080:80"] }));
    await it.settle();
    expect([versions(), outline()[0]]).toEqual(["2", "apply succeeded"]);
  });

  test("that is slow but moves on is given its deadline anew with each step", async () => {
    await running("1", { replicas: 6 });
    const slow = { min_ready: "40s", progress_deadline: "60s" };
    await it.apply(app("2", { replicas: 6, rollout: slow }));
    await it.settle(600_000);
    expect([versions(), outline()[0]]).toEqual(["222222", "apply succeeded"]);
  });

  test("a count alone is no release", async () => {
    await running();
    await it.apply(app("1", { replicas: 5 }));
    await it.settle();
    expect([versions(), releases().length]).toEqual(["11111", 1]);
    await it.apply(app("1", { replicas: 2 }));
    await it.settle();
    expect([versions(), releases().length]).toEqual(["11", 1]);
  });
});

describe("a rollout that cannot work", () => {
  test("because its process cannot be started goes back, and what comes next is judged by its own replicas", async () => {
    const spec = { replicas: 1, rollout: { ...rollout, strategy: "recreate" } };
    await running("1", spec);
    it.runtime.fail("start", new Failure("conflict", "no such program", { reason: "StartFailed", lasting: true }), 2);
    await it.apply(app("2", spec));
    await it.settle();
    expect(outline()).toEqual(["auto_rollback succeeded", "apply failed", "apply succeeded"]);
    expect([versions(), (await status()).phase]).toEqual(["1", "ready"]);
  });

  test("because the new replicas crash is rolled back, with the reason", async () => {
    await running();
    await it.apply(app("2"));
    await crashing("2", loop);
    await it.settle();
    expect(outline()).toEqual(["auto_rollback succeeded", "apply failed", "apply succeeded"]);
    expect(releases()[1]?.error).toMatch(
      /^CrashLoop: shop-web\.\w{5} crash-loops: restarted \d+ times, last exit code 3, in \d+ s; rule: /,
    );
    expect(releases()[1]?.reasons).toEqual(["CrashLoop"]);
    expect([versions(), storedEnv()]).toEqual(["111", { V: "1" }]);
    expect(it.events("release.failed")).toMatchObject([
      { actor: "reconciler", detail: { release: releases()[1]?.id } },
    ]);
    expect(await status()).toMatchObject({ phase: "ready", ready_replicas: 3 });
  });

  test("never stops an old replica meanwhile", async () => {
    await running();
    const before = all().map(({ id }) => id);
    await it.apply(app("2"));
    await crashing("2", loop);
    await it.settle();
    expect(all().map(({ id }) => id)).toEqual(before);
  });

  test("because it runs out of memory is rolled back at once", async () => {
    await running("1", { restart: "no" });
    await it.apply(app("2", { restart: "no" }));
    await it.advance(1_000);
    const [fresh] = all().filter(({ env }) => env.V === "2");
    it.runtime.crash(fresh?.name ?? "", 137, { oomKilled: true });
    await it.quiet();
    expect(outline()).toEqual(["auto_rollback succeeded", "apply failed", "apply succeeded"]);
    expect(releases()[1]?.error).toBe(`OutOfMemory: ${fresh?.name} ran out of memory`);
  });

  test("because it never gets ready is rolled back at its deadline", async () => {
    await running();
    await it.apply(app("2", { rollout: { ...rollout, min_ready: "1h" } }));
    await it.advance(59_000);
    expect(outline()[0]).toBe("apply running");
    await it.advance(2_000);
    expect(outline()).toEqual(["auto_rollback succeeded", "apply failed", "apply succeeded"]);
    expect(releases()[1]?.error).toStartWith("ProgressDeadline: not ready within the progress deadline of 60 s: ");
  });

  test("because its image is nowhere is rolled back at its deadline, with that as the reason", async () => {
    await running();
    await it.apply(app("2", { image: "nowhere:1" }));
    await it.advance(62_000);
    expect(outline()[1]).toBe("apply failed");
    expect(releases()[1]?.error).toContain("nowhere:1");
    await it.settle();
    expect(versions()).toBe("111");
  });

  test("keeps settings that were accepted before it, and says what it takes back", async () => {
    await running();
    const settings = { rollout: { ...rollout, strategy: "rolling", drain: "7s" }, replicas: 2 };
    await it.apply(app("1", settings));
    await it.settle();
    await it.apply(app("2", { ...settings, env: { V: "2", MORE: "x" } }));
    await crashing("2", loop);
    await it.settle();
    expect(it.store.manifests.get(key)?.spec).toMatchObject({ ...settings, env: { V: "1" } });
    expect(releases()[0]).toMatchObject({ cause: "auto_rollback", takenBack: ["env.MORE", "env.V"] });
    expect(it.events("release.rollback")[0]?.detail).toMatchObject({ taken_back: ["env.MORE", "env.V"] });
    expect(versions()).toBe("11");
  });

  test("with more replicas than the host port of the last good release allows goes back to one", async () => {
    await it.apply(app("1", { replicas: 1, ports: ["18080:80"] }));
    await it.settle();
    await it.apply(app("2", { replicas: 3 }));
    await crashing("2", loop);
    await it.settle();
    expect([versions(), it.store.manifests.get(key)?.spec.replicas]).toEqual(["1", 1]);
    expect(releases()[0]?.takenBack).toEqual(["env.V", "ports", "replicas"]);
  });

  test("was rolled back is not tried again by new config, which says so", async () => {
    await running();
    await it.apply(app("2"));
    await crashing("2", loop);
    await it.settle();
    const failed = releases()[1]?.id;
    const options = { restart: true, actor: "ana" };
    const { notes } = await it.controller.setConfig({ scope: "shop", name: "web" }, { A: "1" }, options);
    const words = `deployment/shop/web: release ${failed} failed and was rolled back; what came back is restarted`;
    expect(notes).toEqual([expect.stringContaining(words)]);
    await it.settle();
    expect(versions()).toBe("111");
  });

  test("stays where it is with auto_rollback off, the old replicas serving", async () => {
    await running();
    await it.apply(app("2", { rollout: { ...rollout, auto_rollback: false } }));
    await crashing("2", loop);
    await it.advance(60_000);
    expect([versions(), storedEnv()]).toEqual(["111", { V: "2" }]);
    expect(outline()).toEqual(["apply failed", "apply succeeded"]);
    expect(await status()).toMatchObject({ phase: "failed", conditions: [{}, { reason: "ReleaseFailed" }, {}] });
  });

  test("is tried again by the same apply", async () => {
    await running();
    const bad = app("2", { rollout: { ...rollout, auto_rollback: false } });
    await it.apply(bad);
    await crashing("2", loop);
    await it.settle().catch(() => undefined);
    await it.apply(bad);
    await it.settle();
    expect([versions(), outline()[0]]).toEqual(["222", "apply succeeded"]);
  });

  test("is tried again by an apply that changes what no container is made from", async () => {
    await running();
    const setup = { ...rollout, auto_rollback: false };
    await it.apply(app("2", { rollout: setup }));
    await crashing("2", loop);
    await it.settle().catch(() => undefined);
    await it.apply(app("2", { rollout: { ...setup, min_ready: "6s" } }));
    await it.settle();
    expect([versions(), outline()[0]]).toEqual(["222", "apply succeeded"]);
  });

  test("the first of all is tried on, and good when it is ready at last", async () => {
    await it.apply(app("1", { image: "late:1" }));
    await it.advance(120_000);
    expect(outline()).toEqual(["apply failed"]);
    expect(await status()).toMatchObject({ phase: "failed" });
    it.runtime.addImage("late:1");
    await it.settle();
    expect(releases()).toMatchObject([{ status: "succeeded", good: true, error: undefined }]);
  });

  test("keeps the capsule of what crashed after it is gone", async () => {
    await running();
    await it.apply(app("2"));
    await it.advance(1_000);
    const [fresh] = all().filter(({ env }) => env.V === "2");
    it.runtime.writeLog(fresh?.name ?? "", "cannot bind\n");
    await crashing("2", loop);
    await it.settle();
    const deaths = it.store.deaths.list(key);
    expect(deaths.some(({ logs, exitCode }) => exitCode === 3 && logs.includes("cannot bind"))).toBe(true);
  });

  test("rolled back to what fails too stops there, and says so", async () => {
    await running();
    await it.apply(app("2"));
    await it.advance(1_000);
    it.runtime.fail("create", new Failure("conflict", "disk broken", { reason: "Other" }));
    for (const { name } of all()) it.runtime.removeByHand(name);
    await it.advance(300_000);
    expect(outline()).toEqual(["auto_rollback failed", "apply failed", "apply succeeded"]);
    it.runtime.fail("create", undefined);
    await it.advance(120_000);
    expect(versions()).toBe("111");
  });
});

describe("changes during a rollout", () => {
  test("merge into one: the last write is what runs, and the one before is over", async () => {
    await running();
    await it.apply(app("2"));
    await it.advance(1_000);
    await it.apply(app("3"));
    await it.settle();
    expect([versions(), outline()]).toEqual(["333", ["apply succeeded", "apply failed", "apply succeeded"]]);
    expect(releases()[1]?.error).toBe(`superseded by release ${releases()[0]?.id}`);
    expect(releases()[1]?.reasons).toEqual(["Superseded"]);
    expect(it.events("release.failed")).toEqual([]);
  });

  test("back to what runs needs no replacing at all", async () => {
    await running();
    const before = all().map(({ id }) => id);
    await it.apply(app("2"));
    await it.advance(1_000);
    await it.apply(app("1"));
    await it.settle();
    expect(all().map(({ id }) => id)).toEqual(before);
  });

  test("a config change rolls the rest together with it", async () => {
    await running();
    await it.apply(app("2"));
    await it.advance(6_000);
    await it.controller.setConfig({ scope: "shop", name: "web" }, { A: "1" }, { restart: true, actor: "ana" });
    await it.settle();
    expect(versions()).toBe("222");
    expect(all().map(({ env }) => env.A)).toEqual(["1", "1", "1"]);
    expect(outline()[0]).toBe("apply succeeded");
  });

  test("a count takes part at once", async () => {
    await running();
    await it.apply(app("2"));
    await it.advance(1_000);
    await it.apply(app("2", { replicas: 5 }));
    await it.settle();
    expect([versions(), releases().length]).toEqual(["22222", 2]);
  });

  test("a rollback supersedes it", async () => {
    await running();
    await it.apply(app("2"));
    await it.advance(6_000);
    await it.controller.rollback({ scope: "shop", name: "web", releaseId: undefined }, { actor: "ana" });
    await it.settle();
    expect([versions(), outline()]).toEqual(["111", ["rollback succeeded", "apply failed", "apply succeeded"]]);
  });

  test("a dry run of a rollback says where it goes and what changes back, and changes nothing", async () => {
    await running("1", { env: { MODE: "slow" } });
    const [first] = releases();
    await it.apply(app("2"));
    await it.settle();
    const stored = it.store.manifests.get(key);
    const dry = await it.controller.rollback({ ...key, releaseId: undefined }, { actor: "ana", dryRun: true });
    await it.settle();
    expect(dry).toEqual({ ...key, rolled_back_to: first?.id ?? "", taken_back: expect.any(Array) });
    expect([releases().length, versions(), it.store.manifests.get(key)]).toEqual([2, "222", stored]);
    const real = await it.controller.rollback({ ...key, releaseId: undefined }, { actor: "ana" });
    expect(real).toEqual({ ...dry, new_release: releases()[0]?.id ?? "" });
  });

  test("a delete ends it", async () => {
    await running();
    await it.apply(app("2"));
    await it.advance(1_000);
    await it.controller.deleteManifest(key, { prune: false, actor: "ana" });
    await it.advance(60_000);
    expect(it.containers()).toEqual([]);
  });
});

describe("a config change or restart that does not come up", () => {
  const set = (value: string) =>
    it.controller.setConfig({ scope: "shop", name: "web" }, { A: value }, { restart: true, actor: "ana" });
  /** Replicas with that config value crash. */
  async function crash(value: string, times = loop): Promise<void> {
    for (let time = 0; time < times; time++) {
      await it.advance(1_000);
      for (const { name, env, state } of all()) if (env.A === value && state === "running") it.runtime.crash(name, 3);
      await it.quiet();
    }
  }

  test("halts with the old replicas and the reason, and makes no release", async () => {
    await running();
    await set("bad");
    await crash("bad");
    await it.advance(10_000);
    expect(all().map(({ env }) => env.A)).toEqual([undefined, undefined, undefined] as never);
    expect(outline()).toEqual(["apply succeeded"]);
    expect(await status()).toMatchObject({ phase: "failed" });
    expect((await status()).last_reconcile_error).toContain("CrashLoop");
    expect(it.events("rollout.halted")).toHaveLength(1);
    await it.advance(600_000);
    expect(it.events("rollout.halted")).toHaveLength(1);
  });

  test("is tried again at the next config change", async () => {
    await running();
    await set("bad");
    await crash("bad");
    await set("good");
    await it.settle();
    expect(all().map(({ env }) => env.A)).toEqual(["good", "good", "good"]);
  });

  test("stays halted over a restart of the server, and heals with the config of today", async () => {
    await running();
    await set("bad");
    await crash("bad");
    await it.crash();
    await it.advance(300_000);
    expect(all()).toHaveLength(3);
    expect(await status()).toMatchObject({ phase: "failed" });
    expect(it.events("rollout.halted")).toHaveLength(1);
  });

  test("a new spec is rolled out all the same", async () => {
    await running();
    await set("bad");
    await crash("bad");
    await it.apply(app("2"));
    await it.settle();
    expect(versions()).toBe("222");
  });
});

describe("a rollout of a statefulset", () => {
  test("replaces from the top, one at a time, each when the one before is ready", async () => {
    await it.apply(db("1"));
    await it.settle();
    await it.apply(db("2"));
    const seen: string[] = [];
    for (let second = 0; second < 30; second++) {
      const now = all("shop-db.")
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ env }) => env.V)
        .join("");
      if (now !== seen.at(-1)) seen.push(now);
      await it.advance(1_000);
    }
    expect(seen).toEqual(["111", "112", "122", "222"]);
    expect(outline(dbKey)[0]).toBe("apply succeeded");
  });

  test("with one ordinal broken touches no other, and is rolled back", async () => {
    await it.apply(db("1"));
    await it.settle();
    const lower = all("shop-db.").filter(({ name }) => name !== "shop-db.2");
    await it.apply(db("2"));
    await crashing("2", loop, "shop-db.");
    await it.settle();
    expect(outline(dbKey)).toEqual(["auto_rollback succeeded", "apply failed", "apply succeeded"]);
    expect(versions("shop-db.")).toBe("111");
    const ids = all("shop-db.").map(({ id }) => id);
    expect(lower.every(({ id }) => ids.includes(id))).toBe(true);
  });

  test("with one ordinal broken is mended by the next spec", async () => {
    await it.apply(db("1"));
    await it.settle();
    await it.apply(db("2"));
    await crashing("2", 2, "shop-db.");
    await it.apply(db("3"));
    await it.settle();
    expect(versions("shop-db.")).toBe("333");
  });
});

describe("a replica on its way out", () => {
  const serving = (name: string, established: number) =>
    it.runtime.setConnections(name, { listening: true, established });

  test("is not ready from then on, and stopped when the last connection has ended", async () => {
    await running("1", { replicas: 1 });
    const [old] = all();
    const name = old?.name ?? "";
    serving(name, 2);
    await it.apply(app("2", { replicas: 1 }));
    await it.advance(5_100);
    expect(it.controller.podReady(name)).toMatchObject({ ready: false, reason: "being taken out of service" });
    await it.advance(10_000);
    expect(versions()).toBe("12");
    serving(name, 0);
    await it.advance(1_000);
    expect(versions()).toBe("12");
    await it.advance(500);
    expect(versions()).toBe("2");
  });

  test("is stopped after its time at the latest", async () => {
    await running("1", { replicas: 1 });
    serving(all()[0]?.name ?? "", 2);
    await it.apply(app("2", { replicas: 1, rollout: { ...rollout, drain: "8s" } }));
    await it.advance(5_100 + 7_500);
    expect(versions()).toBe("12");
    await it.advance(1_000);
    expect(versions()).toBe("2");
  });

  test("of a statefulset is not waited for, unless its manifest says so", async () => {
    const serve = () => {
      for (const { name } of all("shop-db.")) serving(name, 2);
    };
    await it.apply(db("1", { replicas: 1 }));
    await it.settle();
    serve();
    await it.apply(db("2", { replicas: 1 }));
    await it.advance(100);
    expect(versions("shop-db.")).toBe("2");
    await it.settle();
    serve();
    await it.apply(db("3", { replicas: 1, rollout: { ...rollout, drain: "8s" } }));
    await it.advance(7_000);
    expect(versions("shop-db.")).toBe("2");
    await it.advance(2_000);
    expect(versions("shop-db.")).toBe("3");
  });

  test("is in service again when it could not be stopped and is wanted after all", async () => {
    await running("1", { replicas: 2 });
    await it.apply(app("1", { replicas: 1 }));
    it.runtime.fail("stop", new Failure("conflict", "no", { reason: "Other" }));
    it.runtime.fail("remove", new Failure("conflict", "no", { reason: "Other" }));
    await it.advance(1_000);
    await it.apply(app("1", { replicas: 2 }));
    it.runtime.fail("stop", undefined);
    it.runtime.fail("remove", undefined);
    await it.settle();
    expect(all().map(({ name }) => it.controller.podReady(name).ready)).toEqual([true, true]);
  });

  test("stays when the server stops meanwhile, and goes with the next one", async () => {
    await running("1", { replicas: 1 });
    serving(all()[0]?.name ?? "", 2);
    await it.apply(app("2", { replicas: 1 }));
    await it.advance(8_000);
    const before = it.clock.now();
    await it.stop();
    expect(it.clock.now() - before).toBeLessThan(2_000);
    expect(versions()).toBe("12");
    await it.restart();
    await it.settle();
    expect(versions()).toBe("2");
  });
});

describe("a server that is killed in the middle", () => {
  test.each([0, 1, 5, 6, 7, 11, 16])("after %d s takes the rollout up and ends it", async (seconds) => {
    await running();
    await it.apply(app("2"));
    await it.advance(seconds * 1_000);
    await it.crash();
    expect(versions().length).toBeGreaterThanOrEqual(3);
    await it.settle();
    expect([versions(), outline()]).toEqual(["222", ["apply succeeded", "apply succeeded"]]);
  });

  test("fails a bad release all the same", async () => {
    await running();
    await it.apply(app("2"));
    await crashing("2", 1);
    await it.crash();
    await crashing("2", loop);
    await it.settle();
    expect([versions(), outline()[1]]).toEqual(["111", "apply failed"]);
  });
});
