import { describe, expect, test } from "bun:test";
import { Failure } from "../../src/base/wire/failure.ts";
import type { Controller } from "../../src/orchestration/controller/controller.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { createLog } from "../../src/base/words/log.ts";
import { createRecordingController } from "../support/recording-controller.ts";

function start(overrides: Partial<Controller> = {}) {
  const { controller, calls } = createRecordingController(overrides);
  const app = createOrchestrationApp({
    controller,
    version: "1",
    names: naming(),
    log: createLog(() => {}, "error"),
    limits: { jsonDepthMax: 64, eventsPageMax: 1_000, execInputBytesMax: 1_000, logPingMs: 25_000 },
  });
  const ask = async (method: string, target: string, body?: string) => {
    const init = { method, headers: { "X-Berth-Actor": "ana" }, ...(body === undefined ? {} : { body }) };
    const response = await app.fetch(new Request(`http://localhost${target}`, init));
    return { status: response.status, json: JSON.parse(await response.text()) };
  };
  return { ask, calls };
}

const actor = "ana";

describe("jobs over HTTP", () => {
  test.each<[string, string, string, unknown[]]>([
    [
      "POST",
      "/jobs/run?scope=s&name=report",
      "runJob",
      [
        { kind: "job", scope: "s", name: "report" },
        { wait: true, actor },
      ],
    ],
    [
      "POST",
      "/jobs/run?name=report&wait=false",
      "runJob",
      [
        { kind: "job", name: "report" },
        { wait: false, actor },
      ],
    ],
    [
      "POST",
      "/cronjobs/run?name=nightly",
      "runJob",
      [
        { kind: "cronjob", name: "nightly" },
        { wait: true, actor },
      ],
    ],
    ["GET", "/jobs/runs", "listRuns", [{}, { limit: 100 }]],
    [
      "GET",
      "/jobs/runs?kind=job&scope=s&name=a&limit=7",
      "listRuns",
      [{ kind: "job", scope: "s", name: "a" }, { limit: 7 }],
    ],
    ["GET", "/jobs/runs/abcde", "getRun", ["abcde"]],
    ["POST", "/jobs/runs/abcde/cancel", "cancelRun", ["abcde", { actor }]],
  ])("%s %s", async (method, target, call, args) => {
    const { ask, calls } = start();
    expect((await ask(method, target)).json.status).toBe("ok");
    expect(calls).toEqual([{ method: call, args }]);
  });

  test("a run that failed is a 200 with its record", async () => {
    const { status, json } = await start().ask("POST", "/jobs/run?name=report");
    expect(status).toBe(200);
    expect(json.data).toMatchObject({ run_id: "abcde", status: "failed", exit_code: 3, error: "exit code 3" });
  });

  test("a run that was not waited for is a 202", async () => {
    expect((await start().ask("POST", "/jobs/run?name=report&wait=false")).status).toBe(202);
    expect((await start().ask("POST", "/cronjobs/run?name=report&wait=0")).status).toBe(202);
  });

  test("a body is ignored", async () => {
    expect((await start().ask("POST", "/jobs/run?name=report", "not json")).status).toBe(200);
  });

  test.each<[string, number]>([
    ["conflict", 409],
    ["not_found", 404],
    ["invalid", 400],
    ["unavailable", 503],
  ])("a refusal %s is a %d", async (code, status) => {
    const runJob = async () => {
      throw new Failure(code as "conflict", "cronjob/s/nightly is suspended");
    };
    const answer = await start({ runJob }).ask("POST", "/cronjobs/run?name=nightly");
    expect(answer).toEqual({ status, json: { status: "error", error: "cronjob/s/nightly is suspended", code } });
  });

  test.each(["/jobs/run?name=a&wait=maybe", "/jobs/run?name=a&name=b"])("POST %s is a 400", async (target) => {
    expect((await start().ask("POST", target)).status).toBe(400);
  });

  test.each(["/jobs/runs?limit=-1", "/jobs/runs?limit=1001", "/jobs/runs?limit=x"])(
    "GET %s is a 400",
    async (target) => {
      expect((await start().ask("GET", target)).status).toBe(400);
    },
  );
});
