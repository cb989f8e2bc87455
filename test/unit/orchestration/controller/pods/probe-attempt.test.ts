import { describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import type { Context } from "../../../../../src/orchestration/controller/state/context.ts";
import { attemptProbe } from "../../../../../src/orchestration/controller/pods/probe-attempt.ts";

const config = {
  action: { type: "http", path: "/ready", port: 80, scheme: "http", headers: {} } as const,
  initialDelayMs: 0,
  periodMs: 1_000,
  timeoutMs: 1_000,
  failureThreshold: 1,
  successThreshold: 1,
};

function attempt(body: string | null, status = 503) {
  const response = new Response(body, { status, statusText: status === 200 ? "OK" : "Service Unavailable" });
  const context = { fetch: async () => response } as unknown as Context;
  return attemptProbe(context, { pod: { node: "local", id: "a" }, address: "127.0.0.1" }, config);
}

test.each([
  ["\n  no database\nsecond", "503 Service Unavailable: no database"],
  ['{"error":"no database"}', '503 Service Unavailable: {"error":"no database"}'],
  ["", "503 Service Unavailable"],
  [null, "503 Service Unavailable"],
  ["503 Service Unavailable\n", "503 Service Unavailable"],
  [
    "<html><head><title>503 Service Unavailable</title></head>\n<body><h1>No database</h1></body></html>",
    "503 Service Unavailable: No database",
  ],
  ["x".repeat(10_000), `503 Service Unavailable: ${"x".repeat(200)}`],
])("a refusal of http is told with the first words of its body: %p", async (body, text) => {
  expect(await attempt(body)).toEqual({ ok: false, text });
});

test("of an answer that is well the body is not read", async () => {
  expect(await attempt("fine", 200)).toEqual({ ok: true, text: "200 OK" });
});

test("a redirect within the container is followed, and one to any other address is the answer", async () => {
  const asked: string[] = [];
  const answers: Record<string, Response> = {
    "http://127.0.0.1:80/ready": new Response(null, { status: 302, headers: { location: "/login" } }),
    "http://127.0.0.1:80/login": new Response("broken", { status: 500 }),
  };
  const context = {
    fetch: async (url: string) => {
      asked.push(url.replace("127.0.0.1/", "127.0.0.1:80/"));
      return answers[asked.at(-1) ?? ""] ?? new Response(null, { status: 404 });
    },
  } as unknown as Context;
  const probe = () => attemptProbe(context, { pod: { node: "local", id: "a" }, address: "127.0.0.1" }, config);
  expect(await probe()).toMatchObject({ ok: false });
  expect(asked).toEqual(["http://127.0.0.1:80/ready", "http://127.0.0.1:80/login"]);
  for (const elsewhere of [
    "http://169.254.169.254/",
    "http://127.0.0.1:8686/apply",
    "https://127.0.0.1:80/",
    "//x.test/",
  ]) {
    asked.length = 0;
    answers["http://127.0.0.1:80/ready"] = new Response(null, { status: 302, headers: { location: elsewhere } });
    expect([elsewhere, await probe()]).toEqual([
      elsewhere,
      { ok: true, text: `302, a redirect to ${elsewhere} that is not followed` },
    ]);
    expect(asked).toHaveLength(1);
  }
});

test("a redirect to the name that the probe asks for is followed, at the container", async () => {
  const asked: string[] = [];
  const context = {
    fetch: async (url: string) => {
      asked.push(url);
      if (asked.length > 1) return new Response("broken", { status: 500 });
      return new Response(null, { status: 301, headers: { location: "http://shop.test/ready/" } });
    },
  } as unknown as Context;
  const action = { ...config.action, headers: { host: "Shop.test" } } as typeof config.action;
  const own = { ...config, action };
  const answer = await attemptProbe(context, { pod: { node: "local", id: "a" }, address: "127.0.0.1" }, own);
  expect([answer?.ok, asked.map((url) => new URL(url).href)]).toEqual([
    false,
    ["http://127.0.0.1/ready", "http://127.0.0.1/ready/"],
  ]);
});

test("a container that redirects in a circle is asked a few times only", async () => {
  let asked = 0;
  const context = {
    fetch: async () => {
      asked += 1;
      return new Response(null, { status: 302, headers: { location: "/ready" } });
    },
  } as unknown as Context;
  const answer = await attemptProbe(context, { pod: { node: "local", id: "a" }, address: "127.0.0.1" }, config);
  expect([answer?.ok, asked]).toEqual([true, 6]);
});

describe("a command that the engine did not carry out says nothing about the container", () => {
  const exec = { ...config, timeoutMs: 20, action: { type: "exec" as const, command: ["true"] } };
  const never = () => new Promise<never>(() => undefined);
  const away = new Failure("unavailable", "docker has not answered for 15 s", { reason: "EngineUnavailable" });
  const broken = new Failure("conflict", "no such program");
  const linkOf = (up: boolean, answers: boolean) => ({ up: () => up, answers: async () => answers });

  test.each([
    ["an engine that is away", () => Promise.reject(away), linkOf(false, false), undefined],
    ["one that went away a moment ago", () => Promise.reject(away), linkOf(true, false), undefined],
    ["no answer in time, of an engine that hangs", never, linkOf(true, false), undefined],
    ["no answer in time, of one that moves", never, linkOf(true, true), { ok: false, text: "no answer within 20 ms" }],
    ["a refusal", () => Promise.reject(broken), linkOf(true, true), { ok: false, text: "no such program" }],
  ])("%s", async (_, check, link, outcome) => {
    const context = { engine: { check }, link } as unknown as Context;
    expect(await attemptProbe(context, { pod: { node: "local", id: "a" }, address: undefined }, exec)).toEqual(outcome);
  });

  test.each([
    [true, { ok: false, text: "the container has no address" }],
    [false, undefined],
  ])("nor does http without an address where the link is up: %p", async (up, outcome) => {
    const context = { link: linkOf(up, up) } as unknown as Context;
    const attempted = attemptProbe(context, { pod: { node: "local", id: "a" }, address: undefined }, config);
    expect(await attempted).toEqual(outcome);
  });
});
