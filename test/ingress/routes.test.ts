import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { freePort } from "../support/ports.ts";
import { type TestProxy, startProxy } from "../support/haproxy.ts";
import { waitFor } from "../support/wait.ts";
import { exchange, statuses } from "../support/raw-http.ts";
import { site, table, upstream } from "../support/ingress-table.ts";
import type { Site } from "../../src/ingress/core/table.ts";

/** 20 MB in which no piece is like another. */
const big = new Uint8Array(Uint32Array.from({ length: 5_000_000 }, (_, at) => at * 2_654_435_761).buffer);

let port: number;
let proxy: TestProxy;
const servers = ["a", "b", "c", "d"].map((name) =>
  Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) =>
      new URL(request.url).pathname === "/big"
        ? new Response(big)
        : Response.json({ name, path: new URL(request.url).pathname, headers: request.headers.toJSON() }),
  }),
);
const [a, b, c, d] = servers.map((server) => [upstream(server.port ?? 0)]) as [
  Site["upstreams"],
  Site["upstreams"],
  Site["upstreams"],
  Site["upstreams"],
];

const sites: Site[] = [
  site("a", a),
  site("b", b, {
    hosts: ["a.test"],
    paths: [
      { prefix: "/api", strip: false },
      { prefix: "/old/app", strip: true },
    ],
  }),
  site("c", c, { hosts: ["*.test", "*.deep.wild.test"] }),
  site("d", d, { hosts: ["*.wild.test"] }),
  site("e", a, { hosts: ["part.of.one.test"], paths: [{ prefix: "/api", strip: false }] }),
];

beforeAll(async () => {
  port = await freePort();
  proxy = await startProxy(table(sites, { http: `127.0.0.1:${port}` }));
});

afterAll(async () => {
  await proxy.stop();
  for (const server of servers) await server.stop(true);
});

async function get(host: string, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { host, ...headers },
    redirect: "manual",
  });
  const text = await response.text();
  const body =
    response.headers.get("content-type")?.startsWith("application/json") === true ? JSON.parse(text) : { text };
  return { response, status: response.status, body };
}

test("a download over plain HTTP is carried by the kernel, and arrives as it was", async () => {
  const pipes = async () => /^PipesFree: (\d+)$/m.exec(await proxy.send("show info\n"))?.[1];
  expect(await pipes()).toBe("0");
  const answer = await fetch(`http://127.0.0.1:${port}/big`, { headers: { host: "a.test" } });
  expect(Buffer.compare(Buffer.from(await answer.arrayBuffer()), Buffer.from(big))).toBe(0);
  expect(Number(await pipes())).toBeGreaterThan(0);
});

const reached: [string, string, string, string][] = [
  ["a.test", "/", "a", "/"],
  ["A.Test:80", "/", "a", "/"],
  ["a.test.", "/", "a", "/"],
  ["a.test", "/api", "b", "/api"],
  ["a.test", "/api/", "b", "/api/"],
  ["a.test", "/api/x?y=/z", "b", "/api/x"],
  ["a.test", "/apix", "a", "/apix"],
  ["a.test", "/old/app", "b", "/"],
  ["a.test", "/old/app/x/y", "b", "/x/y"],
  ["a.test", "/old/apple", "a", "/old/apple"],
  ["x.test", "/", "c", "/"],
  ["x.wild.test", "/q", "d", "/q"],
  ["x.y.wild.test", "/q", "d", "/q"],
  ["x.deep.wild.test", "/q", "c", "/q"],
  ["1.2.3.4.x.deep.wild.test", "/q", "c", "/q"],
];
for (const [host, path, name, seen] of reached)
  test(`${host}${path} goes to ${name} as ${seen}`, async () => {
    const { status, body } = await get(host, path);
    expect({ status, name: body.name, path: body.path }).toEqual({ status: 200, name, path: seen });
  });

for (const host of ["*.wild.test", "*", "a.test/", "a.test/api", "x.wild.test/q", ""])
  test(`the host "${host}" is refused, although its beginning leads to a site`, async () => {
    expect(statuses(await exchange(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`))).toEqual([
      400,
    ]);
  });

test("an unknown host gets a page with the id of the request, and no word about the inside", async () => {
  const { status, response, body } = await get("nowhere.example", "/");
  const id = response.headers.get("x-berth-request-id") ?? "";
  expect({
    status,
    hasPage: body.text.includes("Page not found"),
    hasId: id.length > 30 && body.text.includes(id),
  }).toEqual({
    status: 404,
    hasPage: true,
    hasId: true,
  });
  expect(body.text.toLowerCase()).not.toContain("haproxy");
});

const twoWays = [
  ...["//api", "/%61pi", "/./api", "/x/../api", "/x/%2e%2e/api/y", "/%2Fapi", "/api;x", "/;x/api", "/%5Capi"],
  ...["/api/../x", "/api/..%2fx", "/api/%2e%2e/x", "/api/..;/x", "/\\api", "/x/..\\api"],
  // A library for URLs takes x for a host.
  ...["//x/api", "///x/api", "/\\x/api", "//x\\%61pi", "//x/y/../api", "/%2Fx/api"],
  // Decoded twice and more often, in the long forms of UTF-8, and in the form of JavaScript.
  ...["/%2561pi", "/%252561pi", "/%%36%31pi", "/%25252525252561pi", "/x/%252e%252e/api"],
  ...["/%c0%afapi", "/x%c0%af..%c0%afapi", "/x/%c0%ae%c0%ae/api", "/%c1%a1pi", "/%e0%81%a1pi", "/%25c0%25afapi"],
  ...["/%f0%80%80%afapi", "/%c0%2fapi", "/%u0061pi", "/%u002fapi", "/old%u002fapp", "/old%c0%afapp"],
  // Cut or dropped: control characters, dots and spaces at the end of a name, what looks like a query.
  ...["/api%00", "/api%00x", "/ap%00i", "/api%2500", "/api%0a", "/api%09/x", "/a%0dpi", "/api%7f", "/x%00/../api"],
  ...["/api.", "/api./x", "/api...", "/api%20", "/api%20./x", "/api%2e", "/api%2520/x", "/old./app", "/old/app.."],
  ...["/api%3Fx", "/api%23x", "/api%253fx", "/old/app%3f/x", "/api;/../x", "/api%3b/x", "/old;x/app", "/old;/app/x"],
  // Each step alone leads to the site that is written; another order of them does not.
  ...["/x/../api//../y", "/x/../api/..;/y", "/x/../api/..\\y", "/x/../api/%2e%2e/y", "/x/../api/..%2fy", "/..", "/%2e"],
  ...["/x/.%20/y", "/x/...", "/%6fld//app;x", `/${"%5c;.//".repeat(20)}api`],
];

test("a path that an app may take for one of another site is refused", async () => {
  for (const host of ["a.test", "a.test."]) {
    const answers = twoWays.map(async (path) => [
      path,
      statuses(await exchange(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)),
    ]);
    expect(await Promise.all(answers)).toEqual(twoWays.map((path) => [path, [400]]));
  }
});

test("a path that an app may take for one that nothing serves is refused", async () => {
  for (const path of ["/api/../x", "/api%00x", "/api/%2e%2e"]) {
    const part = `GET ${path} HTTP/1.1\r\nHost: part.of.one.test\r\nConnection: close\r\n\r\n`;
    expect([path, statuses(await exchange(port, part))]).toEqual([path, [400]]);
  }
});

/** What apps, or proxies and libraries before them, take back: each makes another spelling of the same path. */
const disguises: ((path: string, at: number) => string)[] = [
  (path, at) => spelled(path, at, (sign) => `%${hexOf(sign)}`),
  (path, at) => spelled(path, at, (sign) => `%${hexOf(sign).toLowerCase()}`),
  (path, at) => spelled(path, at, (sign) => `%u00${hexOf(sign)}`),
  (path, at) => spelled(path, at, longForm),
  (path) => path.replaceAll("%", "%25"),
  (path) => path.replace("/", "//"),
  (path) => path.replaceAll("/", "\\"),
  (path) => `/q/..${path}`,
  (path) => `/.${path}`,
  (path) => (path.includes("q") ? path : `//q${path}`),
  (path) => path.replace("/x", ";q=1/x"),
  (path) => path.replace("/x", "./x"),
  (path) => path.replace("/x", "%20/x"),
  (path) => path.replace("/x", "%00/x"),
  (path) => `${path}/../../api/x`,
];
const hexOf = (sign: string) => sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0");
/** Two bytes for a sign of one, which UTF-8 forbids. */
function longForm(sign: string): string {
  const code = sign.charCodeAt(0);
  return `%C${code >> 6}%${(0x80 | (code & 0x3f)).toString(16)}`;
}
/** The first sign behind a place that may be written in another way. */
function spelled(path: string, at: number, write: (sign: string) => string): string {
  const found = [...path.matchAll(/(?<![%\w])\/|(?<=[/\\])[a-z](?=pi)|(?<=a)p(?=i)/g)];
  const index = found[at % Math.max(1, found.length)]?.index;
  return index === undefined ? path : path.slice(0, index) + write(path[index] ?? "") + path.slice(index + 1);
}

test("no mix of disguises leads to the open site beside a closed one", async () => {
  const steps = fc.array(fc.tuple(fc.nat({ max: disguises.length - 1 }), fc.nat({ max: 9 })), {
    minLength: 1,
    maxLength: 6,
  });
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(steps, async (chain) => {
      const path = chain.reduce((made, [which, at]) => disguises[which]?.(made, at) ?? made, "/api/x");
      const target = path.startsWith("/") ? path : `/${path}`;
      const answer = await exchange(port, `GET ${target} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`);
      const outcome = /"name":"(.)"/.exec(answer)?.[1] ?? String(statuses(answer)[0]);
      seen.add(outcome);
      expect([target, outcome]).not.toEqual([target, "a"]);
    }),
    // Each disguise by itself, then mixes: those that are let through are few.
    {
      numRuns: disguises.length + Number(process.env.BERTH_TEST_CASES ?? 300),
      examples: disguises.map((_, which): [[number, number][]] => [[[which, 0]]]),
    },
  );
  // The test looks at what it says: some are let through to the closed site, others are refused.
  expect([...seen].sort()).toEqual(["400", "b"]);
}, 60_000);

/** Paths that visitors send, and whose every reading is of the same site. */
const usual = [
  ...["/x//y", "//x/y", "/api//x", "/caf%C3%A9", "/caf%c3%a9", "/a%20b;v=1", "/api/x%2Fy", "/api/projects/a%2Fb%2Fc"],
  ...["/100%25", "/50%25%20off", "/a%252Fb", "/search/C%23", "/wiki/What%3F", "/wiki/U.S.A.", "/wiki/Inc./x", "/..x/y"],
  ...["/.well-known/security.txt", "/.git", "/x;jsessionid=1", "/api", "/@vite/client", "/a+b/c,d/(e)!"],
  ...["/%C0%20propos", "/%E3%81%82/%F0%9F%98%80", "/%5Bid%5D/page.js", "/files/C%3A%5Cx.txt", "/~user/", "/a%7Cb"],
  ...[
    "/x%20",
    "/%",
    "/100%",
    "/a%zz",
    "/npm/@scope%2fname",
    "/https://other.example/x",
    "/https%3A%2F%2Fother.example%2Fx",
  ],
];

test("a path that visitors send goes to the site that is written", async () => {
  for (const path of usual) {
    for (const [host, name] of [
      ["a.test", path.startsWith("/api") ? "b" : "a"],
      ["x.wild.test", "d"],
      ["y.x.wild.test", "d"],
    ]) {
      const answer = await exchange(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect([path, statuses(answer)]).toEqual([path, [200]]);
      expect(answer).toContain(`"name":"${name}"`);
    }
  }
});

test("where one site has all of a host, any path goes through as it is", async () => {
  for (const path of ["/x/../y", "/..", "/%2e", "/%00", "/api//x/./y", "/%c0%af..", "/a%2500", "/x;/../y"]) {
    const answer = await exchange(port, `GET ${path} HTTP/1.1\r\nHost: x.wild.test\r\nConnection: close\r\n\r\n`);
    expect([path, statuses(answer)]).toEqual([path, [200]]);
  }
});

test("a host with an empty label is refused, and the dot of the root is not", async () => {
  const ask = async (host: string) =>
    statuses(await exchange(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`));
  for (const host of ["a.test..", "a..test", ".test", "x..wild.test", ".", "..", "a.test..:80"])
    expect([host, await ask(host)]).toEqual([host, [400]]);
  for (const host of ["a.test.", "a.test.:80", "x.wild.test."]) expect([host, await ask(host)]).toEqual([host, [200]]);
});

test("a replica is never asked for HTTP/2 inside of a connection, and for a WebSocket it is", async () => {
  const asked = async (upgrade: string, more: string) => {
    const lines = `Host: a.test\r\nConnection: Upgrade${more}\r\nUpgrade: ${upgrade}\r\nHTTP2-Settings: AAMAAABk`;
    const answer = await exchange(
      port,
      `GET / HTTP/1.1\r\n${lines}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    const { headers } = JSON.parse(/\{.*\}/s.exec(answer)?.[0] ?? "{}");
    return [headers.upgrade, headers.connection, headers["http2-settings"]];
  };
  expect((await asked("h2c", ", HTTP2-Settings"))[0]).toBeUndefined();
  expect((await asked("H2C, websocket", ", HTTP2-Settings"))[0]).toBeUndefined();
  expect((await asked("h2c", ""))[2]).toBeUndefined();
  expect(await asked("websocket", "")).toEqual(["websocket", expect.stringMatching(/upgrade/i), undefined]);
  expect(await asked("websocket", ", X-Forwarded-For")).toEqual(["websocket", "upgrade", undefined]);
});

test("a replica sees one client address, whatever the client says", async () => {
  const lies = {
    "x-forwarded-for": "6.6.6.6",
    "x-real-ip": "6.6.6.6",
    forwarded: "for=6.6.6.6",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "evil",
    "x-forwarded-port": "1",
    "x-berth-request-id": "mine",
    x_forwarded_for: "6.6.6.6",
    "x-forwarded_for": "6.6.6.6",
    x_real_ip: "6.6.6.6",
    x_berth_request_id: "mine",
    "x-forwarded-ssl": "on",
    connection: "close, X-Forwarded-For",
  };
  const { body, response } = await get("a.test", "/", lies);
  expect(body.headers).toMatchObject({
    "x-forwarded-for": "127.0.0.1",
    "x-real-ip": "127.0.0.1",
    forwarded: 'for="127.0.0.1";host="a.test";proto=http',
    "x-forwarded-proto": "http",
    "x-forwarded-host": "a.test",
    "x-forwarded-port": String(port),
    "x-berth-request-id": response.headers.get("x-berth-request-id") ?? "",
  });
  for (const name of ["x_forwarded_for", "x-forwarded_for", "x_real_ip", "x_berth_request_id", "x-forwarded-ssl"]) {
    expect(body.headers[name]).toBeUndefined();
  }
  expect(body.headers.connection ?? "").not.toContain("Forwarded");
});

test("replicas, routes, redirects and challenges change without a load", async () => {
  const moved: Site[] = [
    site("a", b, { options: { redirects: [{ from: "www.a.test", to: "a.test", status: 308 }] } }),
    ...sites.slice(1),
    site("new", d),
  ];
  const change = await proxy.apply(
    table(moved, { http: `127.0.0.1:${port}`, challenges: [{ token: "tok", keyAuthorization: "tok.key" }] }),
  );
  expect(change.reloadReasons).toEqual([]);
  expect((await get("a.test", "/")).body.name).toBe("b");
  expect((await get("new.test", "/")).body.name).toBe("d");
  expect((await get("whoever.example", "/.well-known/acme-challenge/tok")).body.text).toBe("tok.key");
  const { status, response } = await get("www.a.test", "/x?y=1");
  expect([status, response.headers.get("location")]).toEqual([308, "//a.test/x?y=1"]);
  await proxy.apply(table(sites, { http: `127.0.0.1:${port}` }));
  expect((await get("a.test", "/")).body.name).toBe("a");
  expect((await get("new.test", "/")).body.name).toBe("c");
});

test("the host * receives what no other host and path does", async () => {
  const rest = site("rest", d, { hosts: ["*"], paths: [{ prefix: "/", strip: false }] });
  await proxy.apply(table([...sites, rest], { http: `127.0.0.1:${port}` }));
  const names = async (...requests: [string, string][]) =>
    Promise.all(requests.map(async ([host, path]) => (await get(host, path)).body.name));
  expect(await names(["customer.example", "/"], ["a.b.c.example", "/x/y"], ["192.0.2.1", "/"], ["[::1]", "/"])).toEqual(
    [...["d", "d", "d", "d"]],
  );
  expect(await names(["a.test", "/x"], ["a.test", "/api"], ["x.test", "/"], ["part.of.one.test", "/api"])).toEqual([
    ...["a", "b", "c", "a"],
  ]);
  await proxy.apply(table(sites, { http: `127.0.0.1:${port}` }));
  expect((await get("customer.example", "/")).status).toBe(404);
});

test("many routes arrive as one step", async () => {
  const many = Array.from({ length: 400 }, (_, index) =>
    site("a", a, { id: `shop/n${index}`, hosts: [`n${index}.many.example`] }),
  );
  const loaded = await proxy.apply(table([...sites, ...many], { http: `127.0.0.1:${port}` }));
  expect(loaded.reloadReasons).toEqual(["no spare backend is left"]);
  // The process that was replaced may still answer what is under way.
  await waitFor("the new process", async () => (await get("n399.many.example", "/")).body.name === "a");
  const renamed = many.map((one) => ({ ...one, paths: [{ prefix: "/sub", strip: false }] }));
  const change = await proxy.apply(table([...sites, ...renamed], { http: `127.0.0.1:${port}` }));
  expect(change.commands.map(({ kind }) => kind).filter((kind) => kind !== "fill-map")).toEqual([
    // The routes, and the hosts of which a site has only a part.
    "prepare-map",
    "commit-map",
    "prepare-map",
    "commit-map",
  ]);
  expect((await get("n399.many.example", "/")).status).toBe(404);
  expect((await get("n399.many.example", "/sub/x")).body.name).toBe("a");
});
