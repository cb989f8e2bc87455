import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "bun:test";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { createDockerEngine } from "../../../../../src/orchestration/engine/docker/docker.ts";
import type { ExecSpec } from "../../../../../src/orchestration/engine/session.ts";
import { type FakeEngine, refuse, sendJson, startFakeEngine } from "../../../../support/fake-engine.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { inspection } from "../../../../support/inspection.ts";
import { podRef } from "../../../../../src/orchestration/engine/identity.ts";

const spec: ExecSpec = { command: ["sh", "-c", "x"], env: ["A=1"], tty: true, interactive: true };

/** What an exec asks of the engine, which goes no further than to refuse the start. */
describe("the requests of an exec", () => {
  let engine: FakeEngine;
  afterEach(() => engine.close());
  const requests = async (apiVersion: string, change: Partial<ExecSpec>) => {
    engine = await startFakeEngine(({ path }, response) => {
      if (path.endsWith("/containers/a/json")) sendJson(response, 200, inspection({ name: "a" }));
      else if (path.endsWith("/exec")) sendJson(response, 201, { Id: "e1" });
      else refuse(response, 409, "not today");
    });
    engine.version.ApiVersion = apiVersion;
    const runtime = createDockerEngine({ host: engine.host, installationId: "i", names: naming() });
    const failure = await expectFailure(runtime.exec(podRef("a"), { ...spec, ...change }), "conflict");
    expect(failure.message).toBe('cannot run "sh" in container "a": not today');
    runtime.close();
    const [create, start] = engine.requests.filter(({ path }) => path.includes("exec"));
    expect(create?.url).not.toContain("?");
    return { create: JSON.parse(create?.body ?? ""), start: JSON.parse(start?.body ?? ""), startUrl: start?.url };
  };

  test("carry all that was asked for", async () => {
    const { create, start, startUrl } = await requests("1.41", { workdir: "/w", user: "u" });
    expect(create).toMatchObject({
      Cmd: ["sh", "-c", "x"],
      Tty: true,
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      WorkingDir: "/w",
      User: "u",
    });
    expect(start).toEqual({ Detach: false, Tty: true });
    expect(startUrl).toBe("/v1.41/exec/e1/start");
  });

  test("carry a mark where the processes cannot be reached from here", async () => {
    const { create } = await requests("1.41", {});
    expect(create.Env).toEqual(["A=1", expect.stringMatching(/^BERTH_EXEC=[0-9a-f-]{36}$/)]);
  });

  test("carry the size of the terminal from 1.42 on, rows first", async () => {
    const size = { cols: 99, rows: 33 };
    const known = await requests("1.42", { size });
    expect([known.create.ConsoleSize, known.start.ConsoleSize]).toEqual([
      [33, 99],
      [33, 99],
    ]);
    await engine.close();
    expect((await requests("1.41", { size })).create).not.toHaveProperty("ConsoleSize");
    await engine.close();
    expect((await requests("1.42", { size, tty: false })).create).not.toHaveProperty("ConsoleSize");
  });
});

describe("the size of the terminal before 1.42", () => {
  let engine: FakeEngine;
  afterEach(() => engine.close());

  test("follows the start, before anything looks for the process", async () => {
    engine = await startFakeEngine(({ path }, response) => {
      if (path.endsWith("/containers/a/json")) sendJson(response, 200, inspection({ name: "a" }));
      else if (path.endsWith("/exec")) sendJson(response, 201, { Id: "e1" });
      else if (path.endsWith("/exec/e1/json")) sendJson(response, 200, { Running: true, ExitCode: null, Pid: 7 });
      else if (path.endsWith("/resize")) response.writeHead(200).end();
      else {
        response.writeHead(200);
        response.flushHeaders();
      }
    });
    engine.version.ApiVersion = "1.41";
    const runtime = createDockerEngine({ host: engine.host, installationId: "i", names: naming() });
    await runtime.exec(podRef("a"), { ...spec, size: { cols: 99, rows: 33 } });
    runtime.close();
    const asked = engine.requests.flatMap(({ url = "" }) =>
      url.includes("/exec/") ? [url.replace("/v1.41", "")] : [],
    );
    expect(asked.slice(0, 3)).toEqual(["/exec/e1/start", "/exec/e1/resize?h=33&w=99", "/exec/e1/json"]);
  });
});

/** Each look costs the engine CPU: see `started`. */
describe("the looks for the process of an exec", () => {
  let engine: FakeEngine;
  afterEach(() => engine.close());
  const looks = async (begin: (response: ServerResponse, run: () => void) => void) => {
    let pid = 0;
    engine = await startFakeEngine(({ path }, response) => {
      if (path.endsWith("/containers/a/json")) sendJson(response, 200, inspection({ name: "a" }));
      else if (path.endsWith("/exec")) sendJson(response, 201, { Id: "e1" });
      else if (path.endsWith("/exec/e1/json")) sendJson(response, 200, { Running: true, ExitCode: null, Pid: pid });
      else {
        response.writeHead(200);
        response.flushHeaders();
        begin(response, () => (pid = 7));
      }
    });
    const runtime = createDockerEngine({ host: engine.host, installationId: "i", names: naming() });
    await runtime.exec(podRef("a"), spec);
    runtime.close();
    return engine.requests.filter(({ path }) => path.endsWith("/exec/e1/json")).length;
  };

  test("are one where its output tells that it runs", async () => {
    const count = await looks((response, run) => {
      run();
      response.write("up");
    });
    expect(count).toBe(1);
  });

  test("are few where it says nothing", async () => {
    const count = await looks((_response, run) => setTimeout(run, 250));
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(7);
  });
});
