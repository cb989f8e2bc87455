import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { planeEndpoints } from "../../../src/observability/api/endpoints.ts";

import type { PodEndpoint } from "../../../src/orchestration/api/pod-endpoint.ts";
import type { PluginInfo } from "../../../src/orchestration/api/plugins.ts";
import { appFacts } from "../../support/app-facts.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";
import { waitFor } from "../../support/wait.ts";

/** The container of a plugin, played by a server of its own. */
let seen: { method: string; url: string; headers: Record<string, string>; body: string }[] = [];
let release: () => void = () => undefined;
let cut = false;
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.2",
  async fetch(request) {
    const url = new URL(request.url);
    const body = await request.text();
    seen.push({ method: request.method, url: request.url, headers: Object.fromEntries(request.headers), body });
    if (url.pathname === "/moved") return new Response(null, { status: 302, headers: { Location: "/login?x=1" } });
    if (url.pathname === "/slow") {
      request.signal.addEventListener("abort", () => (cut = true));
      const bytes = new ReadableStream({
        async start(controller) {
          controller.enqueue("first");
          await new Promise<void>((resolve) => (release = resolve));
          controller.enqueue("second");
          controller.close();
        },
      });
      return new Response(bytes, { headers: { "Content-Type": "text/plain" } });
    }
    return new Response("<script>evil()</script>", {
      headers: {
        ...{ "Content-Type": "text/html", "Set-Cookie": "berth=1", "Content-Security-Policy": "script-src *" },
        ...{ "Access-Control-Allow-Origin": "*", "Alt-Svc": 'h2="evil:1"', "Clear-Site-Data": "*", ETag: "e1" },
        ...{ "Service-Worker-Allowed": "/", "Strict-Transport-Security": "max-age=9", "WWW-Authenticate": "Basic" },
      },
    });
  },
});

const tool = (over: Partial<PluginInfo> = {}): PluginInfo => ({
  ...{ name: "tool", version: "1", description: "", homepage: "", aliases: [], kinds: ["tool"], commands: [], env: {} },
  ...{ origin: "installed", enabled: true, full_grant: false, routes: { prefix: "desk", port: upstream.port } },
  permissions: { actions: [], scopes: ["*"], docker: false },
  ...over,
});
const pod = (over: Partial<PodEndpoint>): PodEndpoint => ({
  ...{ kind: "deployment", scope: "data", name: "main", replica: "a", node: "local", id: "c1" },
  ...{ ip: "127.0.0.2", ports: [upstream.port ?? 0], ready: true, leaving: false },
  ...over,
});

const rates = { burst: 1_000, perMinute: 1_000 };
let it: PlaneWorld;
let pods: PodEndpoint[];
let plugins: PluginInfo[];

beforeEach(() => {
  [seen, cut] = [[], false];
  plugins = [tool()];
  pods = [pod({}), pod({ name: "foreign" }), pod({ name: "plain" })];
  it = planeWorld({
    apps: [
      appFacts({ scope: "data", name: "main", block: "tool/data/main" }),
      appFacts({ scope: "data", name: "foreign", block: "postgres/data/foreign" }),
      appFacts({ scope: "data", name: "plain" }),
    ],
    limits: { rates: { actions: rates, clicks: rates, reads: rates, failures: rates, refusals: rates, keysMax: 10 } },
    controller: {
      listPlugins: async () => ({ plugins, errors: [] }),
      listManifests: () => [
        { kind: "deployment", scope: "data", name: "main", spec: { env: { LISTEN: `0.0.0.0:${upstream.port}` } } },
      ],
    },
    // The fake container has an address of this machine, which the real rule refuses.
    routes: { endpoints: () => pods, fetch: (url, init) => fetch(url, { ...init, redirect: "manual" } as RequestInit) },
  });
});
afterEach(() => it.close());
afterAll(() => upstream.stop(true));

const status = async (request: string, scopes: string[], more: Record<string, unknown> = {}) => {
  const token = await it.token(scopes, more);
  const { status: code, error } = await it.ask(request, { token });
  return [code, error] as const;
};

describe("routes of plugins", () => {
  test("lead to the container, without the rights of the caller", async () => {
    const token = await it.token(["read"]);
    const headers = {
      ...{
        Cookie: "berth=1",
        "X-Berth-Actor": "root",
        "X-Forwarded-For": "10.0.0.1",
        "X-Own": "kept",
        Origin: "http://a",
      },
      ...{ "Proxy-Authorization": "Basic x", Connection: "X-Hop", "X-Hop": "1", Referer: "http://a/?token=1" },
    };
    await it.ask("GET /desk/data/main/rows/a%2Fb?q=1&q=2", { token, headers });
    const [request] = seen;
    expect(request?.url).toBe(`http://127.0.0.2:${upstream.port}/rows/a%2Fb?q=1&q=2`);
    const sent = request?.headers ?? {};
    expect(JSON.stringify(sent)).not.toContain(token);
    expect(sent).toMatchObject({ "x-own": "kept", "x-forwarded-for": "192.0.2.1" });
    expect(sent["x-forwarded-prefix"]).toBe("/api/pat/v1/desk/data/main");
    for (const name of [
      "cookie",
      "authorization",
      "proxy-authorization",
      "x-hop",
      "referer",
      "x-berth-actor",
      "origin",
    ]) {
      expect([name, sent[name]]).toEqual([name, undefined]);
    }
  });

  test("what a container answers cannot act as the page that it is under", async () => {
    const { headers } = await it.ask("GET /desk/data/main/", { token: await it.token(["read"]) });
    expect(headers.get("content-security-policy")).toBe("sandbox");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("etag")).toBe("e1");
    const bad = ["set-cookie", "access-control-allow-origin", "alt-svc", "clear-site-data", "service-worker-allowed"];
    for (const name of [...bad, "strict-transport-security", "www-authenticate"]) {
      expect([name, headers.get(name)]).toEqual([name, null]);
    }
    const moved = await it.ask("GET /desk/data/main/moved", { token: await it.token(["read"]) });
    expect([moved.status, moved.headers.get("location")]).toEqual([302, "/api/pat/v1/desk/data/main/login?x=1"]);
    const script = { "Sec-Fetch-Dest": "script", "Sec-Fetch-Site": "same-origin" };
    expect(
      (await it.ask("GET /desk/data/main/x.js", { token: await it.token(["read"]), headers: script })).status,
    ).toBe(403);
  });

  test("reading needs read, everything else actions and is on record", async () => {
    expect((await status("GET /desk/data/main/x", ["actions"]))[0]).toBe(403);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      expect([method, (await status(`${method} /desk/data/main/x?secret=1`, ["read"]))[0]]).toEqual([method, 403]);
      expect([method, (await status(`${method} /desk/data/main/x?secret=1`, ["actions"]))[0]]).toEqual([method, 200]);
    }
    expect(seen.map(({ method }) => method)).toEqual(["POST", "PUT", "PATCH", "DELETE"]);
    const [entry] = it.store.audit.list({ limit: 1 });
    expect(entry).toMatchObject({ target: "/api/pat/v1/desk/data/main/x", outcome: "ok" });
    expect(JSON.stringify(entry)).not.toContain("secret");
    expect((await it.ask("GET /desk/data/main/x")).status).toBe(401);
    const head = await it.ask("HEAD /desk/data/main/x", { token: await it.token(["read"]) });
    expect([head.status, head.text]).toEqual([200, ""]);
  });

  test.each([
    ["/desk/data/foreign/x", "a block of another plugin"],
    ["/desk/data/plain/x", "an app that no plugin made"],
    ["/desk/data/nothing/x", "nothing of this name"],
    ["/other/data/main/x", "no plugin with this prefix"],
    ["/desk/data", "too short"],
  ])("%s is a 404: %s", async (path) => {
    expect((await status(`GET ${path}`, ["read"]))[0]).toBe(404);
    expect(seen).toEqual([]);
  });

  test("a token that is limited to others, and a plugin that is disabled, reach nothing", async () => {
    expect((await status("GET /desk/data/main/x", ["read"], { apps: ["shop"] }))[0]).toBe(404);
    expect((await status("GET /desk/data/main/x", ["read"], { apps: ["data/main"] }))[0]).toBe(200);
    plugins = [tool({ enabled: false })];
    expect((await status("GET /desk/data/main/x", ["read"]))[0]).toBe(404);
  });

  test("what cannot be reached is a 502 that says why", async () => {
    const ask = () => status("GET /desk/data/main/x", ["read"]);
    pods = [pod({ ready: false })];
    expect(await ask()).toEqual([502, "no replica of data/main is ready"]);
    pods = [];
    expect(await ask()).toEqual([502, "no replica of data/main is ready"]);
    pods = [pod({ ip: "127.0.0.1" })];
    expect((await ask())[0]).toBe(502);
    pods = [pod({})];
    plugins = [tool({ routes: { prefix: "desk", port: 1 } })];
    expect(await ask()).toEqual([502, "the container of data/main cannot be reached"]);
    plugins = [tool({ routes: { prefix: "desk", port: 1, port_env: "LISTEN" } })];
    expect((await ask())[0]).toBe(200);
  });

  test("an answer comes as it is made, and a revoke cuts it", async () => {
    const token = await it.token(["read"]);
    const url = "http://plane.test/api/pat/v1/desk/data/main/slow";
    const response = await it.app.fetch(new Request(url, { headers: { Authorization: `Bearer ${token}` } }));
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("first");
    const rest = reader?.read().catch(() => "cut");
    await it.manage(`DELETE /pats/${token.slice(4, 10)}`);
    expect(await rest).toBe("cut");
    await waitFor("the container to hear of it", () => cut);
    release();
    expect(it.running.observability.streams.count()).toBe(0);
  });

  test("a body is handed on, up to the limit", async () => {
    const token = await it.token(["actions"]);
    const body = "x".repeat(3 * 1024 * 1024);
    const { status: code } = await it.ask("POST /desk/data/main/upload", { token, body });
    expect([code, seen[0]?.body.length]).toEqual([200, body.length]);
  });

  test("no plugin takes a path of the plane", async () => {
    const firsts = new Set(planeEndpoints.map(({ path }) => path.split("/")[1] ?? ""));
    for (const prefix of firsts) {
      plugins = [tool({ routes: { prefix, port: upstream.port } })];
      await status(`GET /${prefix}/data/main/x`, ["read"]);
    }
    expect(seen).toEqual([]);
  });
});
