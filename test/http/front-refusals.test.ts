import { codeOfStatus } from "../../src/base/wire/failure.ts";
import { afterEach, describe, expect, test } from "bun:test";
import { echo, startTestFront, type TestFront } from "../support/front.ts";
import { connectRaw } from "../support/raw-client.ts";

let front: TestFront | undefined;

async function start(overrides: Parameters<typeof startTestFront>[0] = { app: echo }): Promise<TestFront> {
  front = await startTestFront(overrides);
  return front;
}

afterEach(async () => {
  await front?.close();
  front = undefined;
});

const mebibyte = 1024 * 1024;
const post = (headers: string) => `POST /p HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
const chunkOf = (size: number) => `${size.toString(16)}\r\n${"x".repeat(size)}\r\n`;

/** Checks that a text is one whole refusal: status, envelope, its exact length, and nothing after it. */
function expectRefusal(text: string, status: number, words: string): void {
  const [head = "", body = ""] = text.split("\r\n\r\n");
  expect(head).toStartWith(`HTTP/1.1 ${status} `);
  expect(head).toContain("Content-Type: application/json\r\n");
  expect(head).toContain("Connection: close");
  expect(head).toContain(`Content-Length: ${body.length}\r\n`);
  expect(body).toEndWith("\n");
  const envelope = JSON.parse(body);
  expect(envelope).toMatchObject({ status: "error", error: expect.stringContaining(words) });
  expect(envelope.code).toBe(codeOfStatus(status));
}

describe("the body limit", () => {
  test("exactly 1 MiB passes, with a length and in chunks", async () => {
    const it = await start();
    const client = await it.connect();
    await client.send(`${post(`Content-Length: ${mebibyte}\r\n`)}${"x".repeat(mebibyte)}`);
    await client.until((text) => text.includes(`"bytes":${mebibyte}`));
    await client.send(`${post("Transfer-Encoding: chunked\r\n")}${chunkOf(mebibyte / 2).repeat(2)}0\r\n\r\n`);
    await client.until((text) => text.split(`"bytes":${mebibyte}`).length === 3);
    client.abort();
  });

  test("one byte more is refused before any of it is sent", async () => {
    const it = await start();
    const client = await it.connect();
    await client.send(post(`Content-Length: ${mebibyte + 1}\r\n`));
    expectRefusal(await client.all(), 413, "larger than 1048576 bytes");
  });

  test("a chunked body is refused where it passes the limit, and never reaches the app", async () => {
    let calls = 0;
    const it = await start({
      app: () => {
        calls += 1;
        return new Response();
      },
    });
    const client = await it.connect();
    await client.send(`${post("Transfer-Encoding: chunked\r\n")}${chunkOf(mebibyte)}1\r\nx`);
    expectRefusal(await client.all(), 413, "larger than 1048576 bytes");
    expect(calls).toBe(0);
  });

  test("a client that sends its whole body before it reads still gets to the answer", async () => {
    const it = await start({ app: echo, limits: { drainMs: 5_000 } });
    const client = await it.connect();
    client.pause();
    const size = 30 * mebibyte;
    await client.send(post(`Content-Length: ${size}\r\n`));
    await client.send(new Uint8Array(size));
    client.resume();
    expectRefusal(await client.all(), 413, "larger");
    client.finish();
  });

  test("an ordinary client sees the status and the envelope", async () => {
    const it = await start();
    const answer = await fetch(`${it.url}/p`, { method: "POST", body: "x".repeat(mebibyte + 1) });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ status: "error" });
  });
});

describe("heads", () => {
  test.each([
    ["GET / HTTP/1.1\r\n\r\n", 400, "Host header is missing"],
    [post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400, "both Content-Length and Transfer-Encoding"],
    [post("Content-Length: 1\r\nContent-Length: 2\r\n"), 400, "more than one Content-Length"],
    [`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431, "larger than 16384"],
    [`GET / HTTP/1.1\r\nHost: localhost\r\n${"X: 1\r\n".repeat(150)}\r\n`, 431, "more than 100 header lines"],
    ["FOO / HTTP/1.1\r\nHost: localhost\r\n\r\n", 501, '"FOO"'],
    ["get / HTTP/1.1\r\nHost: localhost\r\n\r\n", 501, '"get"'],
    ["GET http://user@localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "must be a path"],
    ["GET ftp://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "must be a path"],
    ["GET http://evil.example/x HTTP/1.1\r\nHost: localhost\r\n\r\n", 403, '"evil.example"'],
    ["GET http://localhost/a/%2E%2e/b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "segments"],
    [`${post("Content-Encoding: gzip\r\nContent-Length: 1\r\n")}x`, 415, '"gzip"'],
    [`${post("Content-Encoding: br\r\nTransfer-Encoding: chunked\r\n")}0\r\n\r\n`, 415, '"br"'],
    [`${post("Transfer-Encoding: chunked\r\n")}zz\r\n`, 400, "chunk size"],
    ["\x16\x03\x01\x02\r\n\r\n", 400, "request line"],
  ])("%j is answered with %d in the envelope", async (request, status, words) => {
    const it = await start();
    const client = await it.connect();
    await client.send(request);
    expectRefusal(await client.all(), status, words);
  });

  test("100 headers within the size pass, so that the inner server is never the stricter one", async () => {
    const it = await start();
    const client = await it.connect();
    const some = Array.from({ length: 99 }, (_, index) => `X-${index}: ${"v".repeat(100)}\r\n`).join("");
    await client.send(`GET /many HTTP/1.1\r\nHost: localhost\r\n${some}\r\n`);
    await client.until((text) => text.includes('"/many"'));
    client.abort();
  });

  test("a head near the limit is either served or refused in the envelope, never dropped", async () => {
    const it = await start();
    const build = (size: number) => {
      const start = "GET /n HTTP/1.1\r\nHost: a\r\nX: ";
      return `${start}${"x".repeat(size - start.length - 4)}\r\n\r\n`;
    };
    for (const size of [16_360, 16_376, 16_380, 16_384]) {
      const client = await connectRaw(it.unix);
      await client.send(build(size));
      const text = await client.until((answer) => /\r\n\r\n.*\}/s.test(answer));
      if (text.startsWith("HTTP/1.1 200 ")) expect(text).toContain('"/n"');
      else expectRefusal(text, 431, "refused");
      client.abort();
    }
  });

  test("what comes before a bad request in a pipeline is answered first", async () => {
    const it = await start();
    const client = await it.connect();
    await client.send("GET /good HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/9.9\r\n\r\n");
    const text = await client.all();
    expect(text).toStartWith("HTTP/1.1 200 OK");
    expect(text.indexOf('"/good"')).toBeLessThan(text.indexOf("HTTP/1.1 505 "));
  });

  test("a refusal is logged with its reason and without the query", async () => {
    const it = await start();
    const client = await it.connect();
    await client.send("FOO /config?key=SECRET HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await client.all();
    expect(it.log).toContainEqual(
      expect.objectContaining({ message: "request refused", status: 501, path: "/config" }),
    );
    expect(JSON.stringify(it.log)).not.toContain("SECRET");
  });
});

describe("web pages are kept out", () => {
  test("a rebound host name is 403 on TCP", async () => {
    const it = await start();
    const answer = await fetch(`${it.url}/x`, { headers: { Host: "evil.example" } });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: expect.stringContaining('"evil.example"') });
  });

  test("on the unix socket the host does not matter", async () => {
    const it = await start();
    const answer = await fetch("http://anything.example/x", { unix: it.unix.unix });
    expect(answer.status).toBe(200);
  });

  test("a cross-site origin is 403 on both, before the app sees anything", async () => {
    let calls = 0;
    const it = await start({
      app: (request) => {
        calls += 1;
        return echo(request);
      },
    });
    const headers = { Origin: "https://evil.example" };
    expect((await fetch(`${it.url}/x`, { method: "POST", body: "{}", headers })).status).toBe(403);
    expect((await fetch("http://localhost/x", { unix: it.unix.unix, headers })).status).toBe(403);
    expect(calls).toBe(0);
  });
});

describe("time and number", () => {
  test("an unfinished head is 408", async () => {
    const it = await start({ app: echo, limits: { headReadMs: 30 } });
    const client = await it.connect();
    await client.send("GET / HT");
    expectRefusal(await client.all(), 408, "head was not complete");
  });

  test("an unfinished body is 408 and never reaches the app", async () => {
    const it = await start({ app: echo, limits: { bodyReadMs: 30 } });
    const client = await it.connect();
    await client.send(`${post("Content-Length: 10\r\n")}abc`);
    expectRefusal(await client.all(), 408, "body was not complete");
  });

  test("a body cut short by the client is 400", async () => {
    const it = await start();
    const client = await it.connect();
    await client.send(`${post("Content-Length: 10\r\n")}abc`);
    client.finish();
    expectRefusal(await client.all(), 400, "ended before it was complete");
  });

  test("a connection without a request is closed without a word", async () => {
    const it = await start({ app: echo, limits: { headReadMs: 30 } });
    const client = await it.connect();
    expect(await client.all()).toBe("");
  });

  test("an idle kept-alive connection is closed, a slow answer is waited for", async () => {
    const it = await start({
      app: async (request) => {
        await Bun.sleep(120);
        return echo(request);
      },
      limits: { idleMs: 40, headReadMs: 40, bodyReadMs: 40 },
    });
    const client = await it.connect();
    await client.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect(await client.all()).toContain('"/slow"');
  });

  test("one connection too many is 503 with Retry-After, and those before it go on", async () => {
    const it = await start({ app: echo, limits: { connectionsMax: 2 } });
    const clients = [await it.connect(), await it.connect()];
    const extra = await it.connect();
    const text = await extra.all();
    expectRefusal(text, 503, "more than 2 connections");
    expect(text).toContain("Retry-After: 1\r\n");
    for (const client of clients) {
      await client.send("GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await client.until((answer) => answer.includes('"/ok"'));
      client.abort();
    }
  });

  test("one client that is known by its address has only its share", async () => {
    const it = await start({ app: echo, peerHeader: "X-Peer", limits: { connectionsMax: 4, peerConnectionsMax: 2 } });
    const clients = [await it.connect(), await it.connect()];
    for (let extra = 0; extra < 6; extra++) expectRefusal(await (await it.connect()).all(), 503, "more than 2");
    const other = Bun.spawn(["curl", "-s", "--interface", "127.0.0.2", `${it.url}/ok`], { stdout: "pipe" });
    expect(await other.stdout.text()).toContain('"/ok"');
    for (const client of clients) client.abort();
  });

  test("those of the network do not lock the operator out of the unix socket", async () => {
    const it = await start({ app: echo, limits: { connectionsMax: 1 } });
    const silent = await it.connect();
    await silent.send("GET /half HTTP/1.1\r\nHo");
    expectRefusal(await (await it.connect()).all(), 503, "more than 1 connections");
    const operator = await connectRaw(it.unix);
    await operator.send("GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await operator.until((answer) => answer.includes('"/ok"'));
    expectRefusal(await (await connectRaw(it.unix)).all(), 503, "more than 1 connections");
    for (const client of [silent, operator]) client.abort();
  });
});

describe("paths that the app would see rewritten", () => {
  for (const path of ["/a/../b", "/./a", "/a/%2e%2E/b", "/a\\b", "/a#b", "/a?x=1#b"]) {
    test(`${path} is 400 and never reaches the app`, async () => {
      const it = await start({
        app: () => {
          throw new Error("reached");
        },
      });
      const client = await it.connect();
      await client.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      expect(await client.all()).toStartWith("HTTP/1.1 400 ");
      expect(JSON.stringify(it.log)).not.toContain("reached");
    });
  }
});
