import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { connect as connectHttp2 } from "node:http2";
import { freePort } from "../support/ports.ts";
import { startProxy, type TestProxy } from "../support/haproxy.ts";
import { exchange, statuses } from "../support/raw-http.ts";
import { site, table, upstream } from "../support/ingress-table.ts";
import { testCertificate } from "../support/self-signed.ts";

/**
 * A replica that keeps every byte it gets. It answers each request head once, and takes what a Content-Length or
 * chunks announce for its body: a second head that it finds is a smuggled request.
 */
let seen = "";
let replica: Server;
let port: number;
let tlsPort: number;
let proxy: TestProxy;

beforeAll(async () => {
  replica = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", (data) => {
      seen += data.toString("latin1");
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
      setTimeout(() => socket.end(), 150);
    });
  });
  await new Promise<void>((resolve) => replica.listen(0, "127.0.0.1", resolve));
  const address = replica.address();
  port = await freePort();
  tlsPort = await freePort();
  const one = upstream(typeof address === "object" && address !== null ? address.port : 0);
  const certificates = [{ id: "a", names: ["a.test"], pem: testCertificate(["a.test"]) }];
  const listen = { http: `127.0.0.1:${port}`, https: `127.0.0.1:${tlsPort}`, certificates };
  proxy = await startProxy(table([site("a", [one])], listen));
});

afterAll(async () => {
  await proxy.stop();
  replica.close();
});

beforeEach(() => {
  seen = "";
});

const smuggled = "GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n";
const head = (lines: string, first = "POST / HTTP/1.1") => `${first}\r\nHost: a.test\r\n${lines}\r\n\r\n`;

/** What is sent as one request with a second one hidden in it; whether the hidden one may be a request of its own, as the client's next one. */
const corpus: { name: string; sent: string; refused?: boolean }[] = [
  { name: "CL.TE", sent: `${head("Content-Length: 6\r\nTransfer-Encoding: chunked")}0\r\n\r\n${smuggled}` },
  {
    name: "TE.CL",
    sent: `${head("Transfer-Encoding: chunked\r\nContent-Length: 4")}${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
  },
  {
    name: "TE.TE obfuscated",
    sent: `${head("Transfer-Encoding: xchunked\r\nContent-Length: 0")}${smuggled}`,
    refused: true,
  },
  {
    name: "TE identity, chunked",
    sent: `${head("Transfer-Encoding: identity, chunked\r\nContent-Length: 3")}0\r\n\r\n${smuggled}`,
  },
  {
    name: "TE twice",
    sent: `${head("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity")}0\r\n\r\n${smuggled}`,
    refused: true,
  },
  {
    name: "TE with a space before the colon",
    sent: `${head("Transfer-Encoding : chunked\r\nContent-Length: 5")}0\r\n\r\n${smuggled}`,
    refused: true,
  },
  {
    name: "TE with a vertical tab",
    sent: `${head("Transfer-Encoding: \x0bchunked")}0\r\n\r\n${smuggled}`,
    refused: true,
  },
  {
    name: "two different lengths",
    sent: `${head("Content-Length: 0\r\nContent-Length: 42")}${smuggled}`,
    refused: true,
  },
  { name: "a list of lengths", sent: `${head("Content-Length: 0, 42")}${smuggled}`, refused: true },
  { name: "a length with a sign", sent: `${head("Content-Length: +5")}hello`, refused: true },
  { name: "a negative length", sent: head("Content-Length: -1"), refused: true },
  { name: "a length that overflows", sent: head("Content-Length: 18446744073709551616"), refused: true },
  { name: "a bad chunk size", sent: `${head("Transfer-Encoding: chunked")}0x5\r\nhello\r\n0\r\n\r\n` },
  {
    name: "a chunk size that overflows",
    sent: `${head("Transfer-Encoding: chunked")}FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n`,
  },
  {
    name: "a chunk that is longer than it says",
    sent: `${head("Transfer-Encoding: chunked")}1\r\n${smuggled}\r\n0\r\n\r\n`,
  },
  {
    name: "HTTP/1.0 with chunks",
    sent: `${head("Transfer-Encoding: chunked", "POST / HTTP/1.0")}0\r\n\r\n${smuggled}`,
    refused: true,
  },
  { name: "two hosts", sent: head("Host: b.test", "GET / HTTP/1.1"), refused: true },
  { name: "a host with a path", sent: "GET / HTTP/1.1\r\nHost: a.test/x\r\n\r\n", refused: true },
  { name: "a host with a quote", sent: 'GET / HTTP/1.1\r\nHost: a.test:8";for="1\r\n\r\n', refused: true },
  { name: "a host with a NUL", sent: 'GET / HTTP/1.1\r\nHost: a.test\0";for="1\r\n\r\n', refused: true },
  { name: "a host of 262 bytes", sent: `GET / HTTP/1.1\r\nHost: ${"a".repeat(262)}\r\n\r\n`, refused: true },
  { name: "a host of 9,000 bytes", sent: `GET / HTTP/1.1\r\nHost: ${"a".repeat(9_000)}\r\n\r\n`, refused: true },
  { name: "a target without its scheme", sent: "GET a.test/x HTTP/1.1\r\nHost: a.test\r\n\r\n", refused: true },
  { name: "a target of another scheme", sent: "GET ftp://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", refused: true },
  { name: "a GET of *", sent: head("X-A: b", "GET * HTTP/1.1"), refused: true },
  { name: "no host", sent: "GET / HTTP/1.1\r\n\r\n", refused: true },
  { name: "another host in the target", sent: "GET http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", refused: true },
  { name: "NUL in a value", sent: head("X-A: a\0b", "GET / HTTP/1.1"), refused: true },
  { name: "NUL at the end of a value", sent: head("X-A: a\0", "GET / HTTP/1.1"), refused: true },
  { name: "a control character in a value", sent: head("Cookie: a=\x01b", "GET / HTTP/1.1"), refused: true },
  { name: "NUL in a name", sent: head("X\0A: b", "GET / HTTP/1.1"), refused: true },
  { name: "a control character in the path", sent: "GET /\x01 HTTP/1.1\r\nHost: a.test\r\n\r\n", refused: true },
  { name: "CR alone", sent: head(`X-A: b\r${smuggled}`, "GET / HTTP/1.1"), refused: true },
  { name: "a header of 1 MB", sent: head(`X-A: ${"a".repeat(1_000_000)}`, "GET / HTTP/1.1"), refused: true },
  {
    name: "a thousand headers",
    sent: head(Array.from({ length: 1_000 }, (_, index) => `X-${index}: a`).join("\r\n"), "GET / HTTP/1.1"),
    refused: true,
  },
  { name: "TRACE", sent: head("X-A: b", "TRACE / HTTP/1.1"), refused: true },
  { name: "TRACK", sent: head("X-A: b", "TRACK / HTTP/1.1"), refused: true },
  { name: "CONNECT", sent: "CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n", refused: true },
  { name: "the preface of HTTP/2", sent: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
  { name: "obs-fold", sent: head("X-A: b\r\n Transfer-Encoding: chunked", "GET / HTTP/1.1") },
];

/** Requests as a replica that follows the standard reads them. */
function requestsIn(text: string): string[] {
  const requests: string[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) return rest === "" ? requests : [...requests, rest];
    const head = rest.slice(0, end);
    requests.push(head.split("\r\n")[0] ?? "");
    rest = rest.slice(end + 4);
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    if (/^transfer-encoding:/im.test(head)) {
      const last = /^(?:[0-9a-f]+\r\n[\s\S]*?\r\n)*?0\r\n\r\n/i.exec(rest);
      rest = rest.slice(last?.[0].length ?? rest.length);
    } else rest = rest.slice(length);
  }
}

for (const { name, sent, refused = false } of corpus)
  test(`${name}: ${refused ? "is refused" : "no replica sees two requests in one"}`, async () => {
    const answer = await exchange(port, sent);
    const found = requestsIn(seen);
    expect(found.filter((line) => !/^(?:GET|POST) (?:\/|\/smuggled) HTTP\/1\.1$/.test(line))).toEqual([]);
    // What follows the end of a request is the client's own next request, and is answered as one.
    expect(statuses(answer).length).toBeGreaterThanOrEqual(found.length);
    if (refused) expect([found, statuses(answer).every((status) => status >= 400 && status < 500)]).toEqual([[], true]);
  });

/** Headers that HTTP/1.1 would read as framing or as a second request, sent in HTTP/2's own form. */
const tricks: [name: string, headers: Record<string, string>][] = [
  ["transfer-encoding", { "transfer-encoding": "chunked" }],
  ["connection", { connection: "x" }],
  ["a CRLF in a value", { "x-a": "b\r\nTransfer-Encoding: chunked" }],
  ["a CRLF in the path", { ":path": "/ HTTP/1.1\r\nX: y" }],
  ["a space in the path", { ":path": "/a b" }],
  ["a CRLF in the method", { ":method": "GET / HTTP/1.1\r\nX: y\r\n\r\nGET" }],
  ["another host", { host: "b.test" }],
  ["an authority with a path", { ":authority": "a.test/x" }],
  ["another scheme", { ":scheme": "b.test" }],
  ["a NUL in a value", { "x-a": "a\0b" }],
  ["a wrong length", { ":method": "POST", "content-length": "5" }],
];
for (const [name, headers] of tricks)
  test(`HTTP/2 with ${name}: no second request, no line of its own`, async () => {
    await overHttp2(tlsPort, headers);
    const found = requestsIn(seen);
    expect(found.length).toBeLessThanOrEqual(1);
    expect(seen).not.toMatch(/^X: y|^transfer-encoding: chunked\r\n[\s\S]*content-length/im);
    expect(seen).not.toContain("b.test");
  });

test("HTTP/2 with bytes in the path that HTTP/1 has not is refused", async () => {
  for (const path of ["/\xc0\xafapi", "/caf\xc3\xa9", "/a\0b", "/a\tb", "/\x7f"]) {
    await overHttp2(tlsPort, { ":path": path });
    expect([path, seen]).toEqual([path, ""]);
  }
});

test("values with tabs and with letters of any script go through, and a Proxy of the client does not", async () => {
  const more = "X-A: a\tb\r\nX-B: caf\xc3\xa9 \x7f\r\nProxy: http://evil.test\r\nPROXY: x\r\nProxy-Authorization: y";
  const sent = Buffer.from(head(more, "GET / HTTP/1.1"), "latin1");
  expect(statuses(await exchange(port, sent))).toEqual([200]);
  expect(seen).toContain("x-a: a\tb\r\nx-b: caf\xc3\xa9 \x7f\r\n");
  expect(seen).not.toMatch(/^proxy:/im);
  expect(seen).toMatch(/^proxy-authorization: y/im);
});

/** Frames are written by hand: a client library refuses these headers itself. */
function overHttp2(at: number, changed: Record<string, string>): Promise<string> {
  const fields = { ":method": "GET", ":scheme": "https", ":path": "/", ":authority": "a.test", ...changed };
  const literal = (text: string) => Buffer.concat([hpackLength(text.length), Buffer.from(text, "latin1")]);
  const block = Buffer.concat(
    Object.entries(fields).flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]),
  );
  const frame = (type: number, flags: number, stream: number, payload: Buffer) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  };
  const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  const bytes = Buffer.concat([preface, frame(4, 0, 0, Buffer.alloc(0)), frame(1, 5, 1, block)]);
  return exchange(at, bytes, { tls: "a.test", protocol: "h2" });
}

function hpackLength(length: number): Buffer {
  return length < 127 ? Buffer.from([length]) : Buffer.from([127, length - 127]);
}

test("a whole URL, and * of OPTIONS, are targets as well", async () => {
  for (const first of ["GET http://a.test/ HTTP/1.1", "GET HTTP://a.test/ HTTP/1.1", "OPTIONS * HTTP/1.1"])
    expect([first, statuses(await exchange(port, head("Connection: close", first)))]).toEqual([first, [200]]);
});

test("HTTP/2 as it should be reaches the replica as one request", async () => {
  await overHttp2(tlsPort, {});
  expect(requestsIn(seen)).toEqual(["GET / HTTP/1.1"]);
});

test("streams that are reset as fast as they are opened do not stop the others", async () => {
  const session = connectHttp2(`https://127.0.0.1:${tlsPort}`, { servername: "a.test", rejectUnauthorized: false });
  session.on("error", () => undefined);
  for (let count = 0; count < 2_000 && !session.destroyed; count++) {
    const stream = session.request({ ":path": "/", ":authority": "a.test" });
    stream.on("error", () => undefined);
    stream.close(8);
  }
  expect(statuses(await exchange(port, "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"))).toEqual([200]);
  session.destroy();
});

test("clients that never end their request do not stop the others", async () => {
  const slow = Array.from({ length: 300 }, () =>
    exchange(port, "GET / HTTP/1.1\r\nHost: a.test\r\nX-", { silenceMs: 1_000 }),
  );
  expect(statuses(await exchange(port, "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"))).toEqual([200]);
  await Promise.all(slow);
}, 20_000);
