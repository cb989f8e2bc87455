import { afterEach, describe, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { type Answers, simulatedVisitors } from "../../../../support/simulated-visitors.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
afterEach(() => it.close());

const key = keyOf("deployment", "shop", "web");
const guard = { errors: "5%", over: "20s", min_requests: 20 };
const rollout = { min_ready: "2s", drain: "4s", guard };
const app = (v: string, spec: Spec = {}) => deployment("shop", "web", { replicas: 2, rollout, env: { V: v }, ...spec });
const pods = (prefix = "shop-web.") => it.runtime.containers().filter(({ name }) => name.startsWith(prefix));
const versions = (prefix?: string) =>
  pods(prefix)
    .filter(({ state }) => state === "running")
    .map(({ env }) => env.V)
    .sort()
    .join("");
const releases = (of = key) => it.store.releases.list(of);
const outline = (of = key) => releases(of).map(({ cause, status }) => `${cause} ${status}`);

/** Visitors who get from each version what the table says. */
function visitors(answers: Record<string, Answers>) {
  const { trafficOf, pass, forget } = simulatedVisitors((version) => answers[version] ?? {});
  return { trafficOf, forget, pass: (seconds: number) => pass(it, seconds) };
}

async function started(answers: Record<string, Answers> = {}, spec: Spec = {}) {
  const seen = visitors(answers);
  it = await world({ trafficOf: seen.trafficOf });
  await it.apply(app("1", spec));
  await it.settle();
  return seen;
}

describe("a release with a guard", () => {
  test("whose requests fail goes back by itself, with the figures as the reason, and the old replicas never stop", async () => {
    const { pass } = await started({ 2: { share: 0.2 } });
    const before = pods().map(({ id }) => id);
    await it.apply(app("2"));
    await pass(15);
    expect(outline()).toEqual(["auto_rollback succeeded", "apply failed", "apply succeeded"]);
    expect(releases()[1]?.error).toMatch(
      /^GuardTripped: [45] of 2\d requests failed \([\d.]+ %, allowed 5 %; old replicas 0 %\)$/,
    );
    expect(it.events("release.failed")).toMatchObject([{ detail: { error: releases()[1]?.error } }]);
    await it.settle();
    expect(pods().map(({ id }) => id)).toEqual(before);
    expect((await it.controller.why(key)).failed_release).toMatchObject({ error: releases()[1]?.error });
  });

  test("that goes back keeps the last output of its replicas", async () => {
    const { pass } = await started({ 2: { share: 0.5 } });
    await it.apply(app("2"));
    await pass(2);
    const fresh = pods().find(({ env }) => env.V === "2");
    it.runtime.writeLog(fresh?.name ?? "", "TypeError: total of undefined\n");
    await pass(10);
    const { death, deaths } = await it.controller.why(key);
    expect(death).toMatchObject({ logs: ["TypeError: total of undefined"], reason: releases()[1]?.error });
    expect(deaths).toBe(1);
  });

  test("that stops the old replicas first goes back all the same", async () => {
    const { pass } = await started({ 2: { share: 0.5 } });
    await it.apply(app("2", { rollout: { ...rollout, strategy: "recreate" } }));
    await pass(20);
    expect(releases()[1]?.error).toStartWith("GuardTripped: ");
    await it.settle();
    expect(versions()).toBe("11");
  });

  test("is good only after its last replicas were watched, each for the whole time", async () => {
    const { pass } = await started();
    await it.apply(app("2"));
    await pass(18);
    expect(versions()).toBe("112");
    await pass(8);
    expect(versions()).toBe("122");
    await pass(12);
    expect(outline()[0]).toBe("apply running");
    await pass(12);
    expect([versions(), ...outline()]).toEqual(["22", "apply succeeded", "apply succeeded"]);
  });

  test("that fails only in its last replica goes back, too", async () => {
    const answers: Record<string, Answers> = {};
    const { pass } = await started(answers);
    await it.apply(app("2"));
    await pass(32);
    expect([versions(), outline()[0]]).toEqual(["122", "apply running"]);
    answers[2] = { share: 0.5 };
    await pass(10);
    expect(outline()[1]).toBe("apply failed");
    expect(releases()[1]?.error).toStartWith("GuardTripped: ");
    await it.settle();
    expect(versions()).toBe("11");
  });

  test("tells what it waits for while it watches", async () => {
    const { pass } = await started();
    await it.apply(app("2"));
    await pass(5);
    const { conditions, phase } = await it.status("deployment", "shop", "web");
    expect(phase).toBe("progressing");
    expect(conditions?.[0]?.message).toMatch(
      /^2 of 2 replicas ready, 1 updated; watching the requests of shop-web\.\w+$/,
    );
  });

  test("goes on where the old replicas fail as often", async () => {
    const { pass } = await started({ 1: { share: 0.2 }, 2: { share: 0.2 } }, { replicas: 4 });
    await it.apply(
      app("2", { replicas: 4, rollout: { ...rollout, max_surge: 4, guard: { ...guard, errors: "15%" } } }),
    );
    await pass(15);
    expect(outline()[0]).toBe("apply running");
  });

  test("goes on after failures of too few requests", async () => {
    const { pass } = await started({ 2: { share: 1 } });
    await it.apply(app("2", { rollout: { ...rollout, guard: { ...guard, min_requests: 100_000 } } }));
    await pass(70);
    expect(outline()[0]).toBe("apply succeeded");
  });

  test("goes back when its requests are slow", async () => {
    const { pass } = await started({ 2: { ms: 900 } });
    await it.apply(app("2", { rollout: { ...rollout, guard: { p99: "800ms", over: "20s" } } }));
    await pass(10);
    expect(releases()[1]?.error).toMatch(
      /^GuardTripped: p99 of 2\d requests is 900 ms \(allowed 800 ms; old replicas 10 ms\)$/,
    );
  });

  test("without auto_rollback fails, and the old replicas serve on", async () => {
    const { pass } = await started({ 2: { share: 0.5 } });
    await it.apply(app("2", { rollout: { ...rollout, auto_rollback: false } }));
    await pass(30);
    await it.advance(10_000);
    expect([versions(), outline()[0]]).toEqual(["11", "apply failed"]);
  });

  test("is watched for the whole time again by a server that has no figures of the time before", async () => {
    const { pass, forget } = await started({ 2: { share: 1 } });
    const before = pods().map(({ id }) => id);
    await it.apply(app("2", { rollout: { ...rollout, guard: { ...guard, min_requests: 60 } } }));
    await pass(10);
    forget();
    await it.restart();
    await pass(13);
    expect(outline()[1]).toBe("apply failed");
    expect(releases()[1]?.error).toStartWith("GuardTripped: 6");
    await it.settle();
    expect(pods().map(({ id }) => id)).toEqual(before);
  });

  test("does not start over for a clock that is set", async () => {
    const { pass } = await started();
    await it.apply(app("2"));
    await pass(10);
    it.clock.jump(-3_600_000);
    await pass(14);
    expect(versions()).toBe("122");
  });

  test("of a statefulset goes back from the ordinal that fails", async () => {
    const { pass } = await started({ 2: { share: 0.5 } });
    const db = (v: string) => statefulset("shop", "db", { replicas: 2, rollout: { guard }, env: { V: v } });
    await it.apply(db("1"));
    await it.settle();
    await it.apply(db("2"));
    await pass(12);
    expect(outline(keyOf("statefulset", "shop", "db"))[1]).toBe("apply failed");
    await it.settle();
    expect(versions("shop-db.")).toBe("11");
  });

  test("counts its watch from when a probe lets requests through", async () => {
    const seen = visitors({});
    it = await world({ trafficOf: seen.trafficOf, fetch: () => Promise.resolve(new Response("")) });
    const probes = { readiness: { http_get: { path: "/", port: 80 }, period: "1s" } };
    await it.apply(app("1", { probes }));
    await it.settle();
    await it.apply(app("2", { probes: { readiness: { ...probes.readiness, initial_delay: "10s" } } }));
    await seen.pass(28);
    expect(versions()).toBe("112");
    await seen.pass(8);
    expect(versions()).toBe("122");
  });
});

describe("nothing is watched, and nothing waits", () => {
  const quick = async () => {
    await it.apply(app("2"));
    await it.advance(14_000);
    return outline()[0];
  };

  test("without an ingress", async () => {
    it = await world();
    await it.apply(app("1"));
    await it.settle();
    expect(await quick()).toBe("apply succeeded");
  });

  test("when no ingress leads to the resource", async () => {
    it = await world({ trafficOf: () => undefined });
    await it.apply(app("1"));
    await it.settle();
    expect(await quick()).toBe("apply succeeded");
  });

  test("for a first release, which has nothing to go back to", async () => {
    const seen = visitors({ 1: { share: 1 } });
    it = await world({ trafficOf: seen.trafficOf });
    await it.apply(app("1"));
    await seen.pass(5);
    expect(outline()).toEqual(["apply succeeded"]);
  });

  test("for a rollback by hand, which goes as fast as it can", async () => {
    const { pass } = await started();
    await it.apply(app("2"));
    await pass(60);
    await it.controller.rollback({ ...key, releaseId: undefined }, { actor: "ana" });
    await it.advance(14_000);
    expect([versions(), outline()[0]]).toEqual(["11", "rollback succeeded"]);
  });

  test("once the release is over: a replica that is replaced by healing is ready as soon as it is up", async () => {
    const { pass } = await started({ 2: { share: 0 } });
    await it.apply(app("2"));
    await pass(60);
    it.runtime.crash(pods()[0]?.name ?? "", 1);
    await it.advance(8_000);
    expect(await it.status("deployment", "shop", "web")).toMatchObject({ phase: "ready", ready_replicas: 2 });
  });
});

test("a guard alone changes no container and starts no release", async () => {
  await started({}, { rollout: { min_ready: "2s" } });
  const before = pods().map(({ id }) => id);
  await it.apply(app("1"));
  await it.settle();
  expect(pods().map(({ id }) => id)).toEqual(before);
  expect(releases()).toHaveLength(1);
});
