import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import type { InspectedPod } from "../../../../../src/orchestration/engine/pod.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const of = (app: string): InspectedPod[] =>
  it.runtime
    .containers()
    .filter(({ name }) => name.startsWith(`${app}.`))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
const ids = (app: string) => of(app).map(({ id }) => id);
const names = (app: string) =>
  of(app)
    .map(({ name }) => name)
    .sort();
const running = (app: string) => of(app).filter(({ state }) => state === "running").length;
const callsOf = (...operations: string[]) =>
  it.runtime.calls.filter((call) => operations.includes(call.split(" ", 1)[0] ?? ""));
async function put(...manifests: Parameters<World["apply"]>[0][]): Promise<void> {
  await it.apply(manifests.flat());
  await it.settle();
}

describe("the count of a deployment", () => {
  test("goes up and down, and those that stay are not touched", async () => {
    await put(deployment("shop", "web", { replicas: 2 }));
    const before = ids("shop-web");
    await it.advance(1_000);
    await put(deployment("shop", "web", { replicas: 4 }));
    expect(running("shop-web")).toBe(4);
    expect(ids("shop-web")).toEqual(expect.arrayContaining(before));
    await put(deployment("shop", "web", { replicas: 1 }));
    expect(running("shop-web")).toBe(1);
    expect(before).toEqual(expect.arrayContaining(ids("shop-web")));
    await put(deployment("shop", "web", { replicas: 0 }));
    expect(ids("shop-web")).toEqual([]);
  });

  test("gives every replica an id of its own", async () => {
    await put(deployment("shop", "web", { replicas: 20 }));
    expect(new Set(names("shop-web")).size).toBe(20);
    for (const name of names("shop-web")) expect(name).toMatch(/^shop-web\.[0-9a-z]{5}$/);
  });
});

describe("the ordinals of a statefulset", () => {
  test("come up one after the other, and go from the top", async () => {
    await put(statefulset("shop", "db", { replicas: 3, rollout: { min_ready: "5s" } }));
    expect(callsOf("create")).toEqual(["create shop-db.0", "create shop-db.1", "create shop-db.2"]);
    expect(it.events("replica.create").map(({ at }) => at - it.clock.now())).toEqual([-15_000, -10_000, -5_000]);
    await put(statefulset("shop", "db", { replicas: 1, rollout: { min_ready: "5s" } }));
    expect(names("shop-db")).toEqual(["shop-db.0"]);
    expect(it.events("replica.remove").map(({ detail }) => detail?.replica_id)).toEqual(["2", "1"]);
  });

  test("get claim volumes once, and find them again", async () => {
    const claims = { volume_claims: [{ name: "data", mount_path: "/data" }] };
    await put(statefulset("shop", "db", { replicas: 2, ...claims }));
    await put(statefulset("shop", "db", { replicas: 1, ...claims }));
    await put(statefulset("shop", "db", { replicas: 2, env: { A: "1" }, ...claims }));
    expect((await it.runtime.listVolumes({})).map(({ name }) => name)).toEqual([
      "berth-shop-db-data-0",
      "berth-shop-db-data-1",
    ]);
    expect(of("shop-db").map(({ mounts }) => mounts[0])).toMatchObject([
      { source: "berth-shop-db-data-0", destination: "/data", rw: true },
      { source: "berth-shop-db-data-1", destination: "/data", rw: true },
    ]);
    expect(of("shop-db")[0]?.env).toMatchObject({ BERTH_REPLICA_ORDINAL: "0" });
  });
});

describe("a change of the spec", () => {
  test("replaces every replica of a deployment, new before old", async () => {
    await put(deployment("shop", "web", { replicas: 3 }));
    const before = ids("shop-web");
    await it.apply(deployment("shop", "web", { replicas: 3, env: { A: "1" }, rollout: { min_ready: "5s" } }));
    for (let seconds = 0; seconds < 60; seconds++) {
      await it.advance(1_000);
      expect(running("shop-web")).toBeGreaterThanOrEqual(3);
      expect(running("shop-web")).toBeLessThanOrEqual(4);
    }
    expect(ids("shop-web").filter((id) => before.includes(id))).toEqual([]);
    expect(of("shop-web").map(({ env }) => env.A)).toEqual(["1", "1", "1"]);
  });

  test("stops the old first where both cannot be", async () => {
    await put(deployment("shop", "web", { ports: ["80:80"] }));
    it.runtime.calls.length = 0;
    await put(deployment("shop", "web", { ports: ["80:80"], env: { A: "1" } }));
    expect(callsOf("create", "remove", "stop").map((call) => call.split(" ")[0])).toEqual(["stop", "remove", "create"]);
    expect(it.events("replica.create")).toHaveLength(2);
  });

  test("that means the same replaces nobody", async () => {
    await put(deployment("shop", "web", { stop_signal: "SIGTERM", restart: "unless-stopped" }));
    const before = ids("shop-web");
    await put(deployment("shop", "web", { stop_signal: "SIGTERM", replicas: 1, network_mode: "bridge" }));
    expect(ids("shop-web")).toEqual(before);
  });

  test("under way is overtaken by the next one", async () => {
    await put(deployment("shop", "web", { replicas: 2 }));
    await it.apply(deployment("shop", "web", { replicas: 2, env: { A: "1" }, rollout: { min_ready: "30s" } }));
    await it.advance(5_000);
    await put(deployment("shop", "web", { replicas: 2, env: { A: "2" } }));
    expect(of("shop-web").map(({ env }) => env.A)).toEqual(["2", "2"]);
  });

  test("half done when the server went away is finished when it is back", async () => {
    await put(deployment("shop", "web", { replicas: 3 }));
    await it.apply(deployment("shop", "web", { replicas: 3, env: { A: "1" }, rollout: { min_ready: "10s" } }));
    await it.advance(12_000);
    const half = of("shop-web").filter(({ env }) => env.A === "1").length;
    expect([half > 0, half < 3]).toEqual([true, true]);
    await it.restart();
    await it.settle();
    expect(of("shop-web").map(({ env }) => env.A)).toEqual(["1", "1", "1"]);
  });

  test("that never gets ready stops at the first replica, keeps serving, and is failed at its deadline", async () => {
    await put(deployment("shop", "web", { replicas: 2 }));
    await it.advance(60_000);
    const rollout = { min_ready: "10s", progress_deadline: "1m", auto_rollback: false };
    it.runtime.fail("start", new Failure("conflict", "exec format error", { reason: "StartFailed" }));
    await it.apply(deployment("shop", "web", { replicas: 2, env: { A: "1" }, rollout }));
    await it.advance(5_000);
    expect(running("shop-web")).toBe(2);
    expect(await it.status("deployment", "shop", "web")).toMatchObject({
      phase: "failing",
      updated_replicas: 0,
      ready_replicas: 2,
      last_reconcile_error: "exec format error",
    });
    await it.advance(120_000);
    const status = await it.status("deployment", "shop", "web");
    expect(status.phase).toBe("failed");
    expect(status.conditions.find(({ type }) => type === "Progressing")).toMatchObject({ reason: "ReleaseFailed" });
    expect(status.last_reconcile_error).toContain("exec format error");
    expect(running("shop-web")).toBe(2);
    it.runtime.fail("start", undefined);
    await it.apply(deployment("shop", "web", { replicas: 2, env: { A: "1" }, rollout }));
    await it.settle();
    expect(of("shop-web").map(({ env }) => env.A)).toEqual(["1", "1"]);
  });
});

describe("what is done by hand", () => {
  beforeEach(() => put(deployment("shop", "web", { replicas: 2 }), statefulset("shop", "db", { replicas: 2 })));

  test("a killed container runs again, the same one", async () => {
    const before = ids("shop-db");
    it.runtime.kill("shop-db.0");
    await it.quiet();
    expect(ids("shop-db")).toEqual(before);
    expect(it.controller.podReady("shop-db.0").ready).toBe(true);
  });

  test("a stopped one, too", async () => {
    const [name = ""] = names("shop-web");
    it.runtime.stopByHand(name);
    await it.settle();
    expect(running("shop-web")).toBe(2);
  });

  test("a removed one is made anew", async () => {
    it.runtime.removeByHand("shop-db.1");
    const [name = ""] = names("shop-web");
    it.runtime.removeByHand(name);
    await it.settle();
    expect([running("shop-db"), running("shop-web")]).toEqual([2, 2]);
    expect(names("shop-db")).toEqual(["shop-db.0", "shop-db.1"]);
  });

  test("a renamed one gets its name back", async () => {
    const before = ids("shop-db");
    it.runtime.renameByHand("shop-db.0", "mine");
    await it.settle();
    expect(names("shop-db")).toEqual(["shop-db.0", "shop-db.1"]);
    expect(ids("shop-db")).toEqual(before);
  });

  test("two that swapped names get them back", async () => {
    it.runtime.renameByHand("shop-db.0", "x");
    it.runtime.renameByHand("shop-db.1", "shop-db.0");
    it.runtime.renameByHand("x", "shop-db.1");
    await it.settle();
    expect(
      of("shop-db")
        .map(({ name, env }) => [name, env.BERTH_REPLICA_ID])
        .sort(),
    ).toEqual([
      ["shop-db.0", "0"],
      ["shop-db.1", "1"],
    ]);
  });

  test("what happened while the server was away is mended when it is back", async () => {
    await it.stop();
    it.runtime.kill("shop-db.0");
    it.runtime.removeByHand("shop-db.1");
    const [name = ""] = names("shop-web");
    it.runtime.renameByHand(name, "mine");
    await it.restart();
    await it.settle();
    expect([running("shop-db"), names("shop-web").length]).toEqual([2, 2]);
  });

  test("what happened while the engine's events were lost is mended when they are back", async () => {
    it.runtime.engineDown();
    await it.quiet();
    it.runtime.kill("shop-db.0");
    it.runtime.removeByHand("shop-db.1");
    it.runtime.engineUp();
    await it.settle();
    expect([running("shop-db"), names("shop-db")]).toEqual([2, ["shop-db.0", "shop-db.1"]]);
  });

  test("killed again and again it waits longer each time", async () => {
    for (let kills = 0; kills < 6; kills++) {
      it.runtime.kill("shop-db.0");
      await it.advance(60_000);
      expect(running("shop-db")).toBe(2);
    }
    it.runtime.kill("shop-db.0");
    await it.quiet();
    it.runtime.kill("shop-db.0");
    await it.quiet();
    expect(running("shop-db")).toBe(1);
    const status = await it.status("statefulset", "shop", "db");
    expect(status.phase).toBe("progressing");
    expect(status.conditions.find(({ type }) => type === "Ready")?.message).toContain("starts again after a pause");
    await it.settle();
    expect(running("shop-db")).toBe(2);
  });
});

describe("a container that ends by itself", () => {
  test("again and again is a crash loop, until it holds", async () => {
    await put(deployment("shop", "web"));
    const [name = ""] = names("shop-web");
    for (let crashes = 0; crashes < 7; crashes++) {
      expect((await it.status("deployment", "shop", "web")).phase).not.toBe("failing");
      it.runtime.crash(name);
      await it.advance(10_000);
    }
    const status = await it.status("deployment", "shop", "web");
    expect(status.phase).toBe("failing");
    expect(status.conditions.find(({ type }) => type === "Degraded")).toMatchObject({
      status: true,
      reason: "CrashLoop",
      message: `${name} restarted 7 times, last exit code 1`,
    });
    await it.advance(60_000);
    expect((await it.status("deployment", "shop", "web")).phase).toBe("ready");
    expect(names("shop-web")).toEqual([name]);
  });

  test("for want of memory says so", async () => {
    await put(deployment("shop", "web", { restart: "no" }));
    const [name = ""] = names("shop-web");
    it.runtime.crash(name, 137, { oomKilled: true });
    await it.quiet();
    const status = await it.status("deployment", "shop", "web");
    expect(status.conditions.find(({ type }) => type === "Degraded")).toMatchObject({ reason: "OutOfMemory" });
    expect((await it.describe("deployment", "shop", "web")).pods[0]).toMatchObject({
      oom_killed: true,
      exit_code: 137,
    });
  });

  test("and whose policy wants it so stays ended", async () => {
    await put(deployment("shop", "web", { restart: "on-failure" }));
    const [name = ""] = names("shop-web");
    it.runtime.crash(name, 0);
    await it.advance(30 * 60_000);
    expect(of("shop-web")).toMatchObject([{ name, state: "exited" }]);
    const status = await it.status("deployment", "shop", "web");
    expect(status.conditions.find(({ type }) => type === "Ready")?.message).toContain('restart policy "on-failure"');
  });
});

describe("kinds whose containers are not kept running", () => {
  test("make none by being applied, and have a status", async () => {
    await it.apply([
      { kind: "job", scope: "shop", name: "tidy", spec: { image: "berth-fixture:1" } },
      { kind: "cronjob", scope: "shop", name: "nightly", spec: { schedule: "0 3 * * *", job: { image: "x:1" } } },
    ]);
    await it.settle();
    expect((await it.describe("job", "shop", "tidy")).status).toMatchObject({ phase: "ready", history: [] });
    expect((await it.describe("cronjob", "shop", "nightly")).status).toMatchObject({ schedule: "0 3 * * *" });
    expect(it.containers()).toEqual([]);
  });
});
