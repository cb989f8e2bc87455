import { openGate } from "../../../support/open-gate.ts";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createController } from "../../../../src/orchestration/controller/create.ts";
import { naming } from "../../../../src/orchestration/core/naming.ts";
import { deployment } from "../../../support/manifests.ts";
import { type World, world } from "../../../support/world.ts";

const answer = async () => new Response("fine", { status: 200 });
let it: World;
beforeEach(async () => {
  it = await world({ fetch: answer });
  await it.apply(deployment("shop", "web", { probes: { readiness: { http_get: { path: "/healthz", port: 8080 } } } }));
  await it.settle();
});
afterEach(() => it.close());

const pod = () => it.containers()[0] ?? "";
const ready = (name: string) => it.controller.podReady(name);

describe("a question about readiness", () => {
  test("while no server has ever reached the engine is answered with not ready, and why", async () => {
    const name = pod();
    await it.stop();
    it.runtime.engineDown();
    await it.restart();
    expect(ready(name)).toMatchObject({
      ready: false,
      startup_passed: false,
      reason: expect.stringContaining("engine"),
    });
    it.runtime.engineUp();
    await it.settle();
    expect(ready(name).ready).toBe(true);
    expect(() => ready("shop-web.nobody")).toThrow("no pod");
  });

  test("about a pod that is stopped is not answered with what its probe said before", async () => {
    const name = pod();
    expect(ready(name)).toMatchObject({ ready: true, readiness_phase: "healthy" });
    await it.controller.stopPod(name, { freeze: true, actor: "ana" });
    await it.quiet();
    const stopped = { ready: false, readiness_phase: "unknown", reason: "the container is exited" };
    expect(ready(name)).toMatchObject(stopped);
    await it.restart();
    expect(ready(name)).toMatchObject(stopped);
  });
});

test("a first look takes in what runs before anybody asks, and is no error without an engine", async () => {
  const name = pod();
  const parts = {
    ...it,
    names: naming(),
    randomBytes: () => new Uint8Array(5),
    fetch: answer,
    download: async () => Buffer.from(""),
    statsIntervalMs: 0,
  };
  const make = () =>
    createController({
      gate: openGate,
      ...parts,
      sendWebhook: async () => ({ ok: true }) as never,
      about: { version: "t", dockerHost: "", startedAt: 0 },
    });
  it.runtime.engineDown();
  const blind = make();
  await blind.firstLook(1_000);
  expect(blind.controller.podReady(name)).toMatchObject({ ready: false });
  it.runtime.engineUp();
  const seeing = make();
  await seeing.firstLook(1_000);
  expect(seeing.controller.podReady(name)).toMatchObject({ ready: true });
});
