import { describe, expect, test } from "bun:test";
import { connect, endpointRoute, parseEndpoint } from "../../../../src/client/shell/endpoint.ts";
import { CommandFailure } from "../../../../src/client/shell/failures.ts";

describe("parseEndpoint", () => {
  test.each([
    ["http://127.0.0.1:8686", { baseUrl: "http://127.0.0.1:8686" }],
    ["http://localhost:8686/", { baseUrl: "http://localhost:8686" }],
    ["https://box.example", { baseUrl: "https://box.example" }],
    ["unix:/run/berth.sock", { baseUrl: "http://localhost", socket: "/run/berth.sock" }],
    ["unix:///run/berth.sock", { baseUrl: "http://localhost", socket: "/run/berth.sock" }],
  ])("%p", (text, address) => {
    expect(parseEndpoint(text)).toEqual(address);
  });

  test.each(["", "8686", "127.0.0.1:8686", "ftp://x", "unix:run.sock", "http://a/b", "http://", "http://a b"])(
    "%p is none",
    (text) => {
      expect(() => parseEndpoint(text)).toThrow(`not an endpoint: "${text}"`);
    },
  );
});

describe("connect", () => {
  const failing = (error: unknown, signal = new AbortController().signal) => {
    const fetch = () => Promise.reject(error);
    return connect({ route: endpointRoute("http://127.0.0.1:1"), fetch, signal, answerMs: 5_000 })
      .fetch("http://127.0.0.1:1/x", { method: "GET" })
      .then(
        () => new CommandFailure("came through", -1),
        (failure: CommandFailure) => failure,
      );
  };
  const coded = (code: string) => Object.assign(new TypeError("x"), { code });

  test.each([
    ["ECONNREFUSED", "cannot reach the server at http://127.0.0.1:1: nothing listens there\n  does it run?"],
    ["ENOENT", "cannot reach the server at http://127.0.0.1:1: no such socket"],
    ["EACCES", "no permission\n  the socket is for root and"],
    ["ENOTFOUND", "the name cannot be resolved"],
  ])("%p says what to check and ends with 4", async (code, text) => {
    const failure = await failing(coded(code));
    expect(failure.message).toContain(text);
    expect(failure.exitCode).toBe(4);
  });

  test("no answer in time is told apart from no connection", async () => {
    const failure = await failing(new DOMException("late", "TimeoutError"));
    expect(failure.message).toStartWith("no answer from http://127.0.0.1:1 within 5 seconds");
    expect(failure.exitCode).toBe(4);
  });

  test("after Ctrl-C nothing else is blamed", async () => {
    expect(await failing(coded("ECONNREFUSED"), AbortSignal.abort())).toMatchObject({ exitCode: 130 });
  });

  test("what answers must speak JSON", async () => {
    const fetch = async () => new Response("<html>", { status: 502, headers: { "content-type": "text/html" } });
    const { signal } = new AbortController();
    const call = connect({ route: endpointRoute("http://127.0.0.1:1"), fetch, signal, answerMs: 5_000 });
    await expect(call.fetch("http://127.0.0.1:1/", { method: "GET" })).rejects.toThrow(
      "what answers at http://127.0.0.1:1 is not a berth server (HTTP 502, text/html)",
    );
  });

  test("a unix socket is passed on; only reads have a time limit", async () => {
    const seen: BunFetchRequestInit[] = [];
    const fetch = async (_: string, init: BunFetchRequestInit) => {
      seen.push(init);
      return Response.json({});
    };
    const { signal } = new AbortController();
    const call = connect({ route: endpointRoute("unix:/run/x.sock"), fetch, signal, answerMs: 0 });
    await call.fetch("http://localhost/", { method: "POST" });
    expect(seen[0]).toMatchObject({ unix: "/run/x.sock", timeout: false });
    await Bun.sleep(5);
    expect(seen[0]?.signal?.aborted).toBe(false);
  });
});
