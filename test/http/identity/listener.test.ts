import { afterEach, beforeEach, expect, test } from "bun:test";
import { connect } from "node:net";
import { identityLimits } from "../../../src/config/config.ts";
import { listenerRefusals } from "../../../src/identity/http/answers.ts";
import { createIdentityApp } from "../../../src/identity/http/app.ts";
import { type Listener, startListener } from "../../../src/base/http/listener.ts";
import { waitFor } from "../../support/wait.ts";
import { type IdentityWorld, identityWorld, type Tenant, withSecret } from "../../support/identity.ts";

let it: IdentityWorld;
let shop: Tenant;
let listener: Listener;

beforeEach(async () => {
  it = identityWorld();
  shop = await it.tenant();
  const { identity, context } = it.running;
  listener = startListener({
    address: { hostname: "127.0.0.1", port: 0 },
    handler: ({ peerOf }) =>
      createIdentityApp({
        identity,
        log: context.log,
        limits: identityLimits,
        proxies: { peerOf, trusted: ["127.0.0.1/32"] },
      }).fetch,
    refusals: listenerRefusals,
    limits: identityLimits,
    log: context.log,
  });
});

afterEach(async () => {
  await listener.stop(0);
  it.close();
});

const url = (path: string) => `http://${listener.address}${path}`;
const verify = (body: string | ReadableStream<Uint8Array>) =>
  fetch(url("/api/v1/tokens/verify"), { method: "POST", headers: withSecret(shop), body });
const max = identityLimits.bodyBytesMax;

test("a body of the limit is read, one byte more is a 413 with a body of its own", async () => {
  const sized = (bytes: number) => `{"token":"${"x".repeat(bytes - 12)}"}`;
  expect((await verify(sized(max))).status).toBe(401);
  const answer = await verify(sized(max + 1));
  expect([answer.status, await answer.json()]).toEqual([413, { error: `Body is larger than ${max} bytes` }]);
});

test("so it is without a declared length, and no more of it is read", async () => {
  let sent = 0;
  const chunk = new Uint8Array(16 * 1024).fill(0x20);
  const endless = new ReadableStream<Uint8Array>({
    async pull(controller) {
      sent += chunk.length;
      if (sent > 64 * max) return controller.close();
      controller.enqueue(chunk);
      await Bun.sleep(0);
    },
  });
  const answer = await verify(endless).catch((error: unknown) => error);
  // Some clients see the answer, others that the connection is closed; either way the upload ends early.
  if (answer instanceof Response) expect(answer.status).toBe(413);
  expect(sent).toBeLessThan(64 * max);
});

test.each([
  ["/api/v1/users?limit=1", 200],
  ["/%61pi/v1/us%65rs?limit=1", 200],
  ["http://127.0.0.1/api/v1/users?limit=1", 200],
  ["/api%2Fv1/users?limit=1", 404],
])("the target %s is answered with %d", async (target, status) => {
  const [name, key] = Object.entries(withSecret(shop))[0] ?? [];
  const answer = await raw(`GET ${target} HTTP/1.1\r\nHost: x\r\n${name}: ${key}\r\nConnection: close\r\n\r\n`);
  expect(answer).toStartWith(`HTTP/1.1 ${status} `);
});

test("a body under another spelling of its path is read, and a compressed one is a 415", async () => {
  const body = '{"token":"x"}';
  const ask = (path: string, more: Record<string, string>) =>
    fetch(url(path), { method: "POST", headers: { ...withSecret(shop), ...more }, body });
  expect((await ask("/api/v1/tokens/%76erify", {})).status).toBe(401);
  const answer = await ask("/api/v1/tokens/verify", { "Content-Encoding": "gzip" });
  expect([answer.status, await answer.json()]).toEqual([
    415,
    { error: 'Content-Encoding "gzip" is not taken here, send the body as it is' },
  ]);
});

test("a Host that is none is nobody's fault but the client's", async () => {
  const back = encodeURIComponent("https://app.test/cb");
  await it.context.store.write(({ providers }) => {
    const times = { createdAt: 1, updatedAt: 1 };
    const row = { instance: shop.entry().instance.seq, name: "google", kind: "google" as const, enabled: true };
    providers.put({ ...row, clientId: "c", clientSecret: "s", options: {}, ...times });
  });
  for (const host of ["", "[::1", "%", "a:99999", "xn--", "a b", "evil.test", "evil.test@127.0.0.1", "127.0.0.1:1/x"]) {
    for (const path of ["/oauth/authorize?provider=google&", "/sign-in?", "/sign-out?"]) {
      const answer = await raw(
        `GET /i/${shop.id}${path}redirect_uri=${back} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      expect([host, path, /^HTTP\/1.1 [1-4]\d\d /.test(answer)]).toEqual([host, path, true]);
      expect(/^location: (?!http:\/\/127\.0\.0\.1:8688\/)/im.test(answer)).toBe(false);
    }
  }
});

test("without a right key nothing of a body is waited for", async () => {
  const answer = await raw(
    "POST /api/v1/tokens/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{",
  );
  expect(answer).toStartWith("HTTP/1.1 401 ");
  expect(answer).toEndWith('{"error":"Unauthorized"}');
});

test("hosts of any length, and a broken one, reach the service", async () => {
  const named = await it.tenant({}, "login.shop.test");
  const ask = (host: string) =>
    raw(`GET /.well-known/openid-configuration HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  expect(await ask("login.shop.test")).toContain('"issuer":"https://login.shop.test"');
  expect(await ask("LOGIN.shop.test:8688")).toContain('"issuer":"https://login.shop.test"');
  for (const host of ["x", "other.test", "login.shop.test.evil.test"]) {
    expect([host, await ask(host)]).toEqual([host, expect.stringContaining('{"error":"Instance not found"}')]);
  }
  expect(named.id).toBeDefined();
});

test("beyond the most requests at one time there is a 503, and room again afterwards", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let started = 0;
  const few = startListener({
    address: { hostname: "127.0.0.1", port: 0 },
    handler: () => () => {
      started += 1;
      return held.then(() => new Response("ok"));
    },
    refusals: listenerRefusals,
    limits: { idleMs: 1_000, requestsMax: 2 },
    log: it.running.context.log,
  });
  const ask = () => fetch(`http://${few.address}/`);
  const waiting = [ask(), ask()];
  await waitFor("two requests under way", () => started === 2);
  const refused = await ask();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await refused.json()).toEqual({ error: "Too many requests at one time" });
  release();
  for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(200);
  expect((await ask()).status).toBe(200);
  await few.stop(0);
});

test("an address that is taken says so", () => {
  const [hostname = "", port] = listener.address.split(":");
  const again = () =>
    startListener({
      address: { hostname, port: Number(port) },
      handler: () => () => new Response(),
      refusals: listenerRefusals,
      limits: identityLimits,
      log: it.running.context.log,
    });
  expect(again).toThrow(`address ${listener.address} is in use`);
});

test("queries and keys stay out of the log", async () => {
  await fetch(url("/api/v1/users?cursor=secret-cursor"), { headers: withSecret(shop) });
  await fetch(url("/none?token=secret-token"), { headers: withSecret(shop) });
  const log = it.logged.join("\n");
  expect(log).toContain('"path":"/none"');
  for (const secret of ["secret-cursor", "secret-token", shop.secretKey]) expect(log).not.toContain(secret);
});

/** What is answered to bytes as they are, until the connection rests. */
function raw(request: string): Promise<string> {
  const [host = "", port] = listener.address.split(":");
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host, () => socket.write(request));
    let text = "";
    socket.setTimeout(1_000, () => socket.destroy());
    socket.on("data", (data) => {
      text += data.toString();
      if (text.includes("\r\n\r\n") && text.endsWith("}")) socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
  });
}
