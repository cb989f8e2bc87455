import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import type { ExecProgram } from "../../../../support/memory-runtime/execs.ts";
import type { Context } from "../../../../../src/orchestration/controller/state/context.ts";
import type { Pod } from "../../../../../src/orchestration/controller/state/pod.ts";
import { createPodTable } from "../../../../../src/orchestration/controller/state/pod-table.ts";
import { knock } from "../../../../../src/orchestration/controller/state/knock.ts";
import { createProbeRoom } from "../../../../../src/orchestration/controller/pods/probes.ts";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

/** What the pods answer, by version of their spec; 200 for others. */
const answers = new Map<string, number | Error>();
const asked: { url: string; headers: Record<string, string> }[] = [];

let it: World;
beforeEach(async () => {
  answers.clear();
  asked.length = 0;
  it = await world({ fetch: answer, knock });
});
afterEach(() => it.close());

async function answer(url: string, options: { signal: AbortSignal; headers?: Record<string, string> }) {
  asked.push({ url, headers: options.headers ?? {} });
  const { hostname } = new URL(url);
  const pod = it.runtime.containers().find(({ networks }) => networks.berth0?.ipAddress === hostname);
  const told = answers.get(pod?.env.V ?? "") ?? 200;
  if (told instanceof Error) throw told;
  return new Response(told === 204 ? null : "body", { status: told, statusText: told === 200 ? "OK" : "Not Today" });
}

const http = { http_get: { path: "/healthz", port: 8080 }, period: "5s", failure_threshold: 2 };
const rollout = { min_ready: "0s", progress_deadline: "60s" };
const app = (v: string, spec: Spec = {}) =>
  deployment("shop", "web", { replicas: 2, rollout, env: { V: v }, probes: { readiness: http }, ...spec });
const all = (prefix = "shop-web.") => it.runtime.containers().filter(({ name }) => name.startsWith(prefix));
const pod = () => {
  const [first] = all();
  if (first === undefined) throw new Error("no pod");
  return first;
};
const ready = (name = pod().name) => it.controller.podReady(name);
const starts = () => it.runtime.calls.filter((call) => call.startsWith("start ")).length;
const versions = () =>
  all()
    .map(({ env }) => env.V)
    .sort()
    .join("");

describe("readiness", () => {
  test("of http is asked of the pod's own address, with its headers", async () => {
    const http_get = { path: "/up?x=1", port: 81, http_headers: { Host: "shop.test" } };
    await it.apply(app("1", { replicas: 1, probes: { readiness: { http_get } } }));
    await it.settle();
    const address = pod().networks.berth0?.ipAddress;
    expect(asked[0]).toMatchObject({ url: `http://${address}:81/up?x=1`, headers: { Host: "shop.test" } });
    expect(ready()).toMatchObject({ ready: true, startup_passed: true, readiness_phase: "healthy", reason: "200 OK" });
  });

  test.each([
    [200, true],
    [204, true],
    [302, true],
    [399, true],
    [400, false],
    [404, false],
    [500, false],
  ])("with status %d is %p", async (status, expected) => {
    answers.set("1", status);
    await it.apply(app("1", { replicas: 1 }));
    await it.advance(1_000);
    expect(ready().ready).toBe(expected);
  });

  test("that nobody answers says why", async () => {
    answers.set("1", Object.assign(new Error("Unable to connect"), { code: "ConnectionRefused" }));
    await it.apply(app("1", { replicas: 1 }));
    await it.advance(11_000);
    expect(ready()).toMatchObject({ ready: false, readiness_phase: "unhealthy", reason: "connection refused" });
  });

  test("lost and found again shows, and changes no container", async () => {
    await it.apply(app("1"));
    await it.settle();
    const before = [starts(), all().map(({ id }) => id)];
    answers.set("1", 503);
    await it.advance(4_000);
    expect(ready().ready).toBe(true);
    await it.advance(7_000);
    expect(ready()).toMatchObject({ ready: false, readiness_phase: "unhealthy", reason: "503 Not Today: body" });
    expect((await it.status("deployment", "shop", "web")).ready_replicas).toBe(0);
    answers.delete("1");
    await it.advance(6_000);
    expect(ready().ready).toBe(true);
    expect((await it.status("deployment", "shop", "web")).ready_replicas).toBe(2);
    expect([starts(), all().map(({ id }) => id)]).toEqual(before);
  });

  test("gates a rollout, and fails it at its deadline", async () => {
    await it.apply(app("1"));
    await it.settle();
    answers.set("2", 503);
    await it.apply(app("2"));
    await it.advance(59_000);
    expect(versions()).toBe("112");
    await it.advance(3_000);
    await it.settle();
    expect(versions()).toBe("11");
    const [, failed] = it.store.releases.list(keyOf("deployment", "shop", "web"));
    expect(failed).toMatchObject({ status: "failed" });
    expect(failed?.error).toContain("ProgressDeadline");
  });

  test("without any probe is that it runs", async () => {
    await it.apply(deployment("shop", "web"));
    await it.settle();
    expect(ready()).toMatchObject({ ready: true, startup_passed: true });
    expect(ready()).not.toHaveProperty("readiness_phase");
  });

  test("is nothing that a container keeps through its own restart", async () => {
    await it.apply(app("1", { replicas: 1 }));
    await it.settle();
    await it.advance(1_000);
    answers.set("1", 503);
    it.runtime.crash(pod().name);
    await it.quiet();
    expect(ready()).toMatchObject({ ready: false, readiness_phase: "unknown" });
    answers.delete("1");
    await it.advance(6_000);
    expect(ready().ready).toBe(true);
  });

  test("is asked at the new address after a restart", async () => {
    await it.apply(app("1", { replicas: 1 }));
    await it.settle();
    await it.advance(1_000);
    const before = pod().networks.berth0?.ipAddress ?? "";
    it.runtime.crash(pod().name);
    asked.length = 0;
    await it.advance(6_000);
    const after = pod().networks.berth0?.ipAddress ?? "";
    expect(after).not.toBe(before);
    expect(new Set(asked.map(({ url }) => new URL(url).hostname))).toEqual(new Set([after]));
    expect(ready().ready).toBe(true);
  });

  test("is of a restarted pod nothing before it was looked at, even while its resource is in trouble", async () => {
    await it.apply(app("1", { replicas: 1 }));
    await it.settle();
    await it.apply(app("2", { replicas: 1, image: "nowhere:1" }));
    await it.advance(5_000);
    answers.set("1", 503);
    it.runtime.crash(pod().name);
    await new Promise((resolve) => setImmediate(resolve));
    expect(ready().ready).toBe(false);
  });
});

describe("a startup probe", () => {
  const startup = { ...http, failure_threshold: 30 };

  test("holds readiness and liveness back until it has passed", async () => {
    answers.set("1", 503);
    const liveness = { ...http, failure_threshold: 1 };
    await it.apply(app("1", { replicas: 1, probes: { startup, liveness, readiness: http } }));
    await it.advance(31_000);
    expect(starts()).toBe(1);
    expect(ready()).toMatchObject({ ready: false, startup_passed: false, readiness_phase: "unknown" });
    answers.delete("1");
    await it.advance(6_000);
    expect(ready()).toMatchObject({ ready: true, startup_passed: true });
  });

  test("is over once it has passed", async () => {
    const path = "/started";
    await it.apply(app("1", { replicas: 1, probes: { startup: { ...startup, http_get: { path, port: 80 } } } }));
    await it.settle();
    await it.advance(60_000);
    expect(asked.filter(({ url }) => url.endsWith(path))).toHaveLength(1);
  });
});

describe("a liveness probe", () => {
  const probes = { liveness: http };
  const failing = () => answers.set("1", 500);
  const restarts = () => it.events("replica.restart");

  test("restarts the container at each crossing, with a pause that grows", async () => {
    await it.apply(app("1", { replicas: 1, probes }));
    await it.settle();
    failing();
    const at: number[] = [];
    const begun = it.clock.now();
    for (let second = 0; second < 100; second++) {
      const before = restarts().length;
      await it.advance(1_000);
      if (restarts().length > before) at.push(Math.round((it.clock.now() - begun) / 1_000));
    }
    expect(at.length).toBeGreaterThanOrEqual(4);
    const pauses = at.slice(1).map((second, index) => second - (at[index] ?? 0));
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses.at(-1)).toBeGreaterThanOrEqual(40);
    expect(all()).toHaveLength(1);
    expect(restarts()[0]).toMatchObject({ actor: "reconciler", name: "web" });
    const { pods } = await it.controller.listPods({}, { detail: false, spec: false });
    expect(pods.map((row) => row.restarts)).toEqual([at.length]);
    // Each death has its own time, not that of the one before.
    const deaths = it.store.deaths.list({ kind: "deployment", scope: "shop", name: "web" });
    expect(deaths).toHaveLength(at.length);
    expect(new Set(deaths.map(({ at: died }) => died)).size).toBe(at.length);
    for (const { reason } of deaths) expect(reason).toStartWith("killed: liveness probe (GET :8080/healthz) failed");
  });

  test("that passes again restarts nothing", async () => {
    await it.apply(app("1", { replicas: 1, probes }));
    await it.settle();
    failing();
    await it.advance(4_000);
    answers.delete("1");
    await it.advance(120_000);
    expect(restarts()).toEqual([]);
  });

  test.each([{ liveness: http }, { liveness: http, readiness: { exec: { command: ["true"] } } }])(
    "that never passed fails the release instead of restarting it for ever: %j",
    async (both) => {
      const waiting = { ...rollout, min_ready: "2s" };
      await it.apply(app("1", { replicas: 1, rollout: waiting, probes }));
      await it.settle();
      answers.set("2", 404);
      await it.apply(app("2", { replicas: 1, rollout: waiting, probes: both }));
      await it.advance(20_000);
      const { conditions } = await it.status("deployment", "shop", "web");
      expect(conditions?.find(({ type }) => type === "Ready")?.message).toContain("liveness probe (GET :8080/healthz)");
      await it.advance(120_000);
      const list = it.store.releases.list(keyOf("deployment", "shop", "web"));
      expect(list.map(({ status }) => status).reverse()).toEqual(["succeeded", "failed", "succeeded"]);
      expect(versions()).toBe("1");
    },
  );

  test("that begins to fail shows in the status, and takes nothing out of service", async () => {
    await it.apply(app("1", { replicas: 1, probes }));
    await it.settle();
    failing();
    await it.advance(30_000);
    expect((await it.status("deployment", "shop", "web")).phase).not.toBe("ready");
    expect(ready()).toMatchObject({ ready: true });
    answers.delete("1");
    await it.advance(70_000);
    expect(await it.status("deployment", "shop", "web")).toMatchObject({ phase: "ready" });
  });

  test("keeps what the container said before", async () => {
    await it.apply(app("1", { replicas: 1, probes }));
    await it.settle();
    it.runtime.writeLog(pod().name, "deadlock\n");
    failing();
    await it.advance(11_000);
    const [death] = it.store.deaths.list(keyOf("deployment", "shop", "web"));
    expect(death?.reason).toContain("failed: 500 Not Today");
    expect(death?.logs).toEqual(["deadlock"]);
    expect(death?.probes.at(-1)).toContain("liveness failed: 500");
  });

  test("does not bring back what an operator froze", async () => {
    await it.apply(app("1", { replicas: 1, probes }));
    await it.settle();
    failing();
    await it.advance(4_000);
    await it.controller.stopPod(pod().name, { freeze: true, actor: "ana" });
    await it.advance(120_000);
    expect([pod().state, restarts()]).toEqual(["exited", []]);
  });

  test("does not restart a pod on its way out", async () => {
    await it.apply(app("1", { replicas: 1, probes }));
    await it.settle();
    const old = pod().name;
    it.runtime.setConnections(old, { listening: true, established: 1 });
    await it.apply(app("2", { replicas: 1, probes }));
    await it.advance(1_000);
    expect(ready(old).ready).toBe(false);
    failing();
    await it.advance(25_000);
    expect(restarts()).toEqual([]);
    await it.settle();
    expect(versions()).toBe("2");
  });
});

describe("an exec probe", () => {
  const exec = { exec: { command: ["check", "it"] }, period: "5s", failure_threshold: 2 };
  const says = (text: string, code: number): ExecProgram =>
    async function check({ stdout }) {
      if (text !== "") await stdout(text);
      return code;
    };

  test("passes with exit code 0, and fails with what it said", async () => {
    let code = 0;
    it.runtime.onExec(({ spec }) =>
      spec.command[0] === "check" ? says(code === 0 ? "" : "no disk\n", code) : undefined,
    );
    await it.apply(app("1", { replicas: 1, probes: { readiness: exec } }));
    await it.settle();
    expect(ready()).toMatchObject({ ready: true, reason: "exit code 0" });
    code = 3;
    await it.advance(11_000);
    expect(ready()).toMatchObject({ ready: false, reason: "exit code 3: no disk" });
  });

  test("that cannot be run is a failed one", async () => {
    it.runtime.fail("exec", new Failure("conflict", 'no program "check"'));
    await it.apply(app("1", { replicas: 1, probes: { readiness: exec } }));
    await it.advance(11_000);
    expect(ready()).toMatchObject({ ready: false, reason: 'no program "check"' });
  });
});

describe("a tcp probe", () => {
  test("passes where something accepts, and says when nothing does", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const tcp = { tcp_socket: { port }, period: "1s", failure_threshold: 1 };
    const turn = async () => {
      await Bun.sleep(20);
      await it.advance(1_100);
    };
    try {
      await it.apply(app("1", { replicas: 1, probes: { readiness: tcp } }));
      await it.quiet();
      for (let tries = 0; tries < 50 && !ready().ready; tries++) await turn();
      expect(ready()).toMatchObject({ ready: true, reason: "connected" });
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    for (let tries = 0; tries < 50 && ready().ready; tries++) await turn();
    expect(ready()).toMatchObject({ ready: false, reason: "connection refused" });
  });
});

describe("a new server", () => {
  test("takes no pod out of service, and goes on asking", async () => {
    await it.apply(app("1"));
    await it.settle();
    asked.length = 0;
    await it.crash();
    expect(all().map(({ name }) => ready(name).ready)).toEqual([true, true]);
    expect(asked).toHaveLength(2);
    answers.set("1", 503);
    await it.advance(11_000);
    expect(all().map(({ name }) => ready(name).ready)).toEqual([false, false]);
  });

  test("goes by what was written down until it has looked at a pod", () => {
    const readinessAt = (transitionAt: number) => {
      const known = { pod: "p", startupPassed: true, readiness: "healthy", transitionAt };
      const store = {
        probeReadiness: { list: () => [known] },
        releases: { list: () => [] },
        manifests: { get: () => ({ kind: "deployment", spec: { probes: { readiness: http } } }) },
      };
      const engine = createProbeRoom(
        () => ({ store, clock: it.clock }) as unknown as Context,
        () => undefined,
      );
      return engine.readiness({ id: "c", name: "p", state: "running", createdAt: 5_000 } as unknown as Pod)?.ready;
    };
    expect(readinessAt(6_000)).toBe(true);
    // Of another container of that name.
    expect(readinessAt(4_000)).toBe(false);
  });

  test("does not ask a startup probe again that has passed", async () => {
    const startup = { ...http, http_get: { path: "/started", port: 80 } };
    await it.apply(app("1", { probes: { startup, readiness: http } }));
    await it.settle();
    asked.length = 0;
    await it.crash();
    await it.advance(20_000);
    expect(asked.filter(({ url }) => url.endsWith("/started"))).toEqual([]);
    expect(ready()).toMatchObject({ ready: true, startup_passed: true });
  });

  test("trusts nothing about a container that was started since", async () => {
    await it.apply(app("1", { replicas: 1 }));
    await it.settle();
    await it.advance(5_000);
    await it.stop();
    answers.set("1", 503);
    it.runtime.crash(pod().name);
    await it.restart();
    await it.advance(1_000);
    expect(ready()).toMatchObject({ ready: false, readiness_phase: "unknown" });
  });

  test("in the middle of a statefulset's rollout disturbs no second ordinal", async () => {
    const probes = { readiness: { ...http, success_threshold: 2 } };
    const db = (v: string) => statefulset("shop", "db", { replicas: 3, rollout, env: { V: v }, probes });
    await it.apply(db("1"));
    await it.settle();
    await it.apply(db("2"));
    await it.advance(1_000);
    for (let moment = 0; moment < 40; moment++) {
      if (moment % 3 === 0) await it.crash();
      await it.advance(700);
      const down = all("shop-db.").filter(({ name, state }) => state !== "running" || !ready(name).ready);
      expect(down.length + 3 - all("shop-db.").length).toBeLessThanOrEqual(1);
    }
    await it.settle();
    expect(all("shop-db.").map(({ env }) => env.V)).toEqual(["2", "2", "2"]);
  });
});

describe("a clock that is set", () => {
  test.each([-3_600_000, 3_600_000])("by %d ms stops no probe and restarts nothing", async (jump) => {
    await it.apply(app("1", { probes: { liveness: http, readiness: http } }));
    await it.settle();
    const before = starts();
    it.clock.jump(jump);
    asked.length = 0;
    await it.advance(20_000);
    expect(asked.length).toBeGreaterThanOrEqual(12);
    expect(all().every(({ name }) => ready(name).ready)).toBe(true);
    expect(starts()).toBe(before);
    answers.set("1", 500);
    await it.advance(11_000);
    expect(it.events("replica.restart")).toHaveLength(2);
  });
});

test("of containers that are gone nothing is kept", async () => {
  await it.apply(app("1", { replicas: 1 }));
  await it.settle();
  const stopping = new AbortController();
  const table = createPodTable({ engine: it.engine, clock: it.clock, earlierRestarts: () => 0 });
  const context = {
    ...it,
    names: naming(),
    fetch: answer,
    pods: table,
    enqueue: () => undefined,
  } as unknown as Context;
  const engine = createProbeRoom(
    () => context,
    () => undefined,
  );
  const running = engine.run(stopping.signal);
  const key = keyOf("deployment", "shop", "web");
  engine.watch(await table.refresh(key));
  const { id, name } = pod();
  await it.advance(6_000);
  expect(engine.exchanges(id)).not.toEqual([]);
  expect(engine.figures(id)?.attempts).toBeGreaterThan(0);
  // As it is seen before it goes: the last thing known of it is that it does not run.
  it.runtime.stopByHand(name);
  await table.refresh(key);
  it.runtime.removeByHand(name);
  await table.refresh(key);
  await it.advance(61_000);
  expect(engine.exchanges(id)).toEqual([]);
  stopping.abort();
  await running;
});
