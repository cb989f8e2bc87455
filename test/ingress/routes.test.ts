import { afterAll, beforeAll, expect, test } from "bun:test";
import { freePort } from "../support/ports.ts";
import { type TestProxy, startProxy } from "../support/haproxy.ts";
import { waitFor } from "../support/wait.ts";
import { exchange, statuses } from "../support/raw-http.ts";
import { site, table, upstream } from "../support/ingress-table.ts";
import type { Site } from "../../src/ingress/core/table.ts";

let port: number;
let proxy: TestProxy;
const servers = ["a", "b", "c", "d"].map((name) =>
  Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => Response.json({ name, path: new URL(request.url).pathname, headers: request.headers.toJSON() }),
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
  ...["//x/api", "///x/api", "/\\x/api", "//x\\%61pi", "//x/y/../api"],
];

test("a path that an app may take for one of another site is refused", async () => {
  for (const host of ["a.test", "a.test."]) {
    const answers = twoWays.map(async (path) =>
      statuses(await exchange(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)),
    );
    expect(await Promise.all(answers)).toEqual(twoWays.map(() => [400]));
  }
});

test("a path that an app may take for one that nothing serves is refused", async () => {
  const part = "GET /api/../x HTTP/1.1\r\nHost: part.of.one.test\r\nConnection: close\r\n\r\n";
  expect(statuses(await exchange(port, part))).toEqual([400]);
});

test("an odd path that is of one site only goes through as it is", async () => {
  const paths = [
    "/x//y",
    "//x/y",
    "/api//x/./y",
    "/caf%C3%A9",
    "/caf%c3%a9",
    "/a%20b;v=1",
    "/x/../y",
    "/api/x%2Fy",
    "/%00",
    "/..",
    "/%2e",
  ];
  for (const path of paths) {
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
    "prepare-map",
    "commit-map",
  ]);
  expect((await get("n399.many.example", "/")).status).toBe(404);
  expect((await get("n399.many.example", "/sub/x")).body.name).toBe("a");
});
