import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { deployment } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let answer = () => new Response("ok", { status: 200 });
let it: World;
beforeEach(async () => {
  answer = () => new Response("ok", { status: 200 });
  it = await world({ fetch: async () => answer() });
});
afterEach(() => it.close());

const key = keyOf("deployment", "shop", "web");
const name = () => it.containers()[0] ?? "";
const deaths = () => it.store.deaths.list(key);
const why = () => it.controller.why({ scope: "shop", name: "web" });
const details = (action: string) => it.events(action).map(({ detail }) => detail);
const status = () => it.status("deployment", "shop", "web");

async function running(spec: Spec = {}): Promise<void> {
  await it.apply(deployment("shop", "web", spec));
  await it.settle();
}

describe("the end of a replica that nobody asked for", () => {
  test("is an event with exit code and last lines, and a death on record", async () => {
    await running();
    it.runtime.writeLog(name(), "one\ntwo\nthree\nfour\nfive\nno database\n");
    it.runtime.crash(name(), 3);
    await it.quiet();
    expect(details("replica.crash")).toEqual([
      {
        replica_id: name().split(".")[1],
        exit_code: 3,
        last_lines: ["two", "three", "four", "five", "no database"],
      },
    ]);
    expect(deaths()).toMatchObject([{ exitCode: 3, reason: "it ended by itself" }]);
    expect((await why()).deaths).toBe(1);
  });

  test("for want of memory, or with success, is named for what it is", async () => {
    await running();
    it.runtime.crash(name(), 137, { oomKilled: true });
    await it.advance(1_000);
    it.runtime.crash(name(), 0);
    await it.quiet();
    expect(details("replica.oom")).toMatchObject([{ exit_code: 137, signal: "SIGKILL" }]);
    expect(details("replica.exit")).toMatchObject([{ exit_code: 0 }]);
    expect(details("replica.crash")).toEqual([]);
    expect(
      deaths()
        .map(({ oomKilled }) => oomKilled)
        .sort(),
    ).toEqual([false, true]);
  });

  test("again and again is told three times, and then once a minute with the count", async () => {
    await running();
    for (let second = 0; second < 70; second++) {
      it.runtime.crash(name(), 3);
      await it.advance(1_000);
    }
    const told = details("replica.crash");
    expect(told.map((detail) => detail?.times ?? 1)).toEqual([1, 1, 1, 60]);
  });

  test.each([
    ["a stop by hand", () => it.runtime.kill(name(), 137)],
    ["a freeze", () => it.controller.stopPod(name(), { freeze: true, actor: "ana" })],
    ["a new version", () => it.apply(deployment("shop", "web", { env: { V: "2" } }))],
    ["a delete", () => it.controller.deleteManifest(key, { prune: false, actor: "ana" })],
  ])("is not %s", async (_, work) => {
    await running();
    await work();
    await it.advance(30_000);
    for (const action of ["crash", "oom", "exit"]) expect(details(`replica.${action}`)).toEqual([]);
  });

  test("that says that its program is none of this machine fails the rollout at once", async () => {
    await it.apply(deployment("shop", "web", { rollout: { min_ready: "30s" } }));
    await it.quiet();
    it.runtime.writeLog(name(), "exec /app: exec format error\n");
    it.runtime.crash(name(), 1);
    await it.advance(1_000);
    expect(it.store.releases.list(key)[0]).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^StartFailed: shop-web\.\w{5}: exec \/app: exec format error$/),
    });
  });
});

describe("a process that can never begin", () => {
  test("fails the rollout within seconds, with the engine's words", async () => {
    await running();
    const words = 'cannot start container: exec: "nope": executable file not found';
    it.runtime.fail("start", new Failure("conflict", words, { reason: "StartFailed", lasting: true }), 10);
    await it.apply(deployment("shop", "web", { env: { V: "2" }, rollout: { auto_rollback: false } }));
    await it.advance(4_000);
    expect(it.store.releases.list(key)[0]).toMatchObject({ status: "failed", error: `StartFailed: ${words}` });
  });
});

describe("a probe that fails", () => {
  const probes = { readiness: { http_get: { path: "/ready", port: 8080 }, period: "5s" } };
  const down = () => new Response("database is away\nsecond line", { status: 503, statusText: "Service Unavailable" });

  test("is told while it lasts: which, what it got, since when, and the last lines", async () => {
    answer = down;
    await it.apply(deployment("shop", "web", { probes }));
    await it.quiet();
    const since = new Date(it.clock.now()).toISOString();
    it.runtime.writeLog(name(), "connecting\n");
    await it.advance(60_000);
    const message = (await status()).conditions.find(({ type }) => type === "Ready")?.message;
    expect(message).toBe(
      `0 of 1 replicas ready; ${name()} readiness probe (GET :8080/ready) fails since ` +
        `${since.replace(".000", "")}: 503 Service Unavailable: database is away`,
    );
    expect((await why()).unready).toEqual([
      {
        replica_id: name().split(".")[1] ?? "",
        container: name(),
        probe: "readiness",
        check: "GET :8080/ready",
        since,
        got: "503 Service Unavailable: database is away",
        logs: ["connecting"],
      },
    ]);
    expect(details("probe.unhealthy")).toMatchObject([
      { probe: "readiness", check: "GET :8080/ready", since, got: expect.stringContaining("503") },
    ]);
  });

  test("that passes again is an event, and nothing is told of it any more", async () => {
    await running({ probes });
    expect(it.events("probe.healthy")).toEqual([]);
    answer = down;
    await it.advance(20_000);
    expect((await status()).phase).toBe("progressing");
    answer = () => new Response("ok");
    await it.settle();
    expect([details("probe.unhealthy").length, details("probe.healthy").length]).toEqual([1, 1]);
    expect((await why()).unready).toEqual([]);
  });

  test("that ended a rollout is on record with what the replica had printed", async () => {
    await running();
    answer = down;
    const rollout = { progress_deadline: "20s" };
    await it.apply(deployment("shop", "web", { probes, env: { V: "2" }, rollout }));
    await it.quiet();
    const fresh = it.containers().find((one) => it.store.deaths.list(key).length === 0 && one !== name()) ?? name();
    for (const one of it.containers()) it.runtime.writeLog(one, "no database\n");
    await it.settle();
    expect(fresh).not.toBe("");
    const told = await why();
    expect(told.failed_release?.error).toContain("readiness probe (GET :8080/ready) fails since");
    expect(told.death).toMatchObject({ logs: ["no database"], reason: expect.stringContaining("ProgressDeadline") });
  });
});

describe("restarts", () => {
  const restarts = async () =>
    (await it.controller.listPods({}, { detail: false, spec: false })).pods.map((pod) => pod.restarts);

  test("are counted over those that the engine forgets, and over a restart of the server", async () => {
    await running();
    for (let time = 0; time < 4; time++) {
      it.runtime.crash(name(), 3);
      await it.advance(2_000);
    }
    it.runtime.kill(name(), 137);
    await it.settle();
    it.runtime.crash(name(), 3);
    await it.settle();
    expect(await restarts()).toEqual([6]);
    await it.restart();
    await it.settle();
    expect(await restarts()).toEqual([6]);
  });
});
