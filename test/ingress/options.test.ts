import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type AddressInfo } from "node:net";
import { freePort } from "../support/ports.ts";
import { startProxy, type TestProxy } from "../support/haproxy.ts";
import { site, table, upstream } from "../support/ingress-table.ts";
import { exchange, statuses } from "../support/raw-http.ts";
import { waitFor } from "../support/wait.ts";
import type { Site, SiteOptions } from "../../src/ingress/core/table.ts";

/** Replicas `one` and `two`, which tell what they saw. */
const servers = ["one", "two"].map((name) =>
  Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request, server) {
      const url = new URL(request.url);
      if (server.upgrade(request)) return undefined;
      if (url.pathname === "/slow") await Bun.sleep(Number(url.searchParams.get("ms")));
      if (url.pathname === "/text")
        return new Response("word ".repeat(2_000), { headers: { "content-type": "text/plain" } });
      const headers = { "set-cookie": "own=1", server: "secret/1.0" };
      const body = await request.text().catch(() => "");
      return Response.json(
        { name, path: url.pathname, length: body.length, headers: request.headers.toJSON() },
        { headers },
      );
    },
    websocket: { message: (socket, message) => void socket.send(`${name}:${message}`) },
  }),
);
const [one, two] = servers.map((server) => upstream(server.port ?? 0)) as [
  Site["upstreams"][number],
  Site["upstreams"][number],
];
const both = [one, two];
const own = (name: string, options: Partial<SiteOptions>, upstreams = [one]) => site(name, upstreams, { options });

const limits = { bodyBytes: undefined, responseMs: 300_000, tunnelMs: 86_400_000, connectionsPerReplica: undefined };
const hash = Bun.spawnSync(["openssl", "passwd", "-6", "-salt", "salt", "open sesame"]).stdout.toString().trim();
const sites = [
  own("plain", {}, both),
  own("sticky", { stickyCookie: "berth_at" }, both),
  own("least", { balance: "least_conn" }, both),
  own("hashed", { balance: "ip_hash" }, both),
  own("random", { balance: "random" }, both),
  own("headers", {
    requestHeaders: { set: [{ name: "X-Set", value: `a "b" 'c' %[src] %% \\ # $HOME é` }], remove: ["User-Agent"] },
    responseHeaders: {
      set: [{ name: "Content-Security-Policy", value: "default-src 'self'; img-src *" }],
      remove: ["Server"],
    },
  }),
  own("zipped", { compress: true }),
  own("private", { basicAuth: [{ user: "ann", hash }] }),
  own("allowed", { allow: ["10.0.0.0/8", "::1/128"] }),
  own("denied", { deny: ["127.0.0.0/8"] }),
  own("rated", { rateLimit: { requests: 3, periodMs: 60_000 } }),
  own("closed", { isInMaintenance: true }),
  own("closedown", { isInMaintenance: true, errorPages: { 503: "<h1>own page %[src]</h1>" } }),
  own("small", { limits: { ...limits, bodyBytes: 1_000 } }),
  own("hasty", { limits: { ...limits, responseMs: 200 } }),
  own("queued", { limits: { ...limits, connectionsPerReplica: 1 } }),
  own("away", { hold: { forMs: 1_000, requestsMax: 2 } }, []),
  own("awaited", { hold: { forMs: 20_000, requestsMax: 2 } }, []),
  own("dead", {}, [upstream(1)]),
  own("paged", { errorPages: { 503: "<h1>own page</h1>" } }, []),
];

let port: number;
let proxy: TestProxy;
const now = (changed: Site[]) => table(changed, { http: `127.0.0.1:${port}` });

beforeAll(async () => {
  port = await freePort();
  proxy = await startProxy(now(sites));
});

afterAll(async () => {
  await proxy.stop();
  for (const server of servers) await server.stop(true);
});

function ask(name: string, path = "/", init: RequestInit = {}): Promise<Response> {
  const headers = { host: `${name}.test`, ...(init.headers as Record<string, string> | undefined) };
  return fetch(`http://127.0.0.1:${port}${path}`, { redirect: "manual", ...init, headers });
}
const nameOf = async (response: Response) => ((await response.json()) as { name: string }).name;
const seen = async (response: Response) =>
  (await response.json()) as { headers: Record<string, string>; length: number };

test("a head of 16 KiB is passed on, of a request and of a response, and a longer one where an ingress asks for it", async () => {
  // Bun itself takes no head of more than 16 KiB.
  const replica = createServer((socket) => {
    let text = "";
    socket.on("error", () => socket.destroy());
    socket.on("data", (data) => {
      text += data.toString("latin1");
      if (!text.endsWith("\r\n\r\n")) return;
      const long = "a".repeat(Number(/^GET .(\d+)/.exec(text)?.[1] ?? 0));
      socket.end(`HTTP/1.1 200 OK\r\nx-long: ${long}\r\ncontent-length: 0\r\n\r\n`);
    });
  });
  await new Promise<void>((resolve) => replica.listen(0, "127.0.0.1", resolve));
  const there = upstream((replica.address() as AddressInfo).port);
  await proxy.apply(now([...sites, own("long", {}, [there])]));
  const headOf = async (bytes: number, fields: number) => {
    const first = `GET / HTTP/1.1\r\nHost: long.test\r\nConnection: close\r\n`;
    const each = Math.floor((bytes - first.length - 2) / fields);
    const lines = Array.from({ length: fields }, (_, index) => `X-${index}: `.padEnd(each - 2, "a"));
    return statuses(await exchange(port, `${first}${lines.join("\r\n")}\r\n\r\n`));
  };
  const answerOf = async (bytes: number) =>
    statuses(await exchange(port, `GET /${bytes} HTTP/1.1\r\nHost: long.test\r\nConnection: close\r\n\r\n`));
  for (const fields of [1, 80]) expect(await headOf(16_384, fields)).toEqual([200]);
  expect(await headOf(20_000, 1)).toEqual([400]);
  expect([await answerOf(16_000), await answerOf(20_000)]).toEqual([[200], [502]]);
  // As much as the text of a Content-Security-Policy, both ways.
  const set = [{ name: "X-Set", value: "a".repeat(3_000) }];
  const changed = { requestHeaders: { set, remove: [] }, responseHeaders: { set, remove: [] } };
  await proxy.apply(now([...sites, own("long", changed, [there])]));
  for (const fields of [1, 80]) await waitFor("the new process", async () => (await headOf(16_384, fields))[0] === 200);
  expect([await headOf(20_000, 1), await answerOf(16_000), await answerOf(20_000)]).toEqual([[400], [200], [502]]);
  const long = own("long", { limits: { ...limits, headBytes: 32_768 } }, [there]);
  expect((await proxy.apply(now([...sites, long]))).reloadReasons).toEqual(["changed: base"]);
  for (const fields of [1, 80]) await waitFor("the new process", async () => (await headOf(32_768, fields))[0] === 200);
  expect(await answerOf(32_000)).toEqual([200]);
  await proxy.apply(now(sites));
  replica.close();
});

test("round robin, least connections and random use every replica", async () => {
  for (const name of ["plain", "least", "random"]) {
    const names = new Set<string>();
    await waitFor(`both replicas of ${name}`, async () => names.add(await nameOf(await ask(name))).size === 2);
  }
});

test("a source hash keeps a client at its replica", async () => {
  const names = new Set<string>();
  for (let count = 0; count < 10; count++) names.add(await nameOf(await ask("hashed")));
  expect(names.size).toBe(1);
});

test("a cookie binds a client to its replica, and leaves with it", async () => {
  const first = await ask("sticky");
  const cookies = first.headers.getSetCookie();
  const name = await nameOf(first);
  expect(cookies).toEqual(["own=1", expect.stringMatching(/^berth_at=s\d+; Path=\/; HttpOnly; SameSite=Lax$/)]);
  const cookie = cookies[1]?.split(";")[0] ?? "";
  for (let count = 0; count < 6; count++) {
    const again = await ask("sticky", "/", { headers: { cookie } });
    expect([await nameOf(again), again.headers.getSetCookie()]).toEqual([name, ["own=1"]]);
  }
  const leaving = both.map((each) => ({ ...each, isLeaving: (name === "one") === (each.id === one.id) }));
  const change = await proxy.apply(
    now(sites.map((each) => (each.id === "shop/sticky" ? { ...each, upstreams: leaving } : each))),
  );
  expect([change.reload, change.leaving.length]).toEqual([false, 1]);
  const moved = await ask("sticky", "/", { headers: { cookie } });
  expect(await nameOf(moved)).not.toBe(name);
  expect(moved.headers.getSetCookie().length).toBe(2);
  await proxy.apply(now(sites));
  expect(await nameOf(await ask("sticky", "/", { headers: { cookie } }))).toBe(name);
});

test("headers are set and removed both ways, whatever signs they hold", async () => {
  const response = await ask("headers");
  expect(response.headers.get("content-security-policy")).toBe("default-src 'self'; img-src *");
  expect(response.headers.get("server")).toBeNull();
  const { headers } = await seen(response);
  expect(headers["x-set"]).toBe(Buffer.from(`a "b" 'c' %[src] %% \\ # $HOME é`).toString("latin1"));
  expect(headers["user-agent"]).toBeUndefined();
});

test("texts are compressed for clients that can read it", async () => {
  const plain = await ask("zipped", "/text", { headers: { "accept-encoding": "identity" } });
  expect(plain.headers.get("content-encoding")).toBeNull();
  const zipped = await ask("zipped", "/text", { headers: { "accept-encoding": "gzip" } });
  expect([zipped.headers.get("content-encoding"), (await zipped.text()).length]).toEqual(["gzip", 10_000]);
});

test("basic authentication asks for a user", async () => {
  const withPassword = (text: string) => ask("private", "/", { headers: { authorization: `Basic ${btoa(text)}` } });
  const refused = await ask("private");
  expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, 'Basic realm="restricted"']);
  expect((await withPassword("ann:wrong")).status).toBe(401);
  expect((await withPassword("ann:open sesame")).status).toBe(200);
});

test("clients are allowed and denied by network", async () => {
  expect([(await ask("allowed")).status, (await ask("denied")).status]).toEqual([403, 403]);
});

test("requests above the rate are answered with 429", async () => {
  const answers: number[] = [];
  for (let count = 0; count < 5; count++) answers.push((await ask("rated")).status);
  expect(answers).toEqual([200, 200, 200, 429, 429]);
});

test("maintenance answers every request with a page, and ends without a load", async () => {
  const closed = await ask("closed");
  expect([closed.status, closed.headers.get("retry-after"), (await closed.text()).includes("Back soon")]).toEqual([
    503,
    "60",
    true,
  ]);
  const ownPage = await ask("closedown");
  expect([ownPage.status, await ownPage.text()]).toEqual([503, "<h1>own page %[src]</h1>"]);
  const open = sites.map((each) => ({ ...each, options: { ...each.options, isInMaintenance: false } }));
  const change = await proxy.apply(now(open));
  expect(change.reload).toBe(false);
  expect([(await ask("closed")).status, (await ask("closedown")).status]).toEqual([200, 200]);
  await proxy.apply(now(sites));
});

test("a body above the limit is answered with 413, and one of unknown length is cut off", async () => {
  expect((await seen(await ask("small", "/", { method: "POST", body: "x".repeat(1_000) }))).length).toBe(1_000);
  expect((await ask("small", "/", { method: "POST", body: "x".repeat(1_001) })).status).toBe(413);
  const stream = (count: number) =>
    new ReadableStream({
      async pull(controller) {
        for (let index = 0; index < count; index++) {
          controller.enqueue(new Uint8Array(500));
          await Bun.sleep(20);
        }
        controller.close();
      },
    });
  expect((await seen(await ask("small", "/", { method: "POST", body: stream(2) }))).length).toBe(1_000);
  const cut = await ask("small", "/", { method: "POST", body: stream(8) }).then(
    ({ status }) => status,
    () => "closed",
  );
  expect(["closed", 413]).toContain(cut);
});

test("a replica that does not answer in time gives 504", async () => {
  const response = await ask("hasty", "/slow?ms=1000");
  expect([response.status, (await response.text()).includes("too long")]).toEqual([504, true]);
});

test("a replica gets no more requests at a time than its limit", async () => {
  const start = performance.now();
  const answers = await Promise.all([1, 2, 3].map(() => ask("queued", "/slow?ms=150")));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(performance.now() - start).toBeGreaterThan(430);
});

test("a request waits for a replica, for its time and in its number", async () => {
  const start = performance.now();
  const waiting = [1, 2, 3].map(async () => {
    const { status } = await ask("away");
    return { status, ms: performance.now() - start };
  });
  const answers = await Promise.all(waiting);
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
  expect(answers.filter(({ ms }) => ms > 900).length).toBe(2);
  const held = ask("awaited");
  await Bun.sleep(50);
  await proxy.apply(now(sites.map((each) => (each.id === "shop/awaited" ? { ...each, upstreams: [two] } : each))));
  expect(await nameOf(await held)).toBe("two");
  await proxy.apply(now(sites));
});

test("clients that went away while they were held give their places back", async () => {
  const gone = [1, 2, 3, 4].map(() => ask("away", "/", { signal: AbortSignal.timeout(50) }).catch(() => undefined));
  await Promise.all(gone);
  await Bun.sleep(1_200);
  const start = performance.now();
  expect((await ask("away")).status).toBe(503);
  expect(performance.now() - start).toBeGreaterThan(900);
});

test("a dead replica is passed over, and alone gives 503", async () => {
  const mixed = sites.map((each) => (each.id === "shop/dead" ? { ...each, upstreams: [upstream(1), one] } : each));
  await proxy.apply(now(mixed));
  for (let count = 0; count < 6; count++)
    expect((await ask("dead", "/", { method: "POST", body: "x" })).status).toBe(200);
  await proxy.apply(now(sites));
  expect((await ask("dead")).status).toBe(503);
}, 20_000);

test("a site has pages of its own", async () => {
  const response = await ask("paged");
  expect([response.status, await response.text()]).toEqual([503, "<h1>own page</h1>"]);
});

test("a WebSocket goes through, and outlives its replica's leaving", async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host: "plain.test" } });
  const messages: string[] = [];
  socket.onmessage = ({ data }) => void messages.push(String(data));
  await waitFor("the WebSocket", () => socket.readyState === WebSocket.OPEN);
  socket.send("a");
  await waitFor("an answer", () => messages.length === 1);
  await proxy.apply(now(sites.map((each) => (each.id === "shop/plain" ? { ...each, upstreams: [] } : each))));
  socket.send("b");
  await waitFor("another answer", () => messages.length === 2);
  expect(messages[1]).toBe(messages[0]?.replace("a", "b"));
  socket.close();
  await proxy.apply(now(sites));
});
