import { afterEach, beforeEach, expect, test } from "bun:test";
import { observabilityLimits } from "../../../src/config/observability-limits.ts";
import type { Listener } from "../../../src/base/http/listener.ts";
import { readyPlaneTls } from "../../../src/local/plane-tls.ts";
import { temporaryFolder } from "../../support/haproxy.ts";
import { addressOf, connectRaw } from "../../support/raw-client.ts";
import { exchange, statuses } from "../../support/raw-http.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

let it: PlaneWorld;
let listener: Listener;
let port: number;
let token: string;

beforeEach(async () => {
  it = planeWorld();
  listener = it.listen();
  port = Number(listener.address.split(":")[1]);
  token = await it.token(["read", "admin"]);
});

afterEach(async () => {
  await listener.stop(0);
  it.close();
});

const whoami = "/api/pat/v1/whoami";
const lines = (...head: string[]) => `${head.join("\r\n")}\r\n\r\n`;
const asked = (first: string, ...more: string[]) =>
  lines(`${first} HTTP/1.1`, "Host: plane.test", `Authorization: Bearer ${token}`, ...more);

test("a request on a real connection is answered", async () => {
  const answer = await exchange(port, asked(`GET ${whoami}`));
  expect(statuses(answer)).toEqual([200]);
  expect(answer).toContain('"status":"ok"');
});

test("an absolute target and an encoded path are the same path, and open no more than it does", async () => {
  for (const target of [`http://127.0.0.1${whoami}`, "/%61pi/pat/v1/who%61mi", "HTTP://x/ap%69/pat/v1/whoami?a=%41"]) {
    const ends = ["Host: plane.test", "Connection: close"];
    const patient = { silenceMs: 20_000 };
    const given = await exchange(port, asked(`GET ${target}`, "Connection: close"), patient);
    expect([target, statuses(given)]).toEqual([target, [200]]);
    const without = await exchange(port, lines(`GET ${target} HTTP/1.1`, ...ends), patient);
    expect([target, statuses(without)]).toEqual([target, [401]]);
  }
});

test("a compressed body is 415", async () => {
  const put = asked("PUT /api/pat/v1/alerts/heartbeat", "Content-Encoding: gzip", "Content-Length: 2");
  const answer = await exchange(port, `${put}{}`);
  expect(statuses(answer)).toEqual([415]);
  expect(answer).toContain('"code":"unsupported_media_type"');
});

test("a Host that is none is 400", async () => {
  for (const host of ["a b", "x/ui/api/session?", "[::1"]) {
    const answer = await exchange(port, lines("GET /ui/api/sign-in HTTP/1.1", `Host: ${host}`));
    expect(statuses(answer)).toEqual([400]);
  }
});

test("two Hosts are 400, and HTTP/1.0 needs none", async () => {
  const answer = (...head: string[]) => exchange(port, lines(...head, `Authorization: Bearer ${token}`));
  for (const [one, other] of [
    ["plane.test", "evil.test"],
    ["plane.test", "plane.test"],
    ["plane.test", ""],
  ]) {
    const both = await answer(`GET ${whoami} HTTP/1.1`, `Host: ${one}`, `Host: ${other}`);
    expect([other, statuses(both)]).toEqual([other, [400]]);
  }
  expect(statuses(await answer(`GET ${whoami} HTTP/1.0`))).toEqual([200]);
  expect(statuses(await answer(`GET ${whoami} HTTP/1.1`))).toEqual([400]);
  const body = JSON.stringify({ url: "hc" });
  const put = ["PUT /api/pat/v1/alerts/heartbeat HTTP/1.0", `Authorization: Bearer ${token}`];
  const refused = await exchange(port, `${lines(...put, `Content-Length: ${body.length}`)}${body}`);
  expect(refused).toContain("url: is not an address");
});

test("requests behind each other on one connection are answered in order", async () => {
  const answer = await exchange(
    port,
    asked(`GET ${whoami}`) + asked("GET /api/pat/v1/nothing") + asked(`GET ${whoami}`),
  );
  expect(statuses(answer)).toEqual([200, 404, 200]);
});

test("HEAD has the head of GET and no body", async () => {
  const answer = await exchange(port, asked(`HEAD ${whoami}`));
  expect(statuses(answer)).toEqual([200]);
  expect(answer.split("\r\n\r\n")[1]).toBe("");
});

test("OPTIONS opens nothing to other sites", async () => {
  const answer = await exchange(port, asked(`OPTIONS ${whoami}`, "Origin: https://evil.example"));
  expect(statuses(answer)).toEqual([405]);
  expect(answer.toLowerCase()).not.toContain("access-control-allow");
  const bare = lines(`OPTIONS ${whoami} HTTP/1.1`, "Host: plane.test");
  expect(statuses(await exchange(port, bare))).toEqual([401]);
});

test("a body above the limit is refused by its length, before it is sent", async () => {
  const answer = await exchange(port, asked("DELETE /api/pat/v1/pats/zzzzzz", "Content-Length: 1048577"));
  expect(statuses(answer)).toEqual([413]);
  expect(answer).toContain("the body is larger than 1048576 bytes");
});

test("so is one that comes in chunks", async () => {
  const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  const head = asked("PUT /api/pat/v1/alerts/heartbeat", "Transfer-Encoding: chunked");
  const answer = await exchange(port, head + chunk.repeat(18));
  expect(statuses(answer)).toEqual([413]);
});

test("without a token no body is read", async () => {
  const head = lines("DELETE /api/pat/v1/pats/zzzzzz HTTP/1.1", "Host: plane.test", "Content-Length: 1048577");
  expect(statuses(await exchange(port, head))).toEqual([401]);
});

test("no body is read of a token that may not ask, or asks too often, nor a large one of a sign-in", async () => {
  const [reading, actions] = [await it.token(["read"]), await it.token(["read", "actions"])];
  const put = (path: string, own: string, length: number) =>
    lines(`${path} HTTP/1.1`, "Host: plane.test", own, `Content-Length: ${length}`, "X-Berth-UI: 1");
  const bearer = (one: string) => `Authorization: Bearer ${one}`;
  // None of the bodies comes: a server that waits for one gives no answer.
  expect(statuses(await exchange(port, put("PUT /api/pat/v1/alerts/heartbeat", bearer(reading), 1_000_000)))).toEqual([
    403,
  ]);
  const { burst } = observabilityLimits.rates.actions;
  for (let count = 0; count < burst; count += 1)
    await it.ask("POST /apps/nobody/nothing/restart", { token: actions, body: {} });
  expect(statuses(await exchange(port, put("POST /api/pat/v1/apps/a/b/restart", bearer(actions), 1_000_000)))).toEqual([
    429,
  ]);
  expect(statuses(await exchange(port, put("POST /ui/api/session", "Accept: */*", 1_000_000)))).toEqual([413]);
});

test("a head that is too large is refused", async () => {
  const answer = await exchange(port, asked(`GET ${whoami}`, `X-Large: ${"x".repeat(64 * 1024)}`));
  expect(statuses(answer)).toEqual([431]);
});

test.each([
  ["two lengths", ["Content-Length: 5", "Content-Length: 6"]],
  ["a length and chunks", ["Content-Length: 5", "Transfer-Encoding: chunked"]],
  ["a coding that is unknown", ["Transfer-Encoding: gzip"]],
])("a head with %s is not read as two requests", async (_, more) => {
  const answer = await exchange(port, `${asked("DELETE /api/pat/v1/pats/zzzzzz", ...more)}0\r\n\r\n`);
  expect(statuses(answer).filter((status) => status < 400)).toEqual([]);
  expect(statuses(answer).length).toBeLessThan(2);
});

// Bun gives a head about 12 s, also one that goes on to come byte by byte.
test("a head that never ends is cut off, and the listener goes on", async () => {
  await listener.stop(0);
  listener = it.listen({ idleMs: 1_000 });
  const client = await connectRaw(addressOf(listener.address));
  await client.send(`GET ${whoami} HTTP/1.1\r\nHost: plane.test\r\n`);
  const text = await client.all();
  expect(statuses(text).filter((status) => status < 400)).toEqual([]);
  port = Number(listener.address.split(":")[1]);
  expect(statuses(await exchange(port, asked(`GET ${whoami}`)))).toEqual([200]);
}, 30_000);

test("the address of the connection is the client's", async () => {
  const bound = await it.token(["read"], { cidr: ["127.0.0.1"] });
  const far = await it.token(["read"], { cidr: ["192.0.2.1"] });
  const status = async (value: string) => {
    const headers = { Authorization: `Bearer ${value}` };
    return (await fetch(`http://${listener.address}${whoami}`, { headers })).status;
  };
  expect([await status(bound), await status(far)]).toEqual([200, 401]);
});

test("with TLS a browser signs in, and its cookie is for TLS alone", async () => {
  const { folder, remove } = temporaryFolder();
  const tls = await readyPlaneTls({ kind: "self-signed" }, { folder, now: Date.now() });
  await listener.stop(0);
  listener = it.listen({ tls: { cert: tls?.cert ?? "", key: tls?.key ?? "" } });
  const at = `https://localhost:${listener.address.split(":")[1]}`;
  const trust = { tls: { ca: tls?.cert ?? "" } };
  const headers = { "X-Berth-UI": "1", Origin: at };
  const signedIn = await fetch(`${at}/ui/api/session`, {
    ...{ method: "POST", headers, body: JSON.stringify({ token }) },
    ...trust,
  });
  expect(signedIn.status).toBe(200);
  const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
  expect(signedIn.headers.get("set-cookie")).toMatch(/^__Host-berth_session_test=.*; Secure$/);
  const seen = await fetch(`${at}${whoami}`, { headers: { Cookie: cookie }, ...trust });
  expect(seen.status).toBe(200);
  expect((await fetch(`${at}${whoami}`, trust)).status).toBe(401);
  remove();
});

test("streams do not keep a listener that stops from its end", async () => {
  const client = await connectRaw(addressOf(listener.address));
  await client.send(asked("GET /api/pat/v1/stream?topics=state"));
  await client.until(() => client.receivedBytes > 0);
  expect(it.running.observability.streams.count()).toBe(1);
  // The grace is longer than the time of a test.
  const stopped = listener.stop(600_000);
  it.running.observability.streams.shut();
  await stopped;
  expect(it.running.observability.streams.count()).toBe(0);
  await client.all();
});
