import { beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../src/base/wire/failure.ts";
import { createMemoryRuntime, type MemoryRuntime } from "../../support/memory-runtime.ts";
import type { PodEvent } from "../../../src/orchestration/engine/pod.ts";
import { containerSpec } from "../../support/container-spec.ts";
import { expectFailure } from "../../support/failure.ts";
import { podRef } from "../../../src/orchestration/engine/identity.ts";

const image = "app:1";
let runtime: MemoryRuntime;
beforeEach(() => {
  runtime = createMemoryRuntime();
  runtime.addImage(image, { env: { FROM: "image", PATH: "/bin" } });
});
const run = async (name: string, change = {}) => {
  const id = await runtime.create(containerSpec({ name, image, ...change }));
  await runtime.start(id);
  return id;
};
const state = async (name: string) => (await runtime.inspect(podRef(name)))?.state;

describe("what happens to containers without us", () => {
  const always = { restart: { name: "unless-stopped", maximumRetryCount: 0 } };

  test("a kill by hand stays, whatever the policy", async () => {
    await run("a", always);
    runtime.kill("a");
    expect(await runtime.inspect(podRef("a"))).toMatchObject({
      state: "exited",
      exitCode: 137,
      restartCount: 0,
      pid: undefined,
    });
    await run("b");
    runtime.kill("b", 9);
    expect((await runtime.inspect(podRef("b")))?.exitCode).toBe(9);
  });

  test("a crash is restarted by the policy, and counted", async () => {
    await run("a", always);
    const before = await runtime.inspect(podRef("a"));
    runtime.crash("a", 1);
    const after = await runtime.inspect(podRef("a"));
    expect(after).toMatchObject({ state: "running", restartCount: 1 });
    expect(after?.pid).not.toBe(before?.pid);
  });

  test("on-failure counts its tries and leaves a clean end alone", async () => {
    const policy = { restart: { name: "on-failure", maximumRetryCount: 2 } };
    await run("a", policy);
    runtime.crash("a");
    runtime.crash("a");
    expect(await state("a")).toBe("running");
    runtime.crash("a", 3);
    expect(await runtime.inspect(podRef("a"))).toMatchObject({ state: "exited", exitCode: 3, restartCount: 2 });
    await run("b", policy);
    runtime.crash("b", 0);
    expect(await state("b")).toBe("exited");
  });

  test("without a policy a crash stays, and tells of the memory", async () => {
    await run("a");
    runtime.crash("a", 137, { oomKilled: true });
    expect(await runtime.inspect(podRef("a"))).toMatchObject({ state: "exited", oomKilled: true });
    await runtime.start(podRef("a"));
    expect((await runtime.inspect(podRef("a")))?.oomKilled).toBe(false);
  });

  test("stopped, removed and renamed by hand", async () => {
    await run("a", always);
    runtime.stopByHand("a");
    expect(await state("a")).toBe("exited");
    runtime.renameByHand("a", "b");
    expect(await state("a")).toBeUndefined();
    runtime.removeByHand("b");
    expect(await state("b")).toBeUndefined();
  });

  test("a volume that goes by hand goes although it is used", async () => {
    await runtime.ensureVolume("v", {});
    await run("a", { mounts: [{ type: "volume", source: "v", target: "/v", readOnly: false }] });
    runtime.removeVolumeByHand("v");
    expect(await runtime.inspectVolume("v")).toBeUndefined();
  });

  test("nothing of it is in the log of calls", async () => {
    await run("a");
    runtime.calls.length = 0;
    runtime.kill("a");
    runtime.removeByHand("a");
    expect(runtime.calls).toEqual([]);
  });
});

describe("faults", () => {
  const full = new Failure("conflict", "no space", { reason: "DiskLow" });

  test("fail as often as told, then work", async () => {
    runtime.fail("create", full, 2);
    const create = () => runtime.create(containerSpec({ name: "a", image }));
    await expect(create()).rejects.toBe(full);
    await expect(create()).rejects.toBe(full);
    expect(await runtime.observe()).toEqual([]);
    await create();
  });

  test("fail until told otherwise", async () => {
    runtime.fail("observe", full);
    for (let index = 0; index < 5; index++) await expect(runtime.observe()).rejects.toBe(full);
    runtime.fail("observe", undefined);
    expect(await runtime.observe()).toEqual([]);
  });

  test("an engine that is down answers nothing, breaks its streams, and loses nothing", async () => {
    await run("a");
    const next = runtime
      .events(new AbortController().signal, () => undefined)
      [Symbol.asyncIterator]()
      .next();
    await runtime.observe();
    runtime.engineDown();
    await expectFailure(next, "unavailable", "EngineUnavailable");
    await expectFailure(runtime.observe(), "unavailable", "EngineUnavailable");
    await expectFailure(runtime.info(), "unavailable", "EngineUnavailable");
    await expectFailure(
      runtime
        .events(new AbortController().signal, () => undefined)
        [Symbol.asyncIterator]()
        .next(),
      "unavailable",
    );
    runtime.engineUp();
    expect(await state("a")).toBe("running");
  });

  test("delays pass on the given clock", async () => {
    const slept: number[] = [];
    const clock = { now: () => 7, sleep: async (ms: number) => void slept.push(ms) };
    runtime = createMemoryRuntime({ clock });
    runtime.delay("observe", 500);
    await runtime.observe();
    runtime.delay("observe", 0);
    await runtime.observe();
    expect(slept).toEqual([500]);
    runtime.addImage(image);
    await run("a");
    expect(await runtime.inspect(podRef("a"))).toMatchObject({ createdAt: 7, startedAt: 7 });
  });

  test("every call is logged in order, failed ones too", async () => {
    runtime.fail("start", full, 1);
    const id = await runtime.create(containerSpec({ name: "a", image }));
    await runtime.start(podRef("a")).catch(() => undefined);
    await runtime.observe({ kind: "deployment", name: "web" });
    await runtime.ensureNetwork("berth0");
    await runtime.remove(id);
    expect(runtime.calls).toEqual([
      "create a",
      "start a",
      "observe deployment/web",
      "ensureNetwork berth0",
      `remove ${id.id}`,
    ]);
  });
});

describe("images", () => {
  test("the environment of the image is beneath that of the container", async () => {
    await run("a", { env: { FROM: "spec" } });
    expect((await runtime.inspect(podRef("a")))?.env).toEqual({ FROM: "spec", PATH: "/bin" });
  });

  test("a pull brings what the registry has, by tag and by digest, and moves the tag", async () => {
    runtime.addRemoteImage("r.example/app:1", { digest: `sha256:${"1".repeat(64)}`, id: `sha256:${"a".repeat(64)}` });
    const first = await runtime.pull("r.example/app:1", undefined);
    expect(first).toMatchObject({ tags: ["r.example/app:1"], digests: [`r.example/app@sha256:${"1".repeat(64)}`] });
    runtime.addRemoteImage("r.example/app:1", { digest: `sha256:${"2".repeat(64)}`, id: `sha256:${"b".repeat(64)}` });
    const second = await runtime.pull("r.example/app:1", undefined);
    expect(second.id).not.toBe(first.id);
    expect((await runtime.inspectImage(first.id))?.tags).toEqual([]);
    expect((await runtime.pull(first.digests[0] ?? "", undefined)).id).toBe(first.id);
    expect((await runtime.inspectImage("r.example/app:1"))?.id).toBe(second.id);
  });

  test("a registry that wants credentials gets the right ones", async () => {
    runtime.addRemoteImage("r.example/app", { auth: { username: "ana", password: "x" } });
    const auth = { username: "ana", password: "x", serverAddress: "r.example" };
    await expectFailure(runtime.pull("r.example/app", undefined), "conflict", "RegistryAuth");
    await expectFailure(runtime.pull("r.example/app", { ...auth, password: "y" }), "conflict", "RegistryAuth");
    expect((await runtime.pull("r.example/app:latest", auth)).env).toEqual({});
  });

  test("the last name and the image go together, one of several goes alone", async () => {
    const { id } = runtime.addImage("app:2", { id: `sha256:${"c".repeat(64)}` });
    runtime.addImage("app:3", { id });
    await runtime.removeImage("app:2");
    expect((await runtime.inspectImage(id))?.tags).toEqual(["app:3"]);
    await runtime.removeImage("app:3");
    expect(await runtime.inspectImage(id)).toBeUndefined();
  });
});

test("ids, addresses and digests are the same in every run", async () => {
  const facts = async () => {
    runtime = createMemoryRuntime({ clock: { now: () => 1, sleep: async () => undefined } });
    runtime.addImage(image);
    await runtime.ensureNetwork("berth0");
    await run("a", { networks: [{ name: "berth0", aliases: [] }] });
    return { ...(await runtime.inspect(podRef("a"))) };
  };
  expect(await facts()).toEqual(await facts());
});

test("rows that were handed out stay as they were", async () => {
  await run("a");
  const [row] = await runtime.observe();
  runtime.kill("a");
  expect(row?.state).toBe("running");
  expect((await runtime.observe())[0]?.state).toBe("exited");
});

test("an out-of-memory kill is an event before the death", async () => {
  const seen: PodEvent[] = [];
  const abort = new AbortController();
  await run("a");
  const opened = Promise.withResolvers<void>();
  const done = (async () => {
    for await (const event of runtime.events(abort.signal, opened.resolve)) {
      seen.push(event);
      if (event.action === "die") abort.abort();
    }
  })();
  await opened.promise;
  runtime.crash("a", 137, { oomKilled: true });
  await done;
  expect(seen.map(({ action, exitCode }) => [action, exitCode])).toEqual([
    ["oom", undefined],
    ["die", 137],
  ]);
});

test("free space is what it was told to be", async () => {
  runtime.setFreeBytes(5);
  expect(await runtime.freeBytes()).toBe(5);
  runtime.setFreeBytes(undefined);
  expect(await runtime.freeBytes()).toBeUndefined();
});

test("ten thousand containers are listed, and one resource among them found", async () => {
  const labels = (name: string) => ({ "berth.kind": "deployment", "berth.scope": "s", "berth.name": name });
  for (let index = 0; index < 10_000; index++) {
    await runtime.create(containerSpec({ name: `n${index}`, image, labels: labels(`n${index}`) }));
  }
  expect(await runtime.observe()).toHaveLength(10_000);
  const found = await runtime.observe({ kind: "deployment", scope: "s", name: "n9999" });
  expect(found.map(({ name }) => name)).toEqual(["n9999"]);
});
