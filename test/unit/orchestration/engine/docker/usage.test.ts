import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { createDockerEngine } from "../../../../../src/orchestration/engine/docker/docker.ts";
import {
  type FakeEngine,
  refuse,
  type SeenRequest,
  sendJson,
  startFakeEngine,
} from "../../../../support/fake-engine.ts";
import { expectFailure } from "../../../../support/failure.ts";
import type { ServerResponse } from "node:http";

const stats = {
  cpu_stats: { cpu_usage: { total_usage: 1234 } },
  memory_stats: { usage: 9_000, limit: 64_000, stats: { inactive_file: 4_000 } },
  pids_stats: { current: 3 },
};
const empty = { cpu_stats: { cpu_usage: { total_usage: 0 } }, memory_stats: {}, pids_stats: {} };
const row = (name: string) => ({
  Id: name.repeat(64),
  Names: [`/${name}`],
  Labels: { team: "blue" },
  Image: "app:1",
  ImageID: "sha256:1",
  State: "running",
  Status: "Up",
  Created: 1,
});

/** Reached by TCP, so its files are not ours to read. */
describe("usage of an engine elsewhere", () => {
  let engine: FakeEngine;
  let answer: (request: SeenRequest, response: ServerResponse) => void;
  beforeEach(async () => {
    engine = await startFakeEngine((request, response) => {
      if (request.path === "/containers/json") sendJson(response, 200, [row("a"), row("b")]);
      else answer(request, response);
    });
  });
  afterEach(() => engine.close());
  const usage = async () => {
    const runtime = createDockerEngine({ host: engine.host, installationId: "i", names: naming() });
    return runtime.usage().finally(runtime.close);
  };

  test("is what the engine counts, page cache aside", async () => {
    answer = (_request, response) => sendJson(response, 200, stats);
    const [first, second] = await usage();
    const counted = { cpuNanos: 1234, memoryBytes: 5_000, memoryLimitBytes: 64_000, pids: 3, identity: undefined };
    expect(first).toMatchObject({ ...counted, name: "a", id: "a".repeat(64) });
    expect(second).toMatchObject({ ...counted, name: "b" });
    const asked = engine.requests.filter(({ path }) => path.endsWith("/stats"));
    expect(asked.map(({ query }) => [query.get("stream"), query.get("one-shot")])).toEqual([
      ["false", "true"],
      ["false", "true"],
    ]);
  });

  test("only running containers of ours are asked for", async () => {
    answer = (_request, response) => sendJson(response, 200, stats);
    await usage();
    const filters = JSON.parse(engine.requests[0]?.query.get("filters") ?? "{}");
    expect(filters).toEqual({ label: ["berth.installation=i"], status: ["running"] });
  });

  test("version 1 counts the cache under another name", async () => {
    const old = { ...stats.memory_stats, stats: { total_inactive_file: 1_000 } };
    answer = (_request, response) => sendJson(response, 200, { ...stats, memory_stats: old });
    expect((await usage())[0]?.memoryBytes).toBe(8_000);
  });

  test("containers that vanish in between are left out", async () => {
    answer = ({ path }, response) => {
      if (path.includes("aa")) refuse(response, 404, "No such container: a");
      else sendJson(response, 200, empty);
    };
    expect(await usage()).toEqual([]);
  });

  test("an engine that fails is told", async () => {
    answer = (_request, response) => refuse(response, 503, "no");
    await expectFailure(usage(), "unavailable");
  });
});
