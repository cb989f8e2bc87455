import { afterEach, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { jsonResponse } from "../../src/base/http/answers.ts";
import { echo, startTestFront, type TestFront } from "../support/front.ts";
import { connectRaw } from "../support/raw-client.ts";
import { byteArrays } from "../support/tiny-pieces.ts";

let front: TestFront | undefined;

async function start(overrides: Parameters<typeof startTestFront>[0] = { app: echo }): Promise<TestFront> {
  front = await startTestFront(overrides);
  return front;
}

afterEach(async () => {
  await front?.close();
  front = undefined;
});

const get = (path: string, extra = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${extra}\r\n`;
const count = (text: string, part: string) => text.split(part).length - 1;

test("tells where it listens; the socket is its owner's only and gone after stop", async () => {
  const it = await start();
  expect(it.addresses[0]).toMatch(/^127\.0\.0\.1:[1-9]\d*$/);
  expect(it.addresses[1]).toBe(`unix:${it.unix.unix}`);
  expect(statSync(it.unix.unix).mode & 0o777).toBe(0o600);
  await it.stop(0);
  expect(existsSync(it.unix.unix)).toBe(false);
});

test("a taken port is a conflict that names it, and leaves nothing listening behind", async () => {
  const it = await start();
  const port = Number(it.addresses[0]?.split(":")[1]);
  const second = startTestFront({ tcp: { hostname: "127.0.0.1", port }, app: echo });
  expect(await second.catch((error: unknown) => error)).toMatchObject({
    code: "conflict",
    message: expect.stringContaining(`is in use by process ${process.pid} (`),
  });
});

test("a second server on the same socket is refused, and the first goes on", async () => {
  const it = await start();
  const second = startTestFront({ unixPath: it.unix.unix, tcp: undefined, app: echo });
  expect(await second.catch((error: unknown) => error)).toMatchObject({ code: "conflict" });
  const answer = await fetch("http://localhost/x", { unix: it.unix.unix });
  expect(answer.status).toBe(200);
});

test.each([
  ["/a/b?c=%41", "/a/b?c=%41"],
  ["http://localhost/a/b?c", "/a/b?c"],
  ["HTTP://127.0.0.1:8686", "/"],
  ["http://[::1]:8686?a=/b", "/?a=/b"],
  ["/%61/%7Eb%2d%2f%c3%A9", "/a/~b-%2F%C3%A9"],
])("the target %s reaches the app as %s", async (target, path) => {
  const it = await start();
  const client = await it.connect();
  // The host of an absolute target outweighs the header.
  const host = target.startsWith("/") ? "localhost" : "another.example";
  await client.send(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  expect(await client.all()).toContain(`"path":${JSON.stringify(path)}`);
});

test("a body with a Content-Encoding reaches an app that decodes it, and identity reaches each", async () => {
  const post = (coding: string) => ({ method: "POST", body: "x", headers: { "Content-Encoding": coding } });
  const it = await start({ app: echo, encodedBodies: true });
  expect((await fetch(`${it.url}/x`, post("gzip"))).status).toBe(200);
  await it.close();
  const plain = await start();
  expect((await fetch(`${plain.url}/x`, post("identity"))).status).toBe(200);
  expect((await fetch(`${plain.url}/x`, { headers: { "Content-Encoding": "gzip" } })).status).toBe(200);
});

test("requests pass over TCP and over the socket, with the host hidden from the app", async () => {
  const seen: string[] = [];
  const it = await start({
    app: (request) => {
      seen.push(request.url, request.headers.get("x-tag") ?? "");
      return echo(request);
    },
  });
  const overTcp = await fetch(`${it.url}/a?b=c`, { method: "POST", body: "hello", headers: { "X-Tag": "t" } });
  expect(await overTcp.json()).toEqual({ method: "POST", path: "/a?b=c", bytes: 5, body: "hello" });
  const overUnix = await fetch("http://localhost/u", { unix: it.unix.unix });
  expect(await overUnix.json()).toMatchObject({ path: "/u" });
  expect(seen).toEqual(["http://localhost/a?b=c", "t", "http://localhost/u", ""]);
});

test("a connection is kept alive over many requests of every framing", async () => {
  const it = await start();
  const client = await it.connect();
  await client.send(get("/1"));
  await client.until((text) => text.includes('"/1"'));
  await client.send("POST /2 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc");
  await client.until((text) => text.includes('"body":"abc"'));
  await client.send(
    "POST /3 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1;x\r\nf\r\n0\r\nT: 1\r\n\r\n",
  );
  await client.until((text) => text.includes('"body":"def"'));
  await client.send(get("/4"));
  const text = await client.until((answers) => answers.includes('"/4"'));
  expect(count(text, "HTTP/1.1 200 OK")).toBe(4);
  client.abort();
});

test("pipelined requests to slow handlers are answered in order", async () => {
  const pauses: Record<string, number> = { "/1": 30, "/2": 1, "/3": 10 };
  const it = await start({
    app: async (request) => {
      await Bun.sleep(pauses[new URL(request.url).pathname] ?? 0);
      return echo(request);
    },
  });
  const client = await it.connect();
  await client.send(`${get("/1")}POST /2 HTTP/1.1\r\nHost: localhost\r\n`);
  await client.send(`Content-Length: 2\r\n\r\nxy${get("/3")}`);
  const text = await client.until((answers) => answers.includes('"/3"'));
  expect([...text.matchAll(/"path":"(\/\d)"/g)].map(([, path]) => path)).toEqual(["/1", "/2", "/3"]);
  client.abort();
});

test("a client that pipelines without end is not read until it is answered", async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const it = await start({ app: (request) => gate.then(() => echo(request)), limits: { headBytesMax: 1024 } });
  const client = await it.connect();
  // More than the kernel's buffers take.
  const sent = client.send(get("/x").repeat(500_000));
  expect(await Promise.race([sent.then(() => "sent"), Bun.sleep(200).then(() => "stuck")])).toBe("stuck");
  release();
  await client.until((text) => count(text, '"/x"') > 100);
  client.abort();
});

test("HEAD is answered with the head alone, and the connection goes on", async () => {
  const it = await start();
  const client = await it.connect();
  await client.send("HEAD /h HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await client.until((text) => text.includes("\r\n\r\n"));
  await client.send(get("/next"));
  const text = await client.until((answers) => answers.includes('"/next"'));
  expect(text).not.toContain('"/h"');
  client.abort();
});

test("an answer of the plane says how long it is, and HEAD gets that length alone", async () => {
  const it = await start({ app: () => jsonResponse(200, { word: "käse" }, { "X-Tag": "t" }) });
  const client = await it.connect();
  await client.send("HEAD /h HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const head = await client.until((text) => text.endsWith("\r\n\r\n"));
  expect(head.toLowerCase()).toContain("content-length: 17\r\n");
  expect(head.toLowerCase()).toContain("x-tag: t\r\n");
  await client.send(get("/next"));
  const text = await client.until((answers) => answers.includes("}\n"));
  expect(count(text.toLowerCase(), "content-length: 17\r\n")).toBe(2);
  expect(count(text, '{"word":')).toBe(1);
  client.abort();
});

test("HTTP/1.0 gets its answer without chunks and a closed connection, also for streams", async () => {
  const it = await start({ app: (request) => (request.url.endsWith("/s") ? stream(["a", "b"]) : echo(request)) });
  const plain = await it.connect();
  await plain.send("GET /old HTTP/1.0\r\n\r\n");
  expect(await plain.all()).toContain('"/old"');
  const streaming = await it.connect();
  await streaming.send("GET /s HTTP/1.0\r\n\r\n");
  const text = await streaming.all();
  expect(text).toEndWith("\r\n\r\nab");
  expect(text.toLowerCase()).not.toContain("chunked");
});

test("an HTTP/1.0 client that reads late still gets all of a large stream", async () => {
  const block = "x".repeat(1024 * 1024);
  const it = await start({ app: () => stream(Array.from({ length: 24 }, () => block)) });
  const client = await connectRaw(it.tcp, { keep: false });
  client.pause();
  await client.send("GET /big HTTP/1.0\r\n\r\n");
  await Bun.sleep(150);
  client.resume();
  await client.all();
  expect(client.receivedBytes).toBeGreaterThan(24 * block.length);
});

test("Connection: close is honoured and said", async () => {
  const it = await start();
  const client = await it.connect();
  await client.send(get("/c", "Connection: close\r\n"));
  const text = await client.all();
  expect(text).toContain("Connection: close\r\n");
  expect(text).toContain('"/c"');
});

test("a client that half-closes after its request still gets the whole answer", async () => {
  const it = await start({ app: () => stream(["one", "two"], 30) });
  const client = await it.connect();
  await client.send(get("/s"));
  client.finish();
  const text = await client.all();
  expect(text).toContain("one");
  expect(text).toEndWith("0\r\n\r\n");
});

test("Expect: 100-continue is answered before the body, but not for a body that is too large", async () => {
  const it = await start();
  const client = await it.connect();
  await client.send("POST /e HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  await client.until((text) => text === "HTTP/1.1 100 Continue\r\n\r\n");
  await client.send("abc");
  await client.until((text) => text.includes('"body":"abc"'));
  client.abort();
  const large = await it.connect();
  await large.send("POST /e HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9999999\r\n\r\n");
  expect(await large.all()).toStartWith("HTTP/1.1 413 ");
});

test("a stream that breaks off is not ended as if it were complete", async () => {
  const it = await start({
    app: () =>
      new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue("begun");
            await Bun.sleep(20);
            controller.error(new Error("broken"));
          },
        }),
      ),
  });
  const client = await it.connect();
  await client.send(get("/s"));
  const text = await client.all();
  expect(text).toContain("begun");
  expect(text).not.toContain("0\r\n\r\n");
});

test("a handler that throws is a 500 in the envelope, and the connection goes on", async () => {
  const it = await start({
    app: () => {
      throw new Error("secret detail");
    },
  });
  const answer = await fetch(`${it.url}/x`);
  expect(answer.status).toBe(500);
  expect(await answer.text()).toBe('{"status":"error","error":"internal error, the log says why","code":"internal"}\n');
  expect(JSON.stringify(it.log)).toContain("secret detail");
});

test("a client that goes away aborts its handler", async () => {
  let aborted = () => {};
  const abort = new Promise<void>((resolve) => {
    aborted = resolve;
  });
  let begun = () => {};
  const begin = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const it = await start({
    app: async (request) => {
      request.signal.addEventListener("abort", aborted);
      begun();
      await abort;
      return new Response("late");
    },
  });
  const client = await it.connect();
  await client.send(get("/slow"));
  await begin;
  client.abort();
  await abort;
});

test("a slow reader of 200 MB costs a bounded amount of memory and gets every byte", async () => {
  const total = 200 * 1024 * 1024;
  const block = new Uint8Array(256 * 1024).fill(120);
  let made = 0;
  const it = await start({
    app: () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            if (made >= total) return controller.close();
            made += block.length;
            controller.enqueue(block);
          },
        }),
        { headers: { "X-Total": String(total) } },
      ),
  });
  const client = await connectRaw(it.tcp, { keep: false });
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  await client.send(get("/big", "Connection: close\r\n"));
  client.pause();
  await settled(() => made);
  expect(made).toBeLessThan(64 * 1024 * 1024);
  client.resume();
  await client.all();
  expect(client.receivedBytes).toBeGreaterThan(total);
  expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 * 1024);
});

test("stop lets a request under way end, and closes idle connections at once", async () => {
  const it = await start({
    app: async (request) => {
      await Bun.sleep(100);
      return echo(request);
    },
  });
  const [busy, idle] = await Promise.all([it.connect(), it.connect()]);
  await busy.send(get("/last"));
  await Bun.sleep(20);
  const stopped = it.stop(5_000);
  expect(await idle.all()).toBe("");
  idle.finish();
  expect(await busy.all()).toContain('"/last"');
  busy.finish();
  await stopped;
  expect(await it.connect().catch(() => "refused")).toBe("refused");
});

test("stop does not wait longer than its grace", async () => {
  const it = await start({ app: () => new Promise<Response>(() => {}) });
  const client = await it.connect();
  await client.send(get("/never"));
  await Bun.sleep(20);
  await it.stop(50);
  await client.all();
});

function stream(parts: string[], pauseMs = 0): Response {
  return new Response(
    new ReadableStream({
      async start(controller) {
        for (const part of parts) {
          controller.enqueue(part);
          await Bun.sleep(pauseMs);
        }
        controller.close();
      },
    }),
  );
}

/** Waits until a growing number has stood still for a moment. */
async function settled(read: () => number): Promise<void> {
  for (let last = -1; last !== read(); await Bun.sleep(200)) last = read();
}

test("a body of chunks of one byte is kept in few pieces", async () => {
  let during = 0;
  const it = await start({
    app: (request) => {
      during = byteArrays();
      return echo(request);
    },
  });
  const client = await it.connect();
  const before = byteArrays();
  await client.send("POST /c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  await client.send(`${"1\r\nx\r\n".repeat(200_000)}0\r\n\r\n`);
  expect(await client.until((text) => text.includes("bytes"))).toContain('"bytes":200000');
  expect(during - before).toBeLessThan(1_000);
});
