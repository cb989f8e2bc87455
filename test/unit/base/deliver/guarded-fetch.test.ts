import { afterAll, describe, expect, test } from "bun:test";
import { createGuardedFetch, type GuardedFetchOptions } from "../../../../src/base/deliver/guarded-fetch.ts";
import { thrownBy } from "../../../support/failure.ts";

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/redirect") return Response.redirect("/hello", 302);
    if (pathname === "/hang") return new Promise<Response>(() => undefined);
    if (pathname === "/drip") {
      const stream = new ReadableStream({
        async pull(controller) {
          await Bun.sleep(20);
          controller.enqueue(new Uint8Array(10));
        },
      });
      return new Response(stream);
    }
    if (pathname === "/large") return new Response("x".repeat(2_000));
    return Response.json({ host: request.headers.get("host"), body: await request.text(), method: request.method });
  },
});
afterAll(() => server.stop(true));

const make = (options: Partial<GuardedFetchOptions> = {}) =>
  createGuardedFetch({
    fetch: (url, init) => fetch(url, init),
    resolve: () => Promise.resolve(["127.0.0.1"]),
    allowPrivate: true,
    allowFlag: "--open-sesame",
    headMs: 200,
    bodyBytesMax: 1_000,
    ...options,
  });
const get = (path: string, options?: Partial<GuardedFetchOptions>, signal = new AbortController().signal) =>
  make(options)({ method: "GET", url: `http://provider.test:${server.port}${path}`, headers: {} }, signal);

describe("guarded fetch", () => {
  test("connects to the checked address, and asks for the name", async () => {
    const request = { method: "POST" as const, url: `http://provider.test:${server.port}/x`, headers: {}, body: "a=b" };
    const { status, body } = await make()(request, new AbortController().signal);
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({ host: `provider.test:${server.port}`, body: "a=b", method: "POST" });
  });

  test("sends the login of an address, unless the request has its own, and never in its text", async () => {
    const seen: (string | null)[] = [];
    const options: Partial<GuardedFetchOptions> = {
      fetch: (url, init) => {
        expect(url).not.toContain("@");
        seen.push(new Headers(init.headers).get("authorization"));
        return Promise.resolve(new Response(""));
      },
    };
    const ask = (url: string, headers: Record<string, string> = {}) =>
      make(options)({ method: "GET", url, headers }, new AbortController().signal);
    await ask("http://ana:p%40s%@provider.test/x");
    await ask("http://ana:p@provider.test/x", { authorization: "Bearer t" });
    await ask("http://provider.test/x");
    expect(seen).toEqual([`Basic ${btoa("ana:p@s%")}`, "Bearer t", null]);
  });

  test("asks the next address where one does not take the connection, and no other that is closed", async () => {
    const addresses = (...list: string[]) => ({ resolve: () => Promise.resolve(list) });
    expect((await get("/x", addresses("127.0.0.2", "::1", "127.0.0.1"))).status).toBe(200);
    expect(await thrownBy(() => get("/x", addresses("127.0.0.2", "127.0.0.3")))).toMatchObject({ code: "unavailable" });
    const asked: string[] = [];
    const open = {
      ...addresses("10.0.0.1", "192.0.3.1", "192.0.3.2"),
      allowPrivate: false,
      fetch: (url: string) => {
        asked.push(new URL(url).hostname);
        return Promise.reject(Object.assign(new Error("refused"), { code: "ConnectionRefused" }));
      },
    };
    const request = { method: "GET" as const, url: "https://x.test/", headers: {} };
    await thrownBy(() => make(open)(request, new AbortController().signal));
    expect(asked).toEqual(["192.0.3.1", "192.0.3.2"]);
  });

  test("follows no redirect", async () => expect((await get("/redirect")).status).toBe(302));

  test("an answer that does not begin, does not end, or is too long", async () => {
    expect(await thrownBy(() => get("/hang"))).toMatchObject({ code: "unavailable" });
    const late = AbortSignal.timeout(150);
    expect(await thrownBy(() => get("/drip", {}, late))).toMatchObject({ code: "unavailable" });
    expect(await thrownBy(() => get("/large", { headMs: 20_000 }))).toMatchObject({ code: "too_large" });
    const nowhere = { resolve: () => new Promise<string[]>(() => undefined) };
    expect(await thrownBy(() => get("/", nowhere))).toMatchObject({ code: "unavailable" });
  });

  test("private addresses, plain http and other schemes are closed; the text names the flag", async () => {
    const closed = make({ allowPrivate: false });
    const ask = (url: string) =>
      thrownBy(() => closed({ method: "GET", url, headers: {} }, new AbortController().signal));
    for (const url of ["http://provider.test/", "ftp://provider.test/", "file:///etc/passwd", "not a url", ""]) {
      expect(await ask(url)).toMatchObject({ code: "forbidden" });
    }
    for (const host of ["provider.test", "127.0.0.1", "[::1]", "169.254.169.254", "10.0.0.1", "[::ffff:10.0.0.1]"]) {
      const failure = await ask(`https://${host}/`);
      expect(failure).toMatchObject({ code: "forbidden" });
      expect(failure.message).toContain("--open-sesame");
    }
  });

  test("the text of a failure repeats neither path nor query", async () => {
    const request = { method: "GET" as const, url: "http://127.0.0.1:1/path?code=secret", headers: {} };
    const failure = await thrownBy(() => make()(request, new AbortController().signal));
    expect(failure.message).not.toContain("secret");
    expect(failure.message).not.toContain("path");
  });
});
