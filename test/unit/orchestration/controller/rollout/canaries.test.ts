import { afterEach, describe, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { deployment } from "../../../../support/manifests.ts";
import { type Answers, simulatedVisitors } from "../../../../support/simulated-visitors.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
afterEach(() => it.close());

const key = keyOf("deployment", "shop", "web");
const steps = [{ weight: "5%", pause: "20s" }, { weight: "50%", pause: "20s" }, "75%"];
const app = (v: string, rollout: Spec = { canary: steps }, spec: Spec = {}) =>
  deployment("shop", "web", {
    replicas: 4,
    rollout: { min_ready: "2s", drain: "2s", ...rollout },
    env: { V: v },
    ...spec,
  });
const containers = () => it.runtime.containers().filter(({ name }) => name.startsWith("shop-web."));
const ids = (v: string) => containers().flatMap(({ id, env }) => (env.V === v ? [id] : []));
const versions = () =>
  containers()
    .filter(({ state }) => state === "running")
    .map(({ env }) => env.V)
    .sort()
    .join("");
const outline = () => it.store.releases.list(key).map(({ cause, status }) => `${cause} ${status}`);
const state = () => it.controller.rollout(key).canary;
const tell = (command: "pause" | "resume" | "promote" | "abort") =>
  it.controller.tellRollout(key, { command, actor: "ana" });

/** The share of the requests that each version gets now, in percent: `1:95 2:5`. */
function shares(): string {
  const version = new Map(containers().map(({ id, env }) => [id, env.V ?? ""]));
  const ready = (it.running.endpoints.list() ?? []).filter((endpoint) => endpoint.ready);
  const all = ready.reduce((sum, { weight = 100 }) => sum + weight, 0);
  const of = (v: string) =>
    ready.filter(({ id }) => version.get(id) === v).reduce((sum, { weight = 100 }) => sum + weight, 0);
  return [...new Set(ready.map(({ id }) => version.get(id) ?? ""))]
    .sort()
    .map((v) => `${v}:${Math.round((100 * of(v)) / all)}`)
    .join(" ");
}

async function started(answers: Record<string, Answers> = {}) {
  const seen = simulatedVisitors((version) => answers[version] ?? {}, { byWeight: true });
  it = await world({ trafficOf: seen.trafficOf });
  await it.apply(app("1", {}));
  await it.settle();
  return { forget: seen.forget, pass: (seconds: number, look?: () => void) => seen.pass(it, seconds, look) };
}

describe("a canary release", () => {
  test("shares the requests step by step, with all old replicas beside the new ones", async () => {
    const { pass } = await started();
    await it.apply(app("2"));
    await pass(10);
    expect([versions(), shares()]).toEqual(["11112", "1:95 2:5"]);
    expect(state()).toMatchObject({ state: "waiting", step: 1, share: 0.05, replicas: { new: 1, old: 4 } });
    expect((await it.controller.why(key)).canary).toMatchObject({ step: 1 });
    expect(it.controller.listReleases(key).releases.map(({ canary }) => canary?.step)).toEqual([1, undefined]);
    await pass(22);
    expect([versions(), shares()]).toEqual(["111122", "1:50 2:50"]);
    await pass(24);
    expect([versions(), shares(), outline()[0]]).toEqual(["2222", "2:100", "apply succeeded"]);
    expect(state()).toBeUndefined();
    expect(it.events("rollout.step").map(({ detail }) => detail?.share)).toEqual(["5 %", "50 %", "75 %"]);
  });

  test("never sends requests to a step before all of its replicas are in service", async () => {
    const { pass } = await started();
    await it.apply(app("2", { canary: ["100%"], min_ready: "5s" }));
    await pass(4, () => expect(shares()).toBe("1:100"));
    await pass(8);
    expect(shares()).toBe("2:100");
  });

  test("says in its status which step it is at, and nothing about a deadline", async () => {
    const { pass } = await started();
    await it.apply(app("2", { canary: [{ weight: "5%", pause: "30m" }], progress_deadline: "1m" }));
    await pass(200);
    const { conditions, phase } = await it.status("deployment", "shop", "web");
    expect(phase).toBe("progressing");
    expect(conditions?.[0]?.message).toBe(
      "4 of 4 replicas ready, 1 updated; canary step 1 of 1, 5 % of the requests for 30m",
    );
    expect(state()?.left_seconds).toBeGreaterThan(1_500);
    const [listed] = it.controller.listManifests({ kind: "deployment" }, { blocks: false, status: true });
    expect(listed?.status).toMatchObject({ phase: "progressing", canary: { state: "waiting", share: 0.05 } });
  });

  test("heals its old replicas, and makes up for lost ones with new ones", async () => {
    const { pass } = await started();
    await it.apply(app("2", { canary: [{ weight: "5%", pause: "30m" }] }));
    await pass(10);
    const [first = "", ...others] = ids("1");
    it.runtime.kill(first);
    await pass(10);
    expect([ids("1").includes(first), versions()]).toEqual([true, "11112"]);
    for (const id of others.slice(0, 2)) it.runtime.removeByHand(id);
    await pass(40);
    expect([versions(), shares()]).toEqual(["1122", "1:95 2:5"]);
  });

  test("is not begun for a first release, a rollback, or where nothing else runs", async () => {
    it = await world();
    await it.apply(app("1"));
    await it.settle();
    expect(versions()).toBe("1111");
    expect(it.store.canaries.get(key)).toBeUndefined();
  });

  test("of a new apply in the middle gives the last one up, which gets no more requests", async () => {
    const { pass } = await started();
    await it.apply(app("2"));
    await pass(10);
    await it.apply(app("3", {}));
    let most = 0;
    await pass(20, () => (most = Math.max(most, Number(/2:(\d+)/.exec(shares())?.[1] ?? 0))));
    expect([versions(), most]).toEqual(["3333", 0]);
    expect(it.store.canaries.get(key)).toBeUndefined();
  });

  test("is replaced by another canary from the good release on", async () => {
    const { pass } = await started();
    await it.apply(app("2"));
    await pass(10);
    const old = ids("1");
    await it.apply(app("3"));
    await pass(12);
    expect([versions(), shares()]).toEqual(["11113", "1:95 3:5"]);
    expect(ids("1")).toEqual(old);
  });
});

test("a moved tag is shared out like another spec, and an abort puts the image of before back", async () => {
  it = await world({ trafficOf: simulatedVisitors(() => ({})).trafficOf });
  it.runtime.addRemoteImage("app:1", { id: "sha256:one" });
  const canary = [{ weight: "25%", pause: "1h" }];
  await it.apply(app("1", { canary }, { image: "app:1" }));
  await it.settle();
  it.runtime.addRemoteImage("app:1", { id: "sha256:two" });
  await it.controller.restart(key, { wait: false, pull: true, actor: "ana" });
  await it.advance(10_000);
  const images = () =>
    containers()
      .map(({ imageId }) => imageId.replace("sha256:", ""))
      .sort();
  expect(images()).toEqual(["one", "one", "one", "one", "two"]);
  const isNew = new Set(containers().flatMap(({ id, imageId }) => (imageId === "sha256:two" ? [id] : [])));
  const weights = it.running.endpoints.list()?.map(({ id, weight = 0 }) => (isNew.has(id) ? weight : -weight)) ?? [];
  const fresh = weights.filter((weight) => weight > 0).reduce((sum, weight) => sum + weight, 0);
  const all = weights.reduce((sum, weight) => sum + Math.abs(weight), 0);
  expect(fresh / all).toBeCloseTo(0.25, 2);
  await tell("abort");
  await it.settle();
  expect([images(), outline()[0]]).toEqual([["one", "one", "one", "one"], "auto_rollback succeeded"]);
  expect(it.store.canaries.get(key)).toBeUndefined();
});

describe("the guard of a canary", () => {
  const guarded = { canary: steps, guard: { errors: "5%", over: "10s", min_requests: 20 } };

  test("sends a bad step back, and no container is started for it", async () => {
    const { pass } = await started({ 2: { share: 0.5 } });
    const old = ids("1");
    await it.apply(app("2", guarded));
    await pass(20);
    expect(outline().slice(0, 2)).toEqual(["auto_rollback succeeded", "apply failed"]);
    expect(it.store.releases.list(key)[1]?.error).toStartWith("GuardTripped: ");
    expect([ids("1"), shares()]).toEqual([old, "1:100"]);
  });

  test("counts the requests of a whole step, where a small share of few visitors says little in a moment", async () => {
    const { pass } = await started({ 2: { share: 0.5 } });
    const guard = { ...guarded.guard, min_requests: 80 };
    await it.apply(app("2", { canary: [{ weight: "5%", pause: "5m" }], guard }));
    // Five requests a second, and no more than fifty in the time that the guard looks back.
    await pass(14);
    expect(outline()[0]).toBe("apply running");
    await pass(10);
    expect(outline()[1]).toBe("apply failed");
    expect(it.store.releases.list(key)[1]?.error).toMatch(/^GuardTripped: \d+ of [89]\d requests failed/);
  });

  test("watches a step without a pause for its own time", async () => {
    const { pass } = await started();
    await it.apply(app("2", { ...guarded, canary: ["25%"] }));
    await pass(10);
    expect(shares()).toBe("1:75 2:25");
    expect(state()).toMatchObject({ left_seconds: expect.any(Number), traffic: { seconds: 10, new: { failed: 0 } } });
    await pass(60);
    expect([versions(), outline()[0]]).toEqual(["2222", "apply succeeded"]);
  });
});

describe("a person", () => {
  test("lets a step go on that waits for ever", async () => {
    const { pass } = await started();
    await it.apply(app("2", { canary: [{ weight: "25%", pause: "forever" }] }));
    await pass(400);
    expect([shares(), state()?.state]).toEqual(["1:75 2:25", "paused"]);
    expect((await tell("resume")).release).toBe(it.store.releases.list(key)[0]?.id);
    await it.settle();
    expect([versions(), outline()[0]]).toEqual(["2222", "apply succeeded"]);
    expect(it.events("rollout.resume")).toMatchObject([{ actor: "ana", detail: { step: 1 } }]);
  });

  test("pauses a step, which then has the rest of its time", async () => {
    const { pass } = await started();
    await it.apply(app("2"));
    await pass(12);
    const left = state()?.left_seconds ?? 0;
    await tell("pause");
    await pass(100);
    expect(state()).toMatchObject({ state: "paused", step: 1 });
    await tell("resume");
    await it.quiet();
    expect(state()?.left_seconds).toBeWithin(left - 2, left + 2);
    await pass(left + 4);
    expect(state()?.step).toBe(2);
  });

  test("promotes: all requests go to the new replicas before the old ones leave", async () => {
    const { pass } = await started();
    await it.apply(app("2", { canary: [{ weight: "5%", pause: "forever" }, "100%"] }));
    await pass(10);
    await tell("promote");
    await pass(10, () => {
      if (!versions().startsWith("1111")) expect(shares()).toBe("2:100");
    });
    await it.settle();
    expect([versions(), outline()[0]]).toEqual(["2222", "apply succeeded"]);
  });

  test("aborts: the old replicas serve alone at once, and the release has failed with that as the reason", async () => {
    const { pass } = await started();
    const old = ids("1");
    await it.apply(app("2"));
    await pass(10);
    const answer = await tell("abort");
    expect(shares()).toBe("1:100");
    expect(answer.release).toBe(it.store.releases.list(key)[0]?.id);
    await it.settle();
    expect(outline().slice(0, 2)).toEqual(["auto_rollback succeeded", "apply failed"]);
    const [, failed] = it.store.releases.list(key);
    expect(failed).toMatchObject({ error: "Aborted: by ana", reasons: ["Aborted"] });
    expect([ids("1"), versions()]).toEqual([old, "1111"]);
    expect((await it.controller.why(key)).failed_release).toMatchObject({ reasons: ["Aborted"] });
  });

  test("aborts a release without a canary, and one without auto_rollback, too", async () => {
    await started();
    await it.apply(app("2", { auto_rollback: false, min_ready: "1m" }));
    await it.advance(5_000);
    await tell("abort");
    await it.settle();
    expect([versions(), outline()[0]]).toEqual(["1111", "auto_rollback succeeded"]);
  });

  test("is told when there is nothing to do", async () => {
    await started();
    for (const command of ["pause", "resume", "promote", "abort"] as const) {
      await expect(tell(command)).rejects.toMatchObject({ code: "conflict" });
    }
    await it.apply(app("2", { canary: [{ weight: "5%", pause: "1m" }] }));
    await it.advance(10_000);
    await expect(tell("resume")).rejects.toThrow("it is not paused");
    await it.controller.rollback({ ...key, releaseId: undefined }, { actor: "ana" }).catch(() => undefined);
    await expect(
      it.controller.tellRollout({ ...key, name: "none" }, { command: "pause", actor: "ana" }),
    ).rejects.toMatchObject({
      code: "not_found",
    });
  });
});

describe("blue-green", () => {
  const blueGreen = { canary: ["100%"], keep: "10m" };

  test("is good at once, and keeps the old replicas without requests for a while", async () => {
    const { pass } = await started();
    await it.apply(app("2", blueGreen));
    await pass(10);
    expect([versions(), shares(), outline()[0]]).toEqual(["11112222", "2:100", "apply succeeded"]);
    expect(await it.status("deployment", "shop", "web")).toMatchObject({ phase: "ready", ready_replicas: 4 });
    expect(state()).toMatchObject({ state: "kept", replicas: { new: 4, old: 4 } });
    await pass(615, () => expect(shares()).toBe("2:100"));
    expect(versions()).toBe("2222");
    expect(state()).toBeUndefined();
  });

  test.each(["abort", "rollback"] as const)("%s within that time starts no container", async (way) => {
    const { pass } = await started();
    const old = ids("1");
    await it.apply(app("2", blueGreen));
    await pass(30);
    if (way === "abort") await tell("abort");
    else await it.controller.rollback({ ...key, releaseId: undefined }, { actor: "ana" });
    await it.settle();
    expect([ids("1"), versions(), shares()]).toEqual([old, "1111", "1:100"]);
    expect(outline()[0]).toBe("rollback succeeded");
  });

  test("kept replicas go when no replica is wanted", async () => {
    const { pass } = await started();
    await it.apply(app("2", blueGreen));
    await pass(10);
    await it.controller.scale({ ...key, replicas: "0" }, { actor: "ana" });
    await it.settle();
    expect(versions()).toBe("");
    await it.controller.scale({ ...key, replicas: "2" }, { actor: "ana" });
    await it.settle();
    expect([versions(), shares()]).toEqual(["22", "2:100"]);
  });

  test("kept replicas go when something else is applied, and never serve again", async () => {
    const { pass } = await started();
    await it.apply(app("2", blueGreen));
    await pass(10);
    await it.apply(app("3", {}));
    await pass(20, () => expect(shares()).not.toContain("1:"));
    expect(versions()).toBe("3333");
  });
});

describe("a server that is killed", () => {
  test("goes on at the same step with the time that was left", async () => {
    const { pass, forget } = await started();
    await it.apply(app("2", { canary: [{ weight: "25%", pause: "60s" }, "100%"] }));
    await pass(42);
    forget();
    await it.crash();
    await it.quiet();
    expect(shares()).toBe("1:75 2:25");
    expect(state()).toMatchObject({ step: 1 });
    expect(state()?.left_seconds).toBeWithin(15, 30);
    await pass(12);
    expect(shares()).toBe("1:75 2:25");
    await pass(30);
    expect([versions(), outline()[0]]).toEqual(["2222", "apply succeeded"]);
  });

  test("keeps a pause and the old replicas of a switch", async () => {
    const { pass } = await started();
    await it.apply(app("2", { canary: [{ weight: "25%", pause: "10s" }], keep: "5m" }));
    await pass(5);
    await tell("pause");
    await it.crash();
    await pass(60);
    expect([shares(), state()?.state]).toEqual(["1:75 2:25", "paused"]);
    await tell("resume");
    await pass(30);
    expect([versions(), state()?.state]).toEqual(["11112222", "kept"]);
    await it.crash();
    await pass(100, () => expect(shares()).toBe("2:100"));
    expect(versions()).toBe("11112222");
    await pass(210);
    expect(versions()).toBe("2222");
  });
});
