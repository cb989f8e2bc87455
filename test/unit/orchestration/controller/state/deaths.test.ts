import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { deployment } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
  await it.apply(deployment("shop", "web"));
  await it.settle();
});
afterEach(() => it.close());

const key = keyOf("deployment", "shop", "web");
const name = () => it.containers()[0] ?? "";
const deaths = () => it.store.deaths.list(key);
const refusal = new Failure("conflict", "logging driver cannot be read", { reason: "Other" });

describe("a program that a mount refuses", () => {
  const facts = { user: { uid: 1000, gid: 1000 }, folder: { uid: 0, gid: 0, mode: 0o755, isEmpty: true } };
  const hint =
    "the program runs as 1000:1000; the volume at /data belongs to 0:0 and is empty. " +
    'Set volume_owner: "1000:1000" in the manifest, then: berth apply -f FILE';

  async function refused(): Promise<void> {
    await it.apply(deployment("shop", "web", { volumes: ["data:/data"] }));
    await it.settle();
    const [container] = it.runtime.containers();
    if (container === undefined) throw new Error("no container");
    for (const id of [container.id, container.name]) it.runtime.setAccess(id, "/data", facts);
    it.runtime.writeLog(container.name, "open /data/db: permission denied\n");
    it.runtime.kill(container.name, 1);
  }

  test("gets a hint in why and describe, kept when its container is gone", async () => {
    await refused();
    expect((await it.describe("deployment", "shop", "web")).hints).toEqual([hint]);
    expect((await it.controller.why({ kind: "deployment", scope: "shop", name: "web" })).death?.hint).toBe(hint);
    await it.settle();
    expect(deaths()[0]?.hint).toBe(hint);
  });

  test("gets none where the engine cannot tell", async () => {
    it.runtime.fail("folderAccess", refusal);
    await refused();
    await it.settle();
    expect(deaths()[0]).toMatchObject({ logs: ["open /data/db: permission denied"] });
    expect(deaths()[0]).not.toHaveProperty("hint");
    expect(await it.describe("deployment", "shop", "web")).not.toHaveProperty("hints");
  });
});

describe("the death of a replica", () => {
  test("is kept with its exit code and last words when it is healed", async () => {
    const { id } = it.runtime.containers()[0] ?? { id: "" };
    it.runtime.writeLog(name(), "cannot allocate\nbye\n");
    it.runtime.kill(name(), 139);
    await it.settle();
    expect(deaths()).toMatchObject([
      { containerId: id, exitCode: 139, oomKilled: false, logs: ["cannot allocate", "bye"], image: "berth-fixture:1" },
    ]);
    expect(deaths()[0]?.reason).toBe("it stopped with exit code 139");
    expect((await it.controller.listPods({}, { detail: false, spec: false })).pods[0]?.restarts).toBe(1);
  });

  test("keeps the last hundred lines, and not more than 64 KiB of them", async () => {
    it.runtime.writeLog(name(), Array.from({ length: 300 }, (_, line) => `${"x".repeat(2_000)} ${line}\n`).join(""));
    it.runtime.kill(name());
    await it.settle();
    const [death] = deaths();
    expect(death?.logs.at(-1)).toEndWith(" 299");
    expect(death?.logs.length).toBeLessThanOrEqual(100);
    expect(death?.logs.join("\n").length).toBeLessThanOrEqual(64 * 1024);
  });

  test("is kept without its words where they cannot be had, and holds nothing up", async () => {
    it.runtime.fail("logs", refusal);
    it.runtime.kill(name());
    await it.settle();
    expect(it.runtime.containers()).toMatchObject([{ state: "running" }]);
    expect(deaths()).toMatchObject([{ exitCode: 137, logs: ["(output lost: logging driver cannot be read)"] }]);
  });

  test("of one that was well is none: it is only replaced", async () => {
    await it.apply(deployment("shop", "web", { env: { V: "2" } }));
    await it.settle();
    expect(deaths()).toEqual([]);
  });

  test("stays known when the resource is gone", async () => {
    it.runtime.kill(name());
    await it.settle();
    await it.controller.deleteManifest(key, { prune: false, actor: "ana" });
    await it.advance(10_000);
    expect([it.containers(), deaths().length]).toEqual([[], 1]);
  });

  test("is kept twenty times, the newest", async () => {
    for (let time = 0; time < 25; time++) {
      it.runtime.kill(name(), time + 1);
      await it.advance(70_000);
    }
    expect(deaths().map(({ exitCode }) => exitCode)).toEqual(Array.from({ length: 20 }, (_, index) => 25 - index));
  });
});
