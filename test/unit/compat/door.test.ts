import { describe, expect, test } from "bun:test";
import { okResponse } from "../../../src/base/http/answers.ts";
import { withContractClient } from "../../../src/compat/door.ts";
import { limits } from "../../../src/config/config.ts";
import { contractClientLimits } from "../../../src/config/contract-client-limits.ts";
import { silentLog } from "../../support/silent-log.ts";

/** What a client of this name reads when the server answers so. */
async function read(agent: string, target: string, answer: Response) {
  const fetch = withContractClient(() => answer, {
    prefix: "yard",
    log: silentLog,
    limits: { ...limits, ...contractClientLimits },
  });
  const request = new Request(`http://localhost${target}`, { method: "POST", headers: { "User-Agent": agent } });
  const read = await fetch(request);
  return { status: read.status, body: (await read.json()) as { error?: string; data?: unknown } };
}

const run = { kind: "job", scope: "s", name: "report" };

describe("a job of the contract's own client", () => {
  test.each(["/jobs/run?name=report", "/cronjobs/run?scope=s&name=report"])(
    "that failed is a 500: %s",
    async (path) => {
      const data = { ...run, status: "failed", exit_code: 3 };
      const { status, body } = await read("yard-cli/0.9.1", path, okResponse(200, data));
      expect({ status, body }).toEqual({
        status: 500,
        body: { status: "error", code: "internal", error: "job/s/report: exit code 3", data } as object,
      });
    },
  );

  test.each([
    ["timed_out", { error: "ran longer than 3s" }, "job/s/report: ran longer than 3s"],
    ["cancelled", {}, "job/s/report: cancelled"],
    ["missed", {}, "job/s/report: missed"],
  ])("that ended %s says so", async (status, more, error) => {
    const { body } = await read("yard-cli/1", "/jobs/run?name=report", okResponse(200, { ...run, status, ...more }));
    expect(body.error).toBe(error);
  });

  test("that succeeded, or was not begun, is answered as to everybody", async () => {
    const good = { ...run, status: "succeeded", exit_code: 0 };
    expect(await read("yard-cli/1", "/jobs/run?name=report", okResponse(200, good))).toEqual({
      status: 200,
      body: { status: "ok", data: good } as object,
    });
    expect((await read("yard-cli/1", "/jobs/run?name=report", okResponse(202, good))).status).toBe(202);
  });
});

test.each(["berth/1", "yard-client/1", "curl/8", "YARD-CLI/1", ""])("%p is not that client", async (agent) => {
  const answer = okResponse(200, { ...run, status: "failed" });
  expect((await read(agent, "/jobs/run?name=report", answer)).status).toBe(200);
});

test("an apply of that client may name no build; nobody else's request changes", async () => {
  const asked = async (agent: string, method: string, path: string) => {
    let seen: [url: string, body: string] | undefined;
    const fetch = withContractClient(
      async (request) => {
        seen = [request.url, await request.text()];
        return okResponse(200, {});
      },
      { prefix: "yard", log: silentLog, limits: { ...limits, ...contractClientLimits } },
    );
    const body = method === "GET" ? {} : { body: "[]" };
    await fetch(new Request(`http://localhost${path}`, { method, headers: { "User-Agent": agent }, ...body }));
    return seen;
  };
  const sent = "http://localhost/apply?dry_run=true";
  expect(await asked("yard-cli/1", "POST", "/apply?dry_run=true")).toEqual([`${sent}&unbuilt=true`, "[]"]);
  expect(await asked("yard-cli/1", "GET", "/apply?dry_run=true")).toEqual([sent, ""]);
  expect(await asked("berth/1", "POST", "/apply?dry_run=true")).toEqual([sent, "[]"]);
});
