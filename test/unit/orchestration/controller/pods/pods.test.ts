import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { MASK } from "../../../../../src/orchestration/core/mask.ts";
import { containerSpec } from "../../../../support/container-spec.ts";
import { testEpoch } from "../../../../support/fake-clock.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment, fixtureImage, job, statefulset } from "../../../../support/manifests.ts";
import { changesIn } from "../../../../support/rows.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";
import { podRef } from "../../../../../src/orchestration/engine/identity.ts";

let it: World;
beforeEach(async () => {
  // Containers that others made are on the machine, but in nobody's listing.
  it = await world({
    wrapRuntime: (runtime) => ({
      ...runtime,
      observe: async (filter) => (await runtime.observe(filter)).filter(({ name }) => name !== "stranger"),
    }),
  });
  await it.apply([
    deployment("shop", "web", { replicas: 2, env: { OPEN: "yes" } }),
    statefulset("shop", "db", { replicas: 2 }),
    deployment("blog", "web"),
  ]);
  await it.settle();
});
afterEach(() => it.close());

const options = { actor: "ana" };
const list = (filter = {}) => it.controller.listPods(filter, { detail: false, spec: false });
const web = () => it.containers().filter((name) => name.startsWith("shop-web."));
const stateOf = (name: string) => it.runtime.containers().find((container) => container.name === name)?.state;
const stop = (name: string, freeze = true) => it.controller.stopPod(name, { freeze, ...options });
const start = (name: string) => it.controller.startPod(name, options);
const frozen = (kind = "statefulset", name = "db") => it.store.frozen.list(keyOf(kind, "shop", name));

async function stranger(): Promise<void> {
  await it.runtime.create(containerSpec({ name: "stranger", image: fixtureImage, labels: {}, networks: [] }));
}

describe("the list of pods", () => {
  test("is sorted by kind, scope, name and ordinal, each with its identity", async () => {
    const { pods, degraded } = await list();
    expect(pods.map(({ kind, scope, resource_name }) => `${kind}/${scope}/${resource_name}`)).toEqual([
      "deployment/blog/web",
      "deployment/shop/web",
      "deployment/shop/web",
      "statefulset/shop/db",
      "statefulset/shop/db",
    ]);
    expect(pods.at(-1)).toEqual({
      name: "shop-db.1",
      kind: "statefulset",
      scope: "shop",
      resource_name: "db",
      replica_id: "1",
      release_id: expect.any(String),
      image: fixtureImage,
      state: "running",
      status: "Up",
      running: true,
      ready: true,
      frozen: false,
      restarts: 0,
      created_at: new Date(testEpoch).toISOString(),
      started_at: new Date(testEpoch).toISOString(),
      node: "local",
    });
    expect(degraded).toEqual([]);
  });

  test("is filtered, the kind in any spelling; what is unknown is empty", async () => {
    expect((await list({ scope: "shop", name: "web" })).pods.map(({ name }) => name).sort()).toEqual(web());
    expect((await list({ kind: "statefulset" })).pods).toHaveLength(2);
    expect((await list({ kind: "Deployments", scope: "shop" })).pods).toHaveLength(2);
    expect((await list({ kind: "daemon" })).pods).toEqual([]);
    expect((await list({ scope: "nowhere" })).pods).toEqual([]);
  });

  test("takes manifests and details along when asked", async () => {
    const { pods } = await it.controller.listPods({ name: "db" }, { detail: true, spec: true });
    expect(pods[0]).toMatchObject({ name: "shop-db.0", restart_policy: "unless-stopped", spec: { name: "db" } });
    expect(pods[0]).toMatchObject({ state: { status: "running", running: true } });
  });

  test("names what is degraded, with the reason", async () => {
    await it.apply(deployment("shop", "broken", { image: "nowhere:1" }));
    await it.quiet();
    expect((await list()).degraded).toEqual([
      {
        kind: "deployment",
        scope: "shop",
        name: "broken",
        reason: expect.stringContaining('"nowhere:1"'),
        at: new Date(testEpoch).toISOString(),
      },
    ]);
    expect((await list({ name: "db" })).degraded).toEqual([]);
  });
});

describe("one pod in detail", () => {
  test("masks every value that neither manifest nor image say in clear", async () => {
    it.runtime.addImage("imaged:1", { env: { PATH: "/bin", LANG: "C" } });
    await it.controller.setConfig(
      { scope: "blog", name: "web" },
      { KEY: "s3cret", LANG: "de" },
      { restart: true, ...options },
    );
    await it.apply(deployment("blog", "web", { image: "imaged:1", env: { OPEN: "yes" } }));
    await it.settle();
    const [name = ""] = it.containers();
    const { pod } = await it.controller.getPod(name, { spec: false });
    expect(pod.env).toMatchObject({
      KEY: MASK,
      LANG: MASK,
      PATH: "/bin",
      OPEN: "yes",
      BERTH_SCOPE: "blog",
      BERTH_NAME: "web",
      BERTH_REPLICA_ID: pod.replica_id,
    });
  });

  test("has identity, labels, networks and what the engine knows", async () => {
    const { pod } = await it.controller.getPod("shop-db.0", { spec: true });
    expect(pod).toMatchObject({
      kind: "statefulset",
      scope: "shop",
      resource_name: "db",
      replica_id: "0",
      state: { status: "running", running: true, restarts: 0 },
      running: true,
      ready: true,
      spec: { kind: "statefulset", name: "db" },
    });
    expect(pod.networks.berth0?.aliases).toContain("db-0.shop");
    expect(pod.state).not.toHaveProperty("exit_code");
  });

  test("of an ended one tells its exit code", async () => {
    await stop("shop-db.0");
    await it.quiet();
    const { pod } = await it.controller.getPod("shop-db.0", { spec: false });
    expect(pod).toMatchObject({
      running: false,
      ready: false,
      frozen: true,
      state: { status: "exited", exit_code: 143 },
    });
  });

  test("of a container of somebody else shows no identity, and masks what we cannot know", async () => {
    await stranger();
    const { pod } = await it.controller.getPod("stranger", { spec: true });
    expect(pod).toMatchObject({ name: "stranger", kind: "", resource_name: "", frozen: false });
    expect(pod).not.toHaveProperty("spec");
  });

  test("is found by its id, too, with the same identity", async () => {
    const { pod } = await it.controller.getPod("shop-db.0", { spec: false });
    expect((await it.controller.getPod(pod.id, { spec: false })).pod).toEqual(pod);
    it.runtime.dropLog(pod.id);
    expect((await it.controller.getPod(pod.id, { spec: false })).pod).toEqual({ ...pod, log_dropped: true });
  });

  test.each(["../etc", "a/b", "", ".hidden", "a b", "a".repeat(256)])("of %p is refused", async (name) => {
    await expectFailure(it.controller.getPod(name, { spec: false }), "invalid");
    await expectFailure(stop(name), "invalid");
    await expectFailure(start(name), "invalid");
  });

  test("that is not there is not found", async () => {
    for (const call of [it.controller.getPod("nobody", { spec: false }), stop("nobody"), start("nobody")]) {
      expect((await expectFailure(call, "not_found")).message).toBe('no container "nobody"');
    }
  });
});

describe("readiness", () => {
  test("is running, and comes from memory alone", async () => {
    it.runtime.calls.length = 0;
    expect(it.controller.podReady("shop-db.0")).toMatchObject({
      container_name: "shop-db.0",
      replica_id: "0",
      ready: true,
      startup_passed: true,
    });
    expect(it.runtime.calls).toEqual([]);
  });

  test("is gone the moment the engine says so, and says why", async () => {
    await stop("shop-db.0");
    await it.quiet();
    const readiness = it.controller.podReady("shop-db.0");
    expect(readiness).toMatchObject({ ready: false, reason: "the container is exited" });
    expect(readiness.last_transition).toBe(new Date(it.clock.now()).toISOString());
  });

  test("of an unknown pod is not found", async () => {
    expect((await expectFailure((async () => it.controller.podReady("nobody"))(), "not_found")).message).toBe(
      'no pod "nobody"',
    );
  });

  test("is known again right after a restart of the server", async () => {
    await it.restart();
    expect(it.controller.podReady("shop-db.1").ready).toBe(true);
  });
});

describe("a stop with freeze", () => {
  test("stays through reconciles, restarts of the server and of the engine", async () => {
    const [name = ""] = web();
    expect(await stop(name)).toEqual({ name, freeze: true });
    await it.advance(10 * 60_000);
    await it.restart();
    await it.advance(10 * 60_000);
    it.runtime.engineDown();
    await it.advance(60_000);
    it.runtime.engineUp();
    await it.advance(10 * 60_000);
    await it.apply(deployment("shop", "web", { replicas: 2, env: { OPEN: "no" } }));
    await it.settle();
    expect(stateOf(name)).toBe("exited");
    expect(web()).toHaveLength(2);
    expect((await it.status("deployment", "shop", "web")).frozen_replicas).toBe(1);
    expect(it.events("pod.stop")).toMatchObject([{ actor: "ana", name: "web", detail: { freeze: true } }]);
  });

  test("is told by describe, list and why, with a container or without", async () => {
    const [name = ""] = web();
    await stop(name);
    const id = name.split(".")[1] ?? "";
    await it.runtime.remove(podRef(name));
    await it.settle();
    const { status, pods } = await it.describe("deployment", "shop", "web");
    expect([status?.frozen_ids, pods.length]).toEqual([[id], 1]);
    const told = await it.controller.why({ kind: "deployment", scope: "shop", name: "web" });
    expect(told.frozen_ids).toEqual([id]);
  });

  test("of an ordinal leaves the others in service", async () => {
    await stop("shop-db.0");
    await it.settle();
    expect([stateOf("shop-db.0"), stateOf("shop-db.1")]).toEqual(["exited", "running"]);
    await it.apply(statefulset("shop", "db", { replicas: 3 }));
    await it.settle();
    expect(stateOf("shop-db.2")).toBe("running");
    expect(frozen()).toEqual(["0"]);
  });

  test("twice is once", async () => {
    await stop("shop-db.0");
    await stop("shop-db.0");
    expect(frozen()).toEqual(["0"]);
  });

  test("is for pods of ours only", async () => {
    await stranger();
    expect((await expectFailure(stop("stranger"), "invalid")).message).toContain("use freeze=false");
    await it.runtime.ensureNetwork("bridge");
    await it.runtime.start(podRef("stranger"));
    expect(await stop("stranger", false)).toEqual({ name: "stranger", freeze: false });
    expect(stateOf("stranger")).toBe("exited");
  });

  test("of a pod whose manifest is gone is refused: the mark would greet the next one of that name", async () => {
    it.runtime.delay("stop", 60_000);
    await it.controller.deleteManifest(
      { kind: "statefulset", scope: "shop", name: "db" },
      { prune: false, ...options },
    );
    await it.quiet();
    await expectFailure(stop("shop-db.1"), "gone");
    expect(frozen()).toEqual([]);
  });

  test("by id freezes the same pod", async () => {
    const { pod } = await it.controller.getPod("shop-db.1", { spec: false });
    await stop(pod.id);
    expect(frozen()).toEqual(["1"]);
  });

  test("holds also where the pod was just being healed", async () => {
    it.runtime.kill("shop-db.0");
    it.runtime.delay("start", 1_000);
    await it.quiet();
    await stop("shop-db.0");
    await it.advance(5_000);
    expect([frozen(), stateOf("shop-db.0")]).toEqual([["0"], "exited"]);
  });

  test("that fails leaves the pod in service, where changes reach it", async () => {
    it.runtime.fail("stop", new Failure("timeout", "the engine took too long"), 1);
    await expectFailure(stop("shop-db.0"), "timeout");
    expect([frozen(), stateOf("shop-db.0")]).toEqual([[], "running"]);
    await stop("shop-db.0");
    it.runtime.fail("stop", new Failure("timeout", "the engine took too long"), 1);
    await expectFailure(stop("shop-db.0"), "timeout");
    expect(frozen()).toEqual(["0"]);
  });

  test("takes the pod out of service for as long as it takes to stop, and no longer", async () => {
    const ready = () => it.controller.podReady("shop-db.0");
    expect(await ready()).toMatchObject({ ready: true });
    it.runtime.delay("stop", 5_000);
    it.runtime.fail("stop", new Failure("timeout", "the engine took too long"), 1);
    const stopping = expectFailure(stop("shop-db.0", false), "timeout");
    await it.advance(1_000);
    expect(await ready()).toMatchObject({ ready: false, reason: "being taken out of service" });
    await it.advance(5_000);
    await stopping;
    expect(await ready()).toMatchObject({ ready: true });
  });

  test("is marked before anything stops, so that a crash in between heals nothing it should not", async () => {
    it.runtime.delay("stop", 5_000);
    const stopping = stop("shop-db.0");
    await it.quiet();
    expect(frozen()).toEqual(["0"]);
    await it.advance(5_000);
    await stopping;
    await it.settle();
    expect(stateOf("shop-db.0")).toBe("exited");
  });
});

describe("a stop without freeze", () => {
  test("is healed after a moment, not at once", async () => {
    const [name = ""] = web();
    expect(await stop(name, false)).toEqual({ name, freeze: false });
    await it.advance(4_000);
    expect(stateOf(name)).toBe("exited");
    await it.settle();
    expect(stateOf(name)).toBe("running");
    expect(frozen("deployment", "web")).toEqual([]);
  });
});

describe("a start", () => {
  test("makes a frozen pod anew and clears the mark", async () => {
    const before = (await it.controller.getPod("shop-db.0", { spec: false })).pod.id;
    await stop("shop-db.0");
    await it.settle();
    expect(await start("shop-db.0")).toEqual({ name: "shop-db.0", recreated: true, unfroze: true });
    await it.settle();
    expect(frozen()).toEqual([]);
    expect((await it.controller.getPod("shop-db.0", { spec: false })).pod).toMatchObject({ running: true });
    expect((await it.controller.getPod("shop-db.0", { spec: false })).pod.id).not.toBe(before);
    expect(it.events("pod.start")).toMatchObject([{ actor: "ana", detail: { replica_id: "0", unfroze: true } }]);
  });

  test("of a frozen replica of a deployment brings the count back", async () => {
    const [name = ""] = web();
    await stop(name);
    await it.settle();
    await start(name);
    await it.settle();
    expect(web()).toHaveLength(2);
    expect(web()).not.toContain(name);
    expect(web().map(stateOf)).toEqual(["running", "running"]);
  });

  test("of a running pod replaces it, with fresh config", async () => {
    await it.controller.setConfig({ scope: "shop", name: "db" }, { A: "1" }, { restart: false, ...options });
    expect(await start("shop-db.0")).toEqual({ name: "shop-db.0", recreated: true, unfroze: false });
    await it.settle();
    expect(it.runtime.containers().find(({ name }) => name === "shop-db.0")?.env.A).toBe("1");
  });

  test("by id clears the mark as well", async () => {
    const { pod } = await it.controller.getPod("shop-db.1", { spec: false });
    await stop("shop-db.1");
    expect(await start(pod.id)).toMatchObject({ recreated: true, unfroze: true });
    expect(frozen()).toEqual([]);
  });

  test("of a frozen pod whose container was removed by hand brings it back", async () => {
    const [name = ""] = web();
    for (const frozenName of ["shop-db.1", name]) {
      await stop(frozenName);
      it.runtime.removeByHand(frozenName);
      await it.settle();
      expect(stateOf(frozenName)).toBeUndefined();
      expect(await start(frozenName)).toEqual({ name: frozenName, recreated: true, unfroze: true });
    }
    await it.settle();
    expect([stateOf("shop-db.1"), web().length]).toEqual(["running", 2]);
  });

  test("of a lost ordinal makes it at once, although the others are not ready and wait for it", async () => {
    await it.apply(statefulset("shop", "db", { replicas: 2, probes: { readiness: { exec: { command: ["ask"] } } } }));
    await it.settle();
    await stop("shop-db.1");
    it.runtime.removeByHand("shop-db.1");
    it.runtime.onExec(() => () => 1);
    await it.advance(60_000);
    expect(it.controller.podReady("shop-db.0").ready).toBe(false);
    expect(await start("shop-db.1")).toEqual({ name: "shop-db.1", recreated: true, unfroze: true });
    await it.quiet();
    expect(stateOf("shop-db.1")).toBe("running");
  });

  test("of an ordinal that has to wait for those below it says that it is not made yet", async () => {
    it.runtime.onExec(() => () => 1);
    const probes = { readiness: { exec: { command: ["ask"] } } };
    await it.apply(statefulset("shop", "new", { replicas: 2, probes }));
    await it.store.write((tx) => tx.frozen.add(keyOf("statefulset", "shop", "new"), "1", 1));
    await it.advance(10_000);
    expect(await start("shop-new.1")).toEqual({ name: "shop-new.1", recreated: false, unfroze: true });
    await it.advance(10_000);
    expect(stateOf("shop-new.1")).toBeUndefined();
  });

  test("of a container of somebody else just starts it", async () => {
    await stranger();
    expect(await start("stranger")).toEqual({ name: "stranger", recreated: false, unfroze: false });
    expect(stateOf("stranger")).toBe("running");
  });

  test("is not found when the manifest is gone, before its container goes and after, and removes nothing", async () => {
    it.runtime.delay("stop", 60_000);
    await it.controller.deleteManifest(
      { kind: "deployment", scope: "blog", name: "web" },
      { prune: false, ...options },
    );
    await it.quiet();
    const [name = ""] = it.containers();
    it.runtime.calls.length = 0;
    const error = await expectFailure(start(name), "not_found");
    expect(error.message).toContain("deployment/blog/web is not stored any more");
    expect(changesIn(it)).toEqual([]);
    expect(it.containers()).toContain(name);
    await it.settle();
    expect(it.containers()).not.toContain(name);
    await expectFailure(start(name), "not_found");
  });
});

describe("a pod of a run", () => {
  test("is neither stopped nor started by hand, while it runs and after", async () => {
    await it.apply(job("shop", "report", {}));
    await it.quiet();
    const run = await it.controller.runJob({ kind: "job", scope: "shop", name: "report" }, { wait: false, ...options });
    await it.quiet();
    const [name = ""] = it.containers().filter((container) => container.startsWith("shop-report"));
    it.runtime.calls.length = 0;
    for (const call of [() => start(name), () => stop(name), () => stop(name, false)]) {
      const error = await expectFailure(call(), "conflict");
      expect(error.message).toContain(`berth cron cancel ${run.run_id}`);
      expect(error.message).toContain("berth run shop/report");
    }
    expect(changesIn(it)).toEqual([]);
    expect(stateOf(name)).toBe("running");
    expect(frozen("job", "report")).toEqual([]);
    it.runtime.finish(name, 0);
    for (const call of [() => start(name), () => stop(name)]) await expectFailure(call(), "conflict");
    expect(it.events("pod.start")).toEqual([]);
  });

  test("the same goes for init containers", async () => {
    const inits = [{ name: "prepare", image: fixtureImage, command: ["sleep", "60"] }];
    await it.apply(deployment("shop", "slow", { inits }));
    await it.quiet();
    const [name = ""] = it
      .containers()
      .filter((container) => container.includes("slow") && container.includes("prepare"));
    expect(stateOf(name)).toBe("running");
    for (const call of [() => start(name), () => stop(name)]) {
      const error = await expectFailure(call(), "conflict");
      expect(error.message).toContain("berth restart shop/slow");
    }
    expect(stateOf(name)).toBe("running");
  });
});

test("with the engine down every question to it is refused at once, readiness is not", async () => {
  it.runtime.engineDown();
  await it.quiet();
  for (const call of [
    list(),
    it.controller.getPod("shop-db.0", { spec: false }),
    stop("shop-db.0"),
    start("shop-db.0"),
  ]) {
    const error = await expectFailure(call, "unavailable", "EngineUnavailable");
    expect(error.retryAfterSeconds).toBeGreaterThan(0);
  }
  expect(frozen()).toEqual([]);
  expect(it.controller.podReady("shop-db.0").ready).toBe(true);
});

test("a replica that is being stopped is listed as stopping", async () => {
  const told: unknown[] = [];
  const other = await world({
    wrapRuntime: (runtime) => ({
      ...runtime,
      async stop(id, options) {
        const { pods } = await other.describe("deployment", "shop", "web");
        told.push(...pods.map(({ state, stopping }) => [state, stopping]));
        return runtime.stop(id, options);
      },
    }),
  });
  await other.apply(deployment("shop", "web"));
  await other.settle();
  const [pod] = (await other.describe("deployment", "shop", "web")).pods;
  await other.controller.stopPod(pod?.name ?? "", { freeze: true, actor: "ana" });
  other.close();
  expect([pod?.stopping, told]).toEqual([undefined, [["running", true]]]);
});
