import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { createDockerEngine } from "../../../../../src/orchestration/engine/docker/docker.ts";
import type { Engine } from "../../../../../src/orchestration/engine/engine.ts";
import { type FakeEngine, refuse, sendJson, startFakeEngine } from "../../../../support/fake-engine.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { inspection } from "../../../../support/inspection.ts";
import { waitFor } from "../../../../support/wait.ts";
import { podRef } from "../../../../../src/orchestration/engine/identity.ts";

describe("waiting for an exit", () => {
  let engine: FakeEngine;
  let runtime: Engine;
  let state: string;
  let wait: (response: ServerResponse) => void;
  let inspect: (response: ServerResponse) => void;
  beforeEach(async () => {
    state = "running";
    inspect = (response) => sendJson(response, 200, inspection({ name: "a", state, exitCode: 9 }));
    engine = await startFakeEngine(({ path }, response) =>
      path.endsWith("/wait") ? wait(response) : inspect(response),
    );
    runtime = connect(60_000);
  });
  afterEach(async () => {
    runtime.close();
    await engine.close();
  });
  const connect = (waitHoldMs: number) => {
    return createDockerEngine({ host: engine.host, installationId: "i", names: naming(), timeouts: { waitHoldMs } });
  };
  const asked = () => engine.requests.filter(({ path }) => path.endsWith("/wait")).length;
  const never = () => new AbortController().signal;
  const exit = { exitCode: 9, oomKilled: false, error: "", finishedAt: undefined };

  test.each([
    ["before", false],
    ["after", true],
  ])("a connection that breaks %s the engine has begun to answer is opened anew", async (_when, begun) => {
    wait = (response) => {
      if (asked() === 2) state = "exited";
      if (begun) response.writeHead(200).write("{");
      setTimeout(() => response.destroy(), 20);
    };
    expect(await runtime.wait(podRef("a"), never())).toEqual(exit);
    expect(asked()).toBe(2);
  });

  test("an engine that never answers is asked for the state now and then", async () => {
    wait = () => {
      if (asked() === 2) state = "exited";
    };
    const hasty = connect(100);
    expect(await hasty.wait(podRef("a"), never())).toEqual(exit);
    hasty.close();
  });

  test("an engine that is away is waited for, and what goes wrong otherwise is told", async () => {
    wait = (response) => response.destroy();
    inspect = (response) => {
      if (engine.requests.length < 3) return refuse(response, 503, "going down");
      refuse(response, 500, "broken");
    };
    const failure = await expectFailure(runtime.wait(podRef("a"), never()), "conflict");
    expect(failure.message).toContain("broken");
  });

  test("the state counts, not the answer: one that was started again is waited for on", async () => {
    wait = (response) => {
      if (asked() === 2) state = "exited";
      sendJson(response, 200, { StatusCode: 1 });
    };
    expect(await runtime.wait(podRef("a"), never())).toEqual(exit);
    expect(asked()).toBe(2);
  });

  test.each(["restarting", "paused", "removing"])("one that is %s has not ended yet", async (passing) => {
    state = passing;
    wait = (response) => {
      state = "exited";
      sendJson(response, 200, { StatusCode: 1 });
    };
    expect(await runtime.wait(podRef("a"), never())).toEqual(exit);
  });

  test("an abort ends the question, and so does the end of the runtime", async () => {
    let gone = 0;
    wait = (response) => {
      response.on("close", () => {
        gone += 1;
      });
    };
    const stop = new AbortController();
    const waiting = runtime.wait(podRef("a"), stop.signal);
    await waitFor("the question", () => asked() === 1);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await waitFor("the connection to end", () => gone === 1);
    const other = runtime.wait(podRef("a"), never());
    await waitFor("the question", () => asked() === 2);
    runtime.close();
    await expectFailure(other, "unavailable");
  });
});
