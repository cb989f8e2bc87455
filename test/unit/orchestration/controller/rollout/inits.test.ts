import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

type InitFailure = { replica_id: string; init_name: string; exit_code: number; error: string; attempts: number };

const chain = [
  { name: "fetch", command: ["fetch"] },
  { name: "unpack", command: ["unpack"] },
];
const app = (spec: Spec = {}) => deployment("shop", "web", { inits: chain, ...spec });
const isInit = (name: string) => name.includes("-init-");
const inits = () => it.containers().filter(isInit);
const replicas = () => it.runtime.containers().filter(({ name }) => !isInit(name));
const status = () => it.status("deployment", "shop", "web");
const failures = async () => (await status()).init_failures as InitFailure[];

/** Lets every init that runs end. */
async function end(exitCode = 0): Promise<void> {
  await it.quiet();
  const running = it.runtime.containers().filter(({ name, state }) => isInit(name) && state === "running");
  expect(running.length).toBeGreaterThan(0);
  for (const { name } of running) it.runtime.finish(name, exitCode);
  await it.quiet();
}

describe("the init chain of a replica", () => {
  test("runs in order, each to its end, before the replica is made, and is gone then", async () => {
    await it.apply(app());
    await it.quiet();
    const [first = ""] = inits();
    expect([inits().length, replicas()]).toEqual([1, []]);
    expect(first).toMatch(/^shop-web-init-fetch-[a-z0-9]{5}$/);
    await end();
    expect([inits().map((name) => name.includes("unpack")), replicas()]).toEqual([[true], []]);
    await end();
    await it.settle();
    expect([inits(), replicas().map(({ name }) => name)]).toEqual([[], [`shop-web.${first.slice(-5)}`]]);
  });

  test("runs for each replica, side by side", async () => {
    await it.apply(app({ replicas: 3 }));
    await it.quiet();
    expect(inits()).toHaveLength(3);
    await end();
    await end();
    await it.settle();
    expect(replicas()).toHaveLength(3);
  });

  test("runs for each ordinal in its turn, with its volumes", async () => {
    const claims = { volume_claims: [{ name: "data", mount_path: "/d" }] };
    await it.apply(statefulset("shop", "db", { replicas: 2, inits: chain.slice(0, 1), ...claims }));
    await it.quiet();
    expect(inits()).toEqual(["shop-db-init-fetch-0"]);
    await end();
    await it.quiet();
    expect(inits()).toEqual(["shop-db-init-fetch-1"]);
    await end();
    await it.settle();
    expect(replicas()).toHaveLength(2);
  });

  test("is no replica in anybody's count", async () => {
    await it.apply(app({ replicas: 2 }));
    await it.quiet();
    expect(await status()).toMatchObject({ ready_replicas: 0, updated_replicas: 0, phase: "progressing" });
    const { pods } = await it.controller.listPods({}, { detail: false, spec: false });
    expect(pods.map(({ role }) => role)).toEqual(["init", "init"]);
  });

  test("has limits of its own and the environment of the app", async () => {
    const own = { resources: { limits: { memory: "32Mi" } }, image: "berth-fixture:1" };
    const limits = { resources: { limits: { memory: "64Mi", cpu: "1" } }, env: { A: "1" } };
    await it.apply(app({ inits: [{ ...chain[0], ...own }, chain[1]], ...limits }));
    await it.quiet();
    const init = () => it.runtime.containers().find(({ name }) => isInit(name));
    expect(init()).toMatchObject({ memoryBytes: 32 * 1024 * 1024, nanoCpus: undefined, restartPolicy: "no" });
    expect(init()?.env.A).toBe("1");
    await end();
    expect(init()).toMatchObject({ memoryBytes: undefined, nanoCpus: undefined });
  });
});

describe("an init that fails", () => {
  test("is told in the status, its output only where the reason is asked for, makes no replica, and is tried again", async () => {
    await it.apply(app());
    await it.quiet();
    it.runtime.writeLog(inits()[0] ?? "", "cannot reach storage\n");
    await end(7);
    const [failure] = await failures();
    expect(failure).toMatchObject({ init_name: "fetch", exit_code: 7, attempts: 1 });
    expect(failure?.error).toBe('init "fetch" ended with exit code 7; for its output: berth why shop/web');
    expect((await status()).last_reconcile_error).toBe(failure?.error ?? "");
    expect(JSON.stringify([await status(), it.logged, it.events()])).not.toContain("cannot reach storage");
    const { death } = await it.controller.why({ scope: "shop", name: "web" });
    expect(death).toMatchObject({
      reason: 'init "fetch" ended with exit code 7',
      exit_code: 7,
      replica_id: failure?.replica_id,
      logs: ["cannot reach storage"],
    });
    expect([inits(), replicas()]).toEqual([[], []]);
    await it.advance(2_000);
    expect(inits()).toHaveLength(1);
    await end();
    await end();
    await it.settle();
    expect(await failures()).toEqual([]);
  });

  test("is tried again at once as often as its spec says, after a pause", async () => {
    await it.apply(app({ inits: [{ ...chain[0], retries: 2 }] }));
    await end(1);
    expect(await failures()).toEqual([]);
    await it.advance(2_000);
    await end(1);
    await it.advance(2_000);
    await end(1);
    expect(await failures()).toMatchObject([{ attempts: 3 }]);
  });

  test("keeps the old replicas serving, and fails the release at its deadline", async () => {
    await it.apply(app({ inits: [], env: { V: "1" }, replicas: 2 }));
    await it.settle();
    await it.apply(app({ env: { V: "2" }, replicas: 2, rollout: { min_ready: "0s", progress_deadline: "30s" } }));
    for (let tries = 0; tries < 3; tries++) {
      await end(1);
      expect(replicas().map(({ env, state }) => [env.V, state])).toEqual([
        ["1", "running"],
        ["1", "running"],
      ]);
      await it.advance(5_000);
    }
    await end(1);
    // The pause before the round that finds the deadline passed is drawn.
    await it.advance(90_000);
    const { releases } = it.controller.listReleases({ kind: "deployment", scope: "shop", name: "web" });
    expect(releases.map(({ status, cause }) => [cause, status])).toEqual([
      ["auto_rollback", "succeeded"],
      ["apply", "failed"],
      ["apply", "succeeded"],
    ]);
    expect(releases[1]?.error).toContain(`init "fetch" did not end within the progress deadline`);
  });
});

describe("an init that hangs", () => {
  test("is ended at its limit and told so, while the old replicas serve", async () => {
    await it.apply(app({ inits: [], env: { V: "1" } }));
    await it.settle();
    await it.apply(app({ inits: [{ ...chain[0], timeout: "20s" }], env: { V: "2" } }));
    await it.advance(19_000);
    expect(inits()).toHaveLength(1);
    await it.advance(1_500);
    expect(await failures()).toMatchObject([
      {
        exit_code: -1,
        error: 'init "fetch" did not end within its timeout; for its output: berth why shop/web',
        attempts: 1,
      },
    ]);
    expect(replicas().map(({ env }) => env.V)).toEqual(["1"]);
  });

  test("does not outlast the progress deadline of the rollout", async () => {
    await it.apply(app({ inits: [], env: { V: "1" } }));
    await it.settle();
    await it.apply(app({ env: { V: "2" }, rollout: { min_ready: "0s", progress_deadline: "30s" } }));
    await it.advance(31_000);
    const releases = it.store.releases.list(keyOf("deployment", "shop", "web"));
    expect(releases.map(({ cause }) => cause)).toEqual(["auto_rollback", "apply", "apply"]);
    expect(releases[1]?.error).toContain('init "fetch"');
    await it.settle();
    expect([inits(), replicas().map(({ env }) => env.V)]).toEqual([[], ["1"]]);
  });

  test("gives way to the next write at once", async () => {
    await it.apply(app({ env: { V: "1" } }));
    await it.advance(5_000);
    expect(inits()).toHaveLength(1);
    await it.apply(app({ inits: [], env: { V: "2" } }));
    await it.advance(2_000);
    expect([inits(), replicas().map(({ env }) => env.V)]).toEqual([[], ["2"]]);
    expect((await status()).phase).toBe("ready");
  });

  test("gives way to a delete", async () => {
    await it.apply(app());
    await it.advance(5_000);
    await it.controller.deleteManifest(keyOf("deployment", "shop", "web"), { prune: false, actor: "ana" });
    await it.advance(5_000);
    expect(it.containers()).toEqual([]);
  });

  test("holds up nobody else's starts", async () => {
    await it.close();
    it = await world({ limits: { engineCallsMax: 2 } });
    await it.apply(app({ replicas: 3 }));
    await it.quiet();
    expect(inits()).toHaveLength(3);
    await it.apply(deployment("shop", "other"));
    await it.advance(1_000);
    expect(replicas().map(({ name }) => name.split(".")[0])).toEqual(["shop-other"]);
  });

  test("does not keep the server from stopping, and is done anew by the next one", async () => {
    await it.apply(app());
    await it.advance(5_000);
    const [first] = inits();
    const before = it.clock.now();
    await it.stop();
    expect(it.clock.now() - before).toBeLessThan(15_000);
    await it.restart();
    await it.quiet();
    expect(inits()).toHaveLength(1);
    expect(inits()).not.toEqual([first]);
    await end();
    await end();
    await it.settle();
    expect(await failures()).toEqual([]);
  });

  test("of a server that was killed is not left behind", async () => {
    await it.apply(app({ replicas: 2 }));
    await it.advance(5_000);
    await it.crash();
    await it.advance(1_000);
    expect(inits()).toHaveLength(2);
    await end();
    await end();
    await it.settle();
    expect([inits().length, replicas().length]).toEqual([0, 2]);
  });
});
