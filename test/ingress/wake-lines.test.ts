import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/words/clock.ts";
import type { Site, SiteOptions, Upstream } from "../../src/ingress/core/table.ts";
import { parseWakeLine } from "../../src/ingress/core/wake-line.ts";
import { openReceiver, type Receiver } from "../../src/ingress/proxy/receiver.ts";
import { startProxy, type TestProxy } from "../support/haproxy.ts";
import { site, table, upstream } from "../support/ingress-table.ts";
import { freePort } from "../support/ports.ts";

import { silentLog } from "../support/silent-log.ts";
import { waitFor } from "../support/wait.ts";

/** The replica that is started. */
const app = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request, server) => (server.upgrade(request) ? undefined : new Response("served")),
  websocket: { message: (socket, message) => void socket.send(message) },
});
const replica = upstream(app.port ?? 0);
/** One that speaks HTTP/2 without TLS, as gRPC does. */
const grpc = createServer((_, response) => void response.end("called"));

const folder = mkdtempSync(join(tmpdir(), "wake-"));
const asleep = { forMs: 700, requestsMax: 100, isAsleep: true };
const waking = { forMs: 20_000, requestsMax: 100 };

let lines: { host: string; at: number }[];
let receiver: Receiver;
let port: number;
let proxy: TestProxy;

const own = (name: string, hold: SiteOptions["hold"], upstreams: Upstream[] = [], options: Partial<SiteOptions> = {}) =>
  site(name, upstreams, { options: { hold, ...options } });
const all = (changed: Site[] = []) => {
  const sites = [
    own("app", asleep),
    own("grpc", asleep, [], { protocol: "h2c" }),
    own("eager", { ...asleep, forMs: 0 }),
    own("awake", { forMs: 100, requestsMax: 100 }),
    own("denied", asleep, [], { deny: ["127.0.0.0/8"] }),
    own("closed", asleep, [], { isInMaintenance: true }),
  ];
  const now = sites.map((one) => changed.find(({ id }) => id === one.id) ?? one);
  return table(now, { http: `127.0.0.1:${port}` });
};

beforeAll(async () => {
  await new Promise<void>((resolve) => grpc.listen(0, "127.0.0.1", resolve));
  lines = [];
  const onLine = (text: string) => {
    const line = parseWakeLine(text);
    if (line !== undefined) lines.push({ host: line.host, at: performance.now() });
  };
  const portFile = join(folder, "receiver.port");
  receiver = await openReceiver({
    portFile,
    linesPerSecondMax: 1_000,
    onLine,
    clock: systemClock,
    log: silentLog,
    retryMs: 10_000,
  });
  port = await freePort();
  const logTo = { address: receiver.address, transport: "udp", word: receiver.word } as const;
  proxy = await startProxy(all(), { logTo });
});

beforeEach(async () => {
  expect((await proxy.apply(all())).reload).toBe(false);
  lines = [];
});

afterAll(async () => {
  await proxy.stop();
  receiver.close();
  await app.stop(true);
  grpc.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (name: string, path = "/") =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { host: `${name}.test` }, keepalive: false });
const told = () => waitFor("the server to be told", () => lines.length > 0);

test("the server is told of a request at once, and the request waits until the app is there", async () => {
  const begun = performance.now();
  const answer = ask("app");
  await told();
  expect((lines[0]?.at ?? Number.NaN) - begun).toBeLessThan(1_000);
  expect(lines[0]?.host).toBe("app.test");
  await proxy.apply(all([own("app", waking)]));
  // Longer than an app that nobody starts may take.
  await Bun.sleep(900);
  await proxy.apply(all([own("app", waking, [replica])]));
  expect(await (await answer).text()).toBe("served");
});

test("many requests at once are a few lines, and all are served", async () => {
  const answers = Promise.all(Array.from({ length: 50 }, async () => (await ask("app")).text()));
  await told();
  await proxy.apply(all([own("app", waking, [replica])]));
  expect(new Set(await answers)).toEqual(new Set(["served"]));
  expect(lines.length).toBeLessThan(10);
});

test("a WebSocket waits and is opened", async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host: "app.test" } });
  await told();
  await proxy.apply(all([own("app", waking, [replica])]));
  await waitFor("the WebSocket", () => socket.readyState === WebSocket.OPEN);
  socket.close();
});

test("a call to an app that speaks HTTP/2 waits and is answered", async () => {
  const answer = ask("grpc");
  await told();
  const called = upstream((grpc.address() as AddressInfo).port);
  await proxy.apply(all([own("grpc", waking, [called], { protocol: "h2c" })]));
  expect(await (await answer).text()).toBe("called");
});

test("with a server that is away, the request is told of again, and answered with 503 after the usual time", async () => {
  const begun = performance.now();
  const answer = await ask("app");
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await answer.text()).toContain("Not available right now");
  expect(performance.now() - begun).toBeGreaterThan(690);
  expect(lines.length).toBeGreaterThan(1);
});

test("an app that does not come up lets its requests go", async () => {
  const answer = ask("app");
  await told();
  await proxy.apply(all([own("app", waking)]));
  await proxy.apply(all([own("app", { forMs: 100, requestsMax: 100 })]));
  expect((await answer).status).toBe(503);
});

/** The server is told once in a while, and nobody who waits tells it again. */
const eagerTold = () =>
  waitFor("the server to be told", async () => {
    await ask("eager");
    return lines.length > 0;
  });

test("without a hold the server is told, and nobody waits", async () => {
  const answer = await ask("eager");
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
  await eagerTold();
});

test("what is refused, in maintenance or simply not ready wakes nothing", async () => {
  const statuses = await Promise.all(["denied", "closed", "awake"].map(async (name) => (await ask(name)).status));
  expect(statuses).toEqual([403, 503, 503]);
  // Lines keep their order, so that one of these would be here before it.
  await eagerTold();
  expect(new Set(lines.map(({ host }) => host))).toEqual(new Set(["eager.test"]));
});

test("what the proxy writes itself does not hold the word of the receiver", async () => {
  await eagerTold();
  expect(proxy.output()).not.toContain(receiver.word);
});
