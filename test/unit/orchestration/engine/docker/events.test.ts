import { afterEach, describe, expect, test } from "bun:test";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { createDockerEngine } from "../../../../../src/orchestration/engine/docker/docker.ts";
import { containerEvent } from "../../../../../src/orchestration/engine/docker/events.ts";
import type { Engine } from "../../../../../src/orchestration/engine/engine.ts";
import type { PodEvent } from "../../../../../src/orchestration/engine/pod.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { type Answer, type FakeEngine, refuse, startFakeEngine } from "../../../../support/fake-engine.ts";

const names = naming("berth");

let fake: FakeEngine;
afterEach(() => fake?.close());

const runtimeOn = async (answer: Answer, timeouts = {}): Promise<Engine> => {
  fake = await startFakeEngine(answer);
  return createDockerEngine({ host: fake.host, installationId: "i1", names: naming("berth"), timeouts });
};
const die = {
  Type: "container",
  Action: "die",
  Actor: { ID: "c1", Attributes: { name: "web.1", image: "nginx", exitCode: "137", "berth.kind": "deployment" } },
  time: 1_700_000_000,
  timeNano: 1_700_000_000_123_456_800,
};
const collect = async (runtime: Engine, seen: PodEvent[] = [], signal = new AbortController().signal) => {
  for await (const event of runtime.events(signal, () => undefined)) seen.push(event);
  return seen;
};

describe("the stream", () => {
  test("asks for containers of this installation, from a moment before it was opened", async () => {
    const runtime = await runtimeOn((_request, response) => response.writeHead(200).end());
    await expectFailure(collect(runtime), "unavailable", "EngineUnavailable");
    const { query } = fake.requests[0] ?? { query: new URLSearchParams() };
    expect(JSON.parse(query.get("filters") ?? "")).toEqual({ type: ["container"], label: ["berth.installation=i1"] });
    expect(Math.abs(Number(query.get("since")) * 1000 - Date.now())).toBeLessThan(60_000);
  });

  test("takes rows however they are cut, then says that it broke", async () => {
    const text = `${JSON.stringify(die)}\n${JSON.stringify({ ...die, Action: "start" })}\n`;
    const runtime = await runtimeOn(async (_request, response) => {
      response.writeHead(200);
      for (let at = 0; at < text.length; at += 40) {
        response.write(text.slice(at, at + 40));
        await Bun.sleep(1);
      }
      response.end();
    });
    const seen: PodEvent[] = [];
    await expectFailure(collect(runtime, seen), "unavailable", "EngineUnavailable");
    expect(seen.map(({ action }) => action)).toEqual(["die", "start"]);
  });

  test("says that it broke when the connection is cut in the middle of a row", async () => {
    const runtime = await runtimeOn((_request, response) => {
      response.writeHead(200);
      response.write('{"Action":');
      setTimeout(() => response.destroy(), 5);
    });
    await expectFailure(collect(runtime), "unavailable", "EngineUnavailable");
  });

  test("says that it broke when a row is not JSON", async () => {
    const runtime = await runtimeOn((_request, response) => response.writeHead(200).end("<html>\n"));
    await expectFailure(collect(runtime), "unavailable", "EngineUnavailable");
  });

  test("is not open before the engine has answered", async () => {
    const opened: string[] = [];
    const runtime = await runtimeOn((_request, response) => refuse(response, 503, "not yet"));
    const events = runtime.events(new AbortController().signal, () => opened.push("open"));
    await expectFailure(events[Symbol.asyncIterator]().next(), "unavailable");
    expect(opened).toEqual([]);
  });

  test("has a deadline for the engine's answer, none afterwards", async () => {
    const late = await runtimeOn(() => undefined, { callMs: 500 });
    await expectFailure(collect(late), "timeout", "Timeout");
    await fake.close();
    const abort = new AbortController();
    const quiet = await runtimeOn(
      (_request, response) => {
        response.writeHead(200).flushHeaders();
        setTimeout(() => response.write(`${JSON.stringify(die)}\n`), 3_000);
      },
      { callMs: 2_500 },
    );
    for await (const { action } of quiet.events(abort.signal, () => undefined)) {
      expect(action).toBe("die");
      abort.abort();
    }
  });

  test("ends at once when aborted while the engine is silent, and drops the connection", async () => {
    const dropped = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const runtime = await runtimeOn((_request, response) => {
      response.on("close", dropped.resolve);
      arrived.resolve();
    });
    const abort = new AbortController();
    const ended = collect(runtime, [], abort.signal);
    await arrived.promise;
    abort.abort();
    expect(await ended).toEqual([]);
    await dropped.promise;
  });

  test("drops the connection when its reader leaves", async () => {
    const dropped = Promise.withResolvers<void>();
    const runtime = await runtimeOn((_request, response) => {
      response.on("close", dropped.resolve);
      response.writeHead(200);
      response.write(`${JSON.stringify(die)}\n`);
    });
    for await (const _ of runtime.events(new AbortController().signal, () => undefined)) break;
    await dropped.promise;
  });

  test("breaks when the runtime is closed", async () => {
    const runtime = await runtimeOn((_request, response) => response.writeHead(200).flushHeaders());
    const events = runtime.events(new AbortController().signal, () => runtime.close());
    await expectFailure(events[Symbol.asyncIterator]().next(), "unavailable", "EngineUnavailable");
  });
});

describe("containerEvent", () => {
  test("takes labels, name, exit code and time", () => {
    expect(containerEvent(die, names)).toEqual({
      action: "die",
      node: "local",
      id: "c1",
      name: "web.1",
      identity: undefined,
      exitCode: 137,
      at: 1_700_000_000_123,
    });
  });

  test("cuts the command of an exec, keeps the health", () => {
    const action = (Action: string) => containerEvent({ ...die, Action }, names)?.action;
    expect(action("exec_start: sh -c 'login --password s3cret'\nmore")).toBe("exec_start");
    expect(action("health_status: unhealthy")).toBe("health_status: unhealthy");
  });

  test("falls back to seconds, and does without attributes", () => {
    expect(containerEvent({ Action: "start", Actor: { ID: "c1" }, time: 5 }, names)).toMatchObject({
      at: 5_000,
      name: "",
      identity: undefined,
    });
  });

  test.each([null, 1, "x", {}, { Action: "start" }, { Actor: { ID: "c1" } }])("%j is none", (row) => {
    expect(containerEvent(row, names)).toBeUndefined();
  });
});
