import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { deployment } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
let full: boolean;
let refusal: () => Failure;
beforeEach(async () => {
  full = false;
  refusal = () => new Failure("storage_full", "no space left");
  it = await world({
    wrapStore: (store) => ({
      ...store,
      async write(change, options) {
        if (full) throw refusal();
        return store.write(change, options);
      },
    }),
  });
});
afterEach(() => it.close());

const key = keyOf("deployment", "shop", "web");
const status = () => it.status("deployment", "shop", "web");
const told = (text: string) => it.logged.filter((line) => line.includes(text)).length;

describe("a full disk", () => {
  beforeEach(async () => {
    await it.apply(deployment("shop", "web", { replicas: 2 }));
    await it.settle();
    await it.advance(60_000);
    full = true;
  });

  test("keeps no container from being started or made again, and is told once", async () => {
    const [killed = "", removed = ""] = it.containers();
    it.runtime.kill(killed);
    it.runtime.removeByHand(removed);
    await it.advance(30_000);
    expect(it.runtime.containers().map(({ state }) => state)).toEqual(["running", "running"]);
    expect(it.containers()).not.toContain(removed);
    expect(await status()).toMatchObject({ phase: "ready", ready_replicas: 2 });
    expect((await status()).last_reconcile_error).toBeUndefined();
    expect(told("disk is full")).toBe(1);
    expect(told("disk can be written again")).toBe(0);
  });

  test.each(["EROFS", "EIO", "SQLITE_IOERR_WRITE", "SQLITE_READONLY"])("is like one that answers %s", async (code) => {
    refusal = () => new Failure("unavailable", "no", { cause: Object.assign(new Error(code), { code }) });
    const [killed = "", removed = ""] = it.containers();
    it.runtime.kill(killed);
    it.runtime.removeByHand(removed);
    await it.advance(30_000);
    expect(it.runtime.containers().map(({ state }) => state)).toEqual(["running", "running"]);
    expect(await status()).toMatchObject({ phase: "ready", ready_replicas: 2 });
    expect(told("disk cannot be written")).toBe(1);
  });

  test("leaves what describe says to memory, and with room it is stored", async () => {
    it.runtime.fail("start", new Failure("conflict", "no such program"));
    it.runtime.kill(it.containers()[0] ?? "");
    await it.advance(60_000);
    expect(await status()).toMatchObject({ phase: "failing", last_reconcile_error: "no such program" });
    expect(it.store.status.get(key)).toMatchObject({ phase: "ready" });
    full = false;
    await it.advance(120_000);
    expect(it.store.status.get(key)).toMatchObject({ phase: "failing" });
    it.runtime.fail("start", undefined);
    await it.settle();
    expect([told("disk is full"), told("disk can be written again")]).toEqual([1, 1]);
  });

  test("that fills up again is told again", async () => {
    it.runtime.kill(it.containers()[0] ?? "");
    await it.advance(30_000);
    full = false;
    it.runtime.kill(it.containers()[0] ?? "");
    await it.advance(30_000);
    full = true;
    it.runtime.kill(it.containers()[0] ?? "");
    await it.advance(30_000);
    expect([told("disk is full"), told("disk can be written again")]).toEqual([2, 1]);
  });
});

test("what memory said of a resource that is deleted does not greet the next one of its name", async () => {
  await it.apply(deployment("shop", "web"));
  await it.settle();
  full = true;
  it.runtime.kill(it.containers()[0] ?? "");
  await it.quiet();
  full = false;
  await it.controller.deleteManifest({ kind: "deployment", scope: "shop", name: "web" }, { prune: false, actor: "a" });
  await it.settle();
  it.runtime.engineDown();
  await it.apply(deployment("shop", "web"));
  expect((await it.describe("deployment", "shop", "web")).status).not.toHaveProperty("phase");
});
