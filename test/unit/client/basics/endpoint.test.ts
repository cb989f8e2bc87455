import { describe, expect, test } from "bun:test";
import { connect, endpointRoute, parseEndpoint } from "../../../../src/client/basics/endpoint.ts";
import { CommandFailure } from "../../../../src/client/basics/failures.ts";

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
    ["EACCES", "no permission\n  only root"],
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

describe("a way that the client can open", () => {
  const broken = (code: string) => Object.assign(new TypeError("x"), { code });
  /** Answers in turn: a code that is thrown, or an answer. */
  const scene = (turns: (string | Response)[], open = async () => undefined) => {
    const seen: (string | null)[] = [];
    let opened = 0;
    const fetch = async (_: string, init: BunFetchRequestInit) => {
      seen.push(new Headers(init.headers).get("Idempotency-Key"));
      const turn = turns.shift();
      if (turn === undefined || typeof turn === "string") throw broken(turn ?? "ENOTFOUND");
      return turn;
    };
    const route = {
      shown: "production (deploy@host)",
      address: { baseUrl: "http://localhost", socket: "/x.sock" },
      open: async () => {
        opened += 1;
        await open();
      },
    };
    const { signal } = new AbortController();
    const way = connect({ route, fetch, signal, answerMs: 5_000 });
    return { way, seen, opened: () => opened };
  };
  const ok = () => Response.json({ status: "ok" });
  const post = (headers: Record<string, string> = {}) => ({ method: "POST", headers });

  test("is opened where nothing was sent, whatever is asked", async () => {
    for (const code of ["ENOENT", "ECONNREFUSED"]) {
      const { way, opened } = scene([code, ok()]);
      expect((await way.fetch("http://localhost/x", post())).status).toBe(200);
      expect(opened()).toBe(1);
    }
  });

  test("is opened again where it broke, and what can be asked twice is", async () => {
    const repeatable: [string, BunFetchRequestInit][] = [
      ["/pods", { method: "GET" }],
      ["/builds/contexts/x?offset=0", { method: "PUT" }],
      ["/apply?dry_run=true", post()],
      ["/apply", post({ "Idempotency-Key": "k" })],
    ];
    for (const [target, init] of repeatable) {
      const { way, seen, opened } = scene(["ECONNRESET", ok()]);
      expect((await way.fetch(`http://localhost${target}`, init as RequestInit)).status).toBe(200);
      expect([opened(), seen.length, new Set(seen).size]).toEqual([1, 2, 1]);
    }
  });

  test("what cannot be asked twice is not, and the operator is told to look", async () => {
    const { way, seen } = scene(["ECONNRESET", ok()]);
    await expect(way.stream("http://localhost/releases/run", post())).rejects.toMatchObject({
      exitCode: 4,
      message: expect.stringContaining("the connection to production (deploy@host) broke before the server answered"),
    });
    expect(seen).toHaveLength(1);
  });

  test("it is tried once more and not for ever, and what opening says is passed on", async () => {
    const twice = scene(["ECONNRESET", "ECONNRESET", ok()]);
    await expect(twice.way.fetch("http://localhost/x", { method: "GET" })).rejects.toThrow("the connection broke");
    const closed = scene(["ENOENT"], async () => {
      throw new CommandFailure("cannot reach production", 4);
    });
    await expect(closed.way.fetch("http://localhost/x", { method: "GET" })).rejects.toThrow("cannot reach production");
  });

  test("a read without an answer for a while is reported once", async () => {
    const gate = Promise.withResolvers<Response>();
    const told = Promise.withResolvers<void>();
    let times = 0;
    const late = {
      afterMs: 1,
      tell: () => {
        times += 1;
        told.resolve();
      },
    };
    const { signal } = new AbortController();
    const address = { baseUrl: "http://localhost", socket: "/x.sock" };
    const route = { shown: "production", address, open: async () => undefined };
    const way = connect({ route, fetch: () => gate.promise, signal, answerMs: 5_000, late });
    const both = [1, 2].map(() => way.fetch("http://localhost/x", { method: "GET" }));
    await told.promise;
    await Bun.sleep(5);
    gate.resolve(new Response("{}", { headers: { "content-type": "application/json; charset=utf-8" } }));
    await Promise.all(both);
    expect(times).toBe(1);
  });

  test("an answer that breaks off is asked for again", async () => {
    const half = new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(Buffer.from("{"));
          controller.error(broken("ECONNRESET"));
        },
      }),
      { headers: { "content-type": "application/json" } },
    );
    const { way } = scene([half, Response.json({ a: 1 })]);
    const answer = await way.fetch("http://localhost/x", { method: "GET" });
    expect(await answer.json()).toEqual({ a: 1 });
  });
});
