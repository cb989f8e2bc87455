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
