import { afterAll, beforeAll, expect, test } from "bun:test";
import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { createServer as createHttp2, createSecureServer } from "node:http2";
import { connect as connectHttp2 } from "node:http2";
import { createServer, connect, type AddressInfo } from "node:net";
import { connect as connectTls } from "node:tls";
import { parseAccessLine, type AccessLine } from "../../src/ingress/core/access-line.ts";
import type { Certificate, Site, Table } from "../../src/ingress/core/table.ts";
import { testCertificate } from "../support/self-signed.ts";
import { startProxy, type TestProxy } from "../support/haproxy.ts";
import { site, table, tcpSite, upstream } from "../support/ingress-table.ts";
import { freePort } from "../support/ports.ts";
import { exchange, statuses } from "../support/raw-http.ts";
import { waitFor } from "../support/wait.ts";

const certificate = (id: string, names: string[]): Certificate => ({ id, names, pem: testCertificate(names) });
const first = certificate("first", ["a.test", "*.wild.test"]);

const replica = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => Response.json({ headers: request.headers.toJSON() }),
});
const h2c = createHttp2((request, response) => void response.end(`h2 ${request.headers[":path"]}`));
const [tlsKey, tlsCertificate] = [first.pem.slice(first.pem.indexOf("-----BEGIN PRIVATE")), first.pem];
const secure = createSecureServer(
  { key: tlsKey, cert: tlsCertificate, allowHTTP1: true },
  (_, response) => void response.end("secure"),
);
/** Answers with what it was sent up to "hello", in hexadecimal digits. It can come in several parts. */
const raw = createServer((socket) => {
  let sent = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (data) => {
    sent = Buffer.concat([sent, data]);
    if (sent.toString("latin1").endsWith("hello")) socket.end(sent.toString("hex"));
  });
});
const rawHttp = createServer((socket) => {
  let sent = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (data) => {
    sent = Buffer.concat([sent, data]);
    if (!sent.toString("latin1").endsWith("\r\n\r\n")) return;
    const text = sent.toString("hex");
    socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
  });
});
const log = createSocket("udp4");
const lines: AccessLine[] = [];

let ports: { http: number; https: number; tcp: number; tcpTls: number };
let proxy: TestProxy;
let full: Table;

async function listening(server: {
  listen(port: number, host: string, then: () => void): unknown;
  address(): AddressInfo | string | null;
}) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return upstream((server.address() as AddressInfo).port);
}

beforeAll(async () => {
  const [http2, tls, tcp, proxied] = [
    await listening(h2c),
    await listening(secure),
    await listening(raw),
    await listening(rawHttp),
  ];
  await new Promise<void>((resolve) => log.bind(0, "127.0.0.1", resolve));
  log.on("message", (message) =>
    lines.push(
      ...[parseAccessLine(/^word (.*)/s.exec(message.toString())?.[1] ?? "")].filter((line) => line !== undefined),
    ),
  );
  ports = { http: await freePort(), https: await freePort(), tcp: await freePort(), tcpTls: await freePort() };
  const one = upstream(replica.port ?? 0);
  const hsts = { maxAgeSeconds: 31_536_000, includeSubdomains: true, preload: false };
  const sites: Site[] = [
    site("a", [one], { options: { tls: { redirect: true, hsts } } }),
    site("plain", [one], { hosts: ["plain.wild.test"] }),
    site("grpc", [http2], { options: { protocol: "h2c" } }),
    site("secure", [tls], { options: { protocol: "https" } }),
    site("proxied", [proxied], { options: { sendProxyProtocol: true } }),
  ];
  const tcpSites = [
    tcpSite("db", `127.0.0.1:${ports.tcp}`, { upstreams: [tcp], sendProxyProtocol: true }),
    tcpSite("dbtls", `127.0.0.1:${ports.tcpTls}`, { upstreams: [tcp], tlsName: "db.wild.test" }),
  ];
  full = table(sites, {
    http: `127.0.0.1:${ports.http}`,
    https: `127.0.0.1:${ports.https}`,
    tcp: tcpSites,
    certificates: [first],
  });
  const logTo = { address: `127.0.0.1:${log.address().port}`, transport: "udp" as const, word: "word" };
  proxy = await startProxy(full, { logTo });
});

afterAll(async () => {
  await proxy.stop();
  await replica.stop(true);
  for (const server of [h2c, secure, raw, rawHttp]) server.close();
  log.close();
});

const get = (host: string, path = "/", headers = "") =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers}\r\n`;
const plain = (host: string, path = "/", headers = "") => exchange(ports.http, get(host, path, headers));
const overTls = (host: string, path = "/") => exchange(ports.https, get(host, path), { tls: host });
const bodyOf = (answer: string) => answer.slice(answer.indexOf("\r\n\r\n") + 4);
const headersOf = (answer: string) => JSON.parse(bodyOf(answer)).headers as Record<string, string>;

test("plain requests are redirected to https, and https says that it stays", async () => {
  const redirect = await plain("a.test", "/x?y=1");
  expect(statuses(redirect)).toEqual([308]);
  expect(redirect).toContain(`location: https://a.test:${ports.https}/x?y=1\r\n`);
  const answer = await overTls("a.test");
  expect(statuses(answer)).toEqual([200]);
  expect(answer).toContain("strict-transport-security: max-age=31536000; includeSubDomains\r\n");
  expect(headersOf(answer)).toMatchObject({
    "x-forwarded-proto": "https",
    forwarded: 'for="127.0.0.1";host="a.test";proto=https',
  });
});

test("a challenge is answered before the redirect", async () => {
  await proxy.apply({ ...full, challenges: [{ token: "t-1_", keyAuthorization: "t-1_.abc" }] });
  expect(bodyOf(await plain("a.test", "/.well-known/acme-challenge/t-1_"))).toBe("t-1_.abc");
  await proxy.apply(full);
  expect(statuses(await plain("a.test", "/.well-known/acme-challenge/t-1_"))).toEqual([308]);
});

test("a name without a certificate gets no handshake, and one is added, renewed and removed without a load", async () => {
  expect(await overTls("later.test")).toBe("");
  const later = site("later", [upstream(replica.port ?? 0)]);
  const certificates = [first, certificate("later", ["later.test"])];
  const withLater = { ...full, sites: [...full.sites, later], certificates };
  expect((await proxy.apply(withLater)).reloadReasons).toEqual([]);
  expect(statuses(await overTls("later.test"))).toEqual([200]);
  const before = await fingerprint("later.test");
  const renewed = { ...withLater, certificates: [first, certificate("later", ["later.test"])] };
  expect((await proxy.apply(renewed)).reloadReasons).toEqual([]);
  expect(await fingerprint("later.test")).not.toBe(before);
  expect((await proxy.apply(full)).reloadReasons).toEqual([]);
  expect(await overTls("later.test")).toBe("");
});

function fingerprint(name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls(
      { host: "127.0.0.1", port: ports.https, servername: name, rejectUnauthorized: false },
      () => {
        resolve(socket.getPeerCertificate().fingerprint256);
        socket.destroy();
      },
    );
    socket.on("error", reject);
  });
}

test("TLS below 1.2 is refused, and HTTP/2 is offered", async () => {
  const run = Bun.spawnSync(
    [
      "openssl",
      "s_client",
      "-connect",
      `127.0.0.1:${ports.https}`,
      "-servername",
      "a.test",
      "-tls1_1",
      "-cipher",
      "ALL:@SECLEVEL=0",
    ],
    { stdin: new Blob([""]), stdout: "pipe", stderr: "pipe" },
  );
  expect(run.exitCode).not.toBe(0);
  const session = connectHttp2(`https://127.0.0.1:${ports.https}`, { servername: "a.test", rejectUnauthorized: false });
  const status = await new Promise((resolve, reject) => {
    session.on("error", reject);
    const request = session.request({ ":path": "/", ":authority": "a.test" });
    request.on("response", (headers) => resolve(headers[":status"]));
    request.on("error", reject);
    request.resume();
  });
  session.destroy();
  expect(status).toBe(200);
});

test("replicas are spoken to in HTTP/2, in TLS, and with a PROXY header", async () => {
  expect(bodyOf(await plain("grpc.test", "/q"))).toContain("h2 /q");
  expect(bodyOf(await plain("secure.test"))).toContain("secure");
  expect(bodyOf(await plain("proxied.test"))).toStartWith("0d0a0d0a000d0a515549540a2111000c7f000001");
});

test("a port of its own passes on what it gets, and ends TLS where it should", async () => {
  const sent = await exchange(ports.tcp, "hello");
  expect(sent).toStartWith("0d0a0d0a000d0a515549540a");
  expect(sent).toEndWith(Buffer.from("hello").toString("hex"));
  expect(await exchange(ports.tcpTls, "hello", { tls: "db.wild.test" })).toBe(Buffer.from("hello").toString("hex"));
});

test("ports with TLS are shared by name, each with rules of its own, and by nobody without a name", async () => {
  const port = await freePort();
  const listen = `127.0.0.1:${port}`;
  const answering = async (text: string) =>
    listening(createServer((socket) => void socket.on("error", () => undefined).end(text)));
  const shared = (
    name: string,
    tlsName: string,
    upstreams: Awaited<ReturnType<typeof listening>>[],
    deny: string[] = [],
  ) => tcpSite(name, listen, { tlsName, upstreams, deny });
  const tcp = [
    ...full.tcp,
    shared("one", "one.wild.test", [await answering("one")]),
    shared("rest", "*.wild.test", [await answering("rest")]),
    shared("shut", "shut.wild.test", [await answering("shut")], ["127.0.0.0/8"]),
    shared("two", "a.test", [await answering("two")]),
  ];
  const asked = (name: string) => exchange(port, "hello", { tls: name }).catch(() => "");
  await proxy.apply({ ...full, tcp });
  expect(await asked("one.wild.test")).toBe("one");
  expect(await asked("a.test")).toBe("two");
  expect(await asked("other.wild.test")).toBe("rest");
  for (const name of ["shut.wild.test", "unknown.test"]) expect(await asked(name)).toBe("");
  await proxy.apply(full);
});

/** Seconds until the kernel asks whether the client of a connection is still there; undefined: it never does. */
function asksAfterSeconds(localPort: number): number | undefined {
  const local = `0100007F:${localPort.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n")) {
    const [, here, , , , timer = ""] = line.trim().split(/\s+/);
    const [kind, ticks = ""] = timer.split(":");
    if (here === local && kind === "02") return Number.parseInt(ticks, 16) / 100;
  }
  return undefined;
}

test("a client that went away without a word is noticed, also where a connection may be silent for long", async () => {
  for (const port of [ports.http, ports.tcp]) {
    const client = connect({ host: "127.0.0.1", port });
    const seconds = await waitFor("the kernel to watch the client", () => asksAfterSeconds(port));
    client.destroy();
    expect(seconds).toBeGreaterThan(30);
    expect(seconds).toBeLessThanOrEqual(60);
  }
});

test("each request is one line of the log, without its query", async () => {
  lines.length = 0;
  const answer = await plain("plain.wild.test", "/some/path?secret=1");
  const line = await waitFor("the line", () => lines.find(({ path }) => path === "/some/path"));
  expect(line).toMatchObject({
    status: 200,
    host: "plain.wild.test",
    method: "GET",
    client: "127.0.0.1",
    retries: 0,
    heldMs: 0,
    ended: "--",
  });
  expect([line.backend, line.server]).toEqual([expect.stringMatching(/^p\d+$/), expect.stringMatching(/^s\d+$/)]);
  expect(answer.toLowerCase()).toContain(`x-berth-request-id: ${line.requestId}`);
  expect(Math.abs(line.at - Date.now())).toBeLessThan(10_000);
  expect(line.bytesOut).toBeGreaterThan(100);
  await plain("unknown.example", "/nothing");
  expect(await waitFor("the line", () => lines.find(({ path }) => path === "/nothing"))).toMatchObject({
    status: 404,
    backend: undefined,
    server: undefined,
  });
});

test("a trusted proxy is believed, as far as its own word goes", async () => {
  const listen = { ...full.listen, trustedProxies: ["127.0.0.0/8", "10.0.0.0/8"] };
  const change = await proxy.apply({ ...full, listen });
  expect(change.reloadReasons).toEqual(["changed: frontend web", "changed: frontend web_tls"]);
  const forwarded =
    "X-Forwarded-For: 6.6.6.6, 203.0.113.9, 10.1.1.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: shown.example\r\n";
  const answer = await waitFor("the new process", async () => {
    const text = await plain("a.test", "/", forwarded);
    return statuses(text)[0] === 200 && text;
  });
  expect(headersOf(answer)).toMatchObject({
    "x-forwarded-for": "203.0.113.9",
    "x-real-ip": "203.0.113.9",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "shown.example",
  });
  const six = headersOf(await plain("a.test", "/", "X-Forwarded-For: 2001:db8::7\r\nX-Forwarded-Proto: https\r\n"));
  expect([six["x-forwarded-for"], six.forwarded]).toEqual([
    "2001:db8::7",
    'for="[2001:db8::7]";host="a.test";proto=https',
  ]);
  await proxy.apply(full);
});

test("connections from where a PROXY header is expected carry one", async () => {
  await proxy.apply({ ...full, listen: { ...full.listen, proxyProtocolFrom: ["127.0.0.1/32"] } });
  const sent = `PROXY TCP4 198.51.100.4 127.0.0.1 1234 80\r\n${get("plain.wild.test")}`;
  const answer = await waitFor("the new process", async () => {
    const text = await exchange(ports.http, sent);
    return statuses(text)[0] === 200 && text;
  });
  expect(headersOf(answer)["x-forwarded-for"]).toBe("198.51.100.4");
  expect(statuses(await plain("plain.wild.test"))).not.toContain(200);
  await proxy.apply(full);
});

test("visitors come over IPv6 as over IPv4, on one port", async () => {
  const http = [`0.0.0.0:${ports.http}`, `[::]:${ports.http}`];
  const https = [`0.0.0.0:${ports.https}`, `[::]:${ports.https}`];
  await proxy.apply({ ...full, listen: { ...full.listen, http, https } });
  const headers = { host: "plain.wild.test" };
  const asked = await waitFor("the new process", async () => {
    const answer = await fetch(`http://[::1]:${ports.http}/`, { headers, keepalive: false }).catch(() => undefined);
    return answer?.status === 200 && ((await answer.json()) as { headers: Record<string, string> }).headers;
  });
  expect([asked["x-forwarded-for"], asked.forwarded]).toEqual(["::1", 'for="[::1]";host="plain.wild.test";proto=http']);
  expect(headersOf(await plain("plain.wild.test"))["x-forwarded-for"]).toBe("127.0.0.1");
  const overSix = await new Promise<string>((resolve, reject) => {
    const socket = connectTls({ host: "::1", port: ports.https, servername: "a.test", rejectUnauthorized: false });
    socket.on("secureConnect", () => socket.write(get("a.test")));
    socket.on("error", reject);
    let answer = "";
    socket.on("data", (data: Buffer) => (answer += data.toString()));
    socket.on("close", () => resolve(answer));
  });
  expect(statuses(overSix)).toEqual([200]);
  await proxy.apply(full);
});

test("a stream arrives piece by piece, both ways", async () => {
  const times: number[] = [];
  const streaming = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", async () => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: text/event-stream\r\n\r\n");
      for (let count = 0; count < 4; count++) {
        socket.write("6\r\ndata: \r\n");
        await Bun.sleep(100);
      }
      socket.end("0\r\n\r\n");
    });
  });
  const one = await listening(streaming);
  await proxy.apply({ ...full, sites: [...full.sites, site("stream", [one])] });
  const socket = connect(ports.http, "127.0.0.1", () => void socket.write(get("stream.test")));
  const start = performance.now();
  socket.on("data", () => times.push(performance.now() - start));
  await new Promise((resolve) => socket.on("close", resolve));
  streaming.close();
  expect(times.length).toBeGreaterThanOrEqual(4);
  expect(times[0]).toBeLessThan(90);
});
