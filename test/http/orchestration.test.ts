import { describe, expect, test } from "bun:test";
import { operator } from "../../src/access/principal.ts";
import { Failure } from "../../src/base/wire/failure.ts";
import { backupEndpoints } from "../../src/backups/api/backups.ts";
import { databaseEndpoints } from "../../src/backups/api/databases.ts";
import { drillEndpoints } from "../../src/backups/api/drills.ts";
import { repairEndpoints } from "../../src/backups/api/repairs.ts";
import { rehearsalEndpoints } from "../../src/backups/api/rehearsals.ts";
import { restoreEndpoints } from "../../src/backups/api/restore.ts";
import { fetchSource } from "../../src/orchestration/api/sources.ts";
import { orchestrationEndpoints } from "../../src/orchestration/api/endpoints.ts";
import { identityEndpoints } from "../../src/identity/api/manage/endpoints.ts";
import { ingressEndpoints } from "../../src/ingress/api/endpoints.ts";
import { operatorEndpoints } from "../../src/observability/api/operator-endpoints.ts";
import type { Controller } from "../../src/orchestration/controller/controller.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import type { RequestHead } from "../../src/base/http/front/request-head.ts";
import { createLog, type LogFields } from "../../src/base/words/log.ts";
import { createRecordingController, webManifest } from "../support/recording-controller.ts";

function start(overrides: Partial<Controller> = {}, prefix = "berth") {
  const { controller, calls } = createRecordingController(overrides);
  const log: LogFields[] = [];
  const app = createOrchestrationApp({
    controller,
    version: "1.2.3 (commit: abc)",
    names: naming(prefix),
    log: createLog((line) => log.push(JSON.parse(line)), "debug"),
    limits: { jsonDepthMax: 64, eventsPageMax: 1_000, execInputBytesMax: 1_000, logPingMs: 25_000 },
  });
  const ask = async (
    method: string,
    target: string,
    init: { body?: string; headers?: Record<string, string> } = {},
  ) => {
    const response = await app.fetch(new Request(`http://localhost${target}`, { method, ...init }));
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text.startsWith("{") ? JSON.parse(text) : undefined,
    };
  };
  const claims = (method: string, path: string) => app.takeover({ ...anyHead, method, path }) !== undefined;
  return { ask, claims, calls, log };
}

const anyHead: RequestHead = {
  method: "GET",
  target: "/",
  path: "/",
  version: "1.1",
  headers: [],
  host: "localhost",
  framing: { kind: "none" },
  keepAlive: true,
  expectsContinue: false,
};

const manifest = JSON.stringify(webManifest);

describe("every endpoint translates to one call", () => {
  const actor = "operator";
  test.each<[string, string, string | undefined, string, unknown[]]>([
    ["GET", "/system", undefined, "system", []],
    [
      "POST",
      "/apply",
      manifest,
      "apply",
      [webManifest, { dryRun: false, prune: false, force: false, actor, by: operator }],
    ],
    [
      "POST",
      "/apply?dry_run=true&prune=1",
      "[]",
      "apply",
      [[], { dryRun: true, prune: true, force: false, actor, by: operator }],
    ],
    [
      "POST",
      "/apply?force=true",
      "[]",
      "apply",
      [[], { dryRun: false, prune: false, force: true, actor, by: operator }],
    ],
    ["GET", "/apply", undefined, "listManifests", [{}, { blocks: false, status: false }]],
    [
      "GET",
      "/apply?kind=deployment&scope=%20s%20&name=",
      undefined,
      "listManifests",
      [
        { kind: "deployment", scope: "s" },
        { blocks: false, status: false },
      ],
    ],
    [
      "DELETE",
      "/apply?kind=job&scope=s&name=a&prune=true",
      undefined,
      "deleteManifest",
      [
        { kind: "job", scope: "s", name: "a" },
        { prune: true, actor },
      ],
    ],
    [
      "DELETE",
      "/resource?scope=s&name=db&ordinal=2",
      undefined,
      "deleteResource",
      [
        { scope: "s", name: "db", ordinal: "2" },
        { prune: false, actor },
      ],
    ],
    ["DELETE", "/scope?scope=s&prune=0", undefined, "deleteScope", ["s", { prune: false, actor }]],
    ["GET", "/describe?kind=deployment&name=web", undefined, "describe", [{ kind: "deployment", name: "web" }]],
    [
      "GET",
      "/pods?scope=s&detail=true",
      undefined,
      "listPods",
      [{ scope: "s" }, { detail: true, spec: false, env: false, by: { type: "operator" } }],
    ],
    [
      "GET",
      "/pods/s-web.ab1cd?spec=true",
      undefined,
      "getPod",
      ["s-web.ab1cd", { spec: true, env: false, by: { type: "operator" } }],
    ],
    ["GET", "/pods/s-web.ab1cd/ready", undefined, "podReady", ["s-web.ab1cd"]],
    ["POST", "/pods/s-web.0/stop", undefined, "stopPod", ["s-web.0", { freeze: true, actor }]],
    ["POST", "/pods/s-web.0/stop?freeze=false", undefined, "stopPod", ["s-web.0", { freeze: false, actor }]],
    ["POST", "/pods/s-web.0/start", undefined, "startPod", ["s-web.0", { actor }]],
    ["GET", "/config?scope=s", undefined, "getConfig", [{ scope: "s", merge: true }]],
    [
      "GET",
      "/config?scope=s&name=web&key=A&merge=false",
      undefined,
      "getConfig",
      [{ scope: "s", name: "web", key: "A", merge: false }],
    ],
    [
      "POST",
      "/config?scope=s&name=web&restart=false",
      '{"A":"1"}',
      "setConfig",
      [{ scope: "s", name: "web" }, { A: "1" }, { restart: false, dryRun: false, actor, by: operator }],
    ],
    [
      "POST",
      "/config?scope=s&empty=A,B",
      '{"A":"","B":"","C":""}',
      "setConfig",
      [
        { scope: "s" },
        { A: "", B: "", C: "" },
        { restart: true, dryRun: false, empty: ["A", "B"], actor, by: operator },
      ],
    ],
    [
      "DELETE",
      "/config?scope=s&key=A",
      undefined,
      "unsetConfig",
      [
        { scope: "s", key: "A" },
        { restart: true, dryRun: false, actor, by: operator },
      ],
    ],
    [
      "POST",
      "/restart?name=web&wait=true",
      undefined,
      "restart",
      [{ name: "web" }, { wait: true, pull: false, actor, by: operator }],
    ],
    [
      "POST",
      "/restart?name=web&pull=true",
      undefined,
      "restart",
      [{ name: "web" }, { wait: true, pull: true, actor, by: operator }],
    ],
    [
      "POST",
      "/scale?kind=deployment&scope=s&name=web&replicas=3",
      undefined,
      "scale",
      [{ kind: "deployment", scope: "s", name: "web", replicas: "3" }, { actor }],
    ],
    ["POST", "/wake?scope=s&name=web", undefined, "wake", [{ scope: "s", name: "web" }, { actor }]],
    ["GET", "/why?scope=s&name=web", undefined, "why", [{ scope: "s", name: "web" }]],
    ["GET", "/operations/op1", undefined, "operation", ["op1"]],
    ["GET", "/hooks/deliveries?name=web", undefined, "deliveries", [{ name: "web", limit: 50 }]],
    [
      "GET",
      "/hooks/deliveries?kind=deployment&scope=s&name=web&limit=7",
      undefined,
      "deliveries",
      [{ kind: "deployment", scope: "s", name: "web", limit: 7 }],
    ],
    ["GET", "/events", undefined, "events", [{ limit: 100 }]],
    ["GET", "/events?scope=s&after=7&limit=1000", undefined, "events", [{ scope: "s", after: 7, limit: 1_000 }]],
  ])("%s %s", async (method, target, body, called, args) => {
    const { ask, calls } = start();
    const answer = await ask(method, target, body === undefined ? {} : { body });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.text).toEndWith("}\n");
    expect(answer.json.status).toBe("ok");
    expect(calls).toHaveLength(1);
    expect(calls[0]?.method).toBe(called);
    // Whether the caller is still there is for the work itself.
    const told = JSON.stringify(calls[0]?.args, (field, value: unknown) => (field === "left" ? undefined : value));
    expect(JSON.parse(told)).toEqual(args);
  });

  test("and no endpoint is left out of the app", async () => {
    const { ask, calls, claims } = start();
    // Those of other services are held against real ones: identity/manage.test.ts, ingress/certificates.test.ts, observability/mounted.test.ts,
    // e2e/ui/new-server.test.ts, backups.test.ts.
    const others = [
      ...backupEndpoints,
      ...databaseEndpoints,
      ...restoreEndpoints,
      ...drillEndpoints,
      ...rehearsalEndpoints,
      ...repairEndpoints,
      ...identityEndpoints,
      ...ingressEndpoints,
      ...operatorEndpoints,
      fetchSource,
    ];
    for (const { method, path } of orchestrationEndpoints.filter((one) => !others.includes(one))) {
      if (claims(method, path.replaceAll(/:[a-z]+/g, "a"))) continue;
      const target = `${path.replaceAll(/:[a-z]+/g, "a")}${method === "PUT" ? "?offset=0" : ""}`;
      const before = calls.length;
      const answer = await ask(method, target, method === "POST" ? { body: "{}" } : {});
      // The controller of this test refuses some.
      expect([path, answer.status === 200 || calls.length === before + 1]).toEqual([path, true]);
    }
  });
});

test("exec and logs are claimed from the app, with their neighbours left to it", () => {
  const { claims } = start();
  expect(claims("POST", "/pods/a.0/exec")).toBe(true);
  expect(claims("GET", "/pods/a.0/logs")).toBe(true);
  expect(claims("HEAD", "/pods/a.0/logs")).toBe(true);
  const others = [
    "POST /pods/a/logs",
    "GET /pods/a/exec",
    "GET /pods/a/exec/id",
    "POST /pods//exec",
    "POST /pods/a/exec/",
  ];
  for (const [method = "", path = ""] of others.map((text) => text.split(" "))) {
    expect([method, path, claims(method, path)]).toEqual([method, path, false]);
  }
});

test("stats tell the age of the figures in a header", async () => {
  const sampled_at = new Date(Date.now() - 7_000).toISOString();
  const { ask, calls } = start({ stats: async () => ({ pods: [], snapshot: true, sampled_at }) });
  const { headers, json } = await ask("GET", "/stats?scope=s&orphans=1");
  expect(json.data).toEqual({ pods: [], snapshot: true, sampled_at });
  expect(["7", "8"]).toContain(headers.get("x-berth-snapshot-age") ?? "");
  expect(calls[0]?.args).toEqual([{ scope: "s" }, { orphans: true, live: false }]);
});

test("every answer tells the version of the server, errors too", async () => {
  const { ask } = start();
  for (const path of ["/health", "/system", "/no/such/path"]) {
    expect((await ask("GET", path)).headers.get("X-Berth-Version")).toBe("1.2.3 (commit: abc)");
  }
});

describe("bodies", () => {
  test("/health is flat and exact", async () => {
    expect((await start().ask("GET", "/health")).text).toBe('{"status":"ok","version":"1.2.3 (commit: abc)"}\n');
  });

  test("stop answers with name and freeze and nothing more", async () => {
    const { text } = await start().ask("POST", "/pods/a.0/stop");
    expect(text).toBe('{"status":"ok","data":{"name":"a.0","freeze":true}}\n');
  });

  test("a config change tells keys and what restarts", async () => {
    const { text } = await start().ask("POST", "/config?scope=s", { body: '{"A":"<secret>"}' });
    expect(text).toBe('{"status":"ok","data":{"changed":["A"],"restarting":["deployment/s/web"]}}\n');
  });

  test("a pod that is not ready is 503 with the same body", async () => {
    const readiness = { container_name: "a.0", ready: false, startup_passed: true, reason: "probe failed" };
    const answer = await start({ podReady: () => readiness }).ask("GET", "/pods/a.0/ready");
    expect(answer.status).toBe(503);
    expect(answer.json).toEqual({ status: "ok", data: { readiness } });
  });

  test("a restart that is not waited for is 202 with the operation", async () => {
    const begun = { kind: "deployment", scope: "s", name: "web", unfroze: [], operation: "op1" };
    const answer = await start({ restart: async () => begun }).ask("POST", "/restart?name=web&wait=false");
    expect(answer.status).toBe(202);
    expect(answer.json.data.operation).toBe("op1");
  });

  test("markup characters are not escaped", async () => {
    const { text } = await start({ getConfig: () => ({ vars: { A: "<&>" } }) }).ask("GET", "/config?scope=s");
    expect(text).toContain('"<&>"');
  });

  test("HEAD answers like GET without the body", async () => {
    const answer = await start().ask("HEAD", "/health");
    expect(answer.status).toBe(200);
    expect(answer.text).toBe("");
  });

  test("the content type of a request does not matter", async () => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "image/png",
    ]) {
      const { ask, calls } = start();
      const answer = await ask("POST", "/apply", { body: manifest, headers: { "Content-Type": type } });
      expect(answer.status).toBe(200);
      expect(calls[0]?.args[0]).toEqual(webManifest);
    }
  });

  test("unknown fields and __proto__ arrive as they were sent, and pollute nothing", async () => {
    const { ask, calls } = start();
    const body = '{"kind":"x","unknown":{"__proto__":{"polluted":1}},"__proto__":{"a":1}}';
    expect((await ask("POST", "/apply", { body })).status).toBe(200);
    expect(JSON.stringify(calls[0]?.args[0])).toBe(body);
    expect("polluted" in {}).toBe(false);
  });
});

describe("the actor", () => {
  test.each([
    ["X-Berth-Actor", " ada@laptop ", "ada@laptop"],
    ["X-Berth-Actor", "", "operator"],
    ["X-Berth-Actor", "x".repeat(129), "operator"],
    ["X-Berth-Actor", "caf\u00e9", "operator"],
    ["X-Other-Actor", "ada", "operator"],
  ])("%s: %j is %j", async (header, value, actor) => {
    const { ask, calls } = start();
    await ask("POST", "/pods/a.0/start", { headers: { [header]: value } });
    expect(calls[0]?.args[1]).toEqual({ actor });
  });

  test("the header is the same for every prefix", async () => {
    const { ask, calls } = start({}, "harbor");
    await ask("POST", "/pods/a.0/start", { headers: { "X-Berth-Actor": "ada" } });
    expect(calls[0]?.args[1]).toEqual({ actor: "ada" });
  });
});

describe("refused with 400 before the controller is asked", () => {
  test.each([
    ["POST", "/apply?dry_run=yes", manifest, 'query dry_run: "yes" is not a boolean, write true or false'],
    ["POST", "/apply?dry_run=true&dry_run=false", manifest, "query dry_run: given more than once"],
    ["DELETE", "/apply?kind=a&name=b&prune=TRUE", undefined, "query prune"],
    ["POST", "/apply", "", "the body is empty, send JSON"],
    ["POST", "/apply", " \n", "the body is empty, send JSON"],
    ["POST", "/config?scope=s", undefined, "the body is empty, send JSON"],
    ["POST", "/apply", '{"kind": "x",\n  nope}', 'body line 2 column 3: expected a key in double quotes but found "n"'],
    ["POST", "/apply", "[".repeat(10_000) + "]".repeat(10_000), "body line 1 column 65: nested deeper than 64 levels"],
    ["POST", "/apply", '{"a":1,"a":2}', 'key "a" is given twice'],
    ["GET", "/pods/-a", undefined, 'pod name "-a"'],
    ["GET", "/pods/a%2Fb", undefined, 'pod name "a/b"'],
    ["GET", "/pods/%00/ready", undefined, "pod name"],
    ["GET", "/pods/%zz", undefined, "pod name"],
    ["POST", "/pods/..%2f..%2fetc/stop", undefined, "pod name"],
    ["GET", "/events?limit=1001", undefined, "query limit"],
    ["GET", "/events?limit=-1", undefined, "query limit"],
    ["GET", "/events?after=x", undefined, "query after"],
  ])("%s %s", async (method, target, body, words) => {
    const { ask, calls } = start();
    const answer = await ask(method, target, body === undefined ? {} : { body });
    expect(answer.status).toBe(400);
    expect(answer.json.status).toBe("error");
    expect(answer.json.error).toContain(words);
    expect(calls).toEqual([]);
  });

  test("a body that is not UTF-8", async () => {
    const { controller } = createRecordingController();
    const app = createOrchestrationApp({
      controller,
      version: "1",
      names: naming(),
      log: createLog(() => {}),
      limits: { jsonDepthMax: 64, eventsPageMax: 1_000, execInputBytesMax: 1_000, logPingMs: 25_000 },
    });
    const response = await app.fetch(
      new Request("http://localhost/apply", { method: "POST", body: new Uint8Array([0x22, 0xff, 0x22]) }),
    );
    expect([response.status, await response.json()]).toEqual([
      400,
      { status: "error", error: "the body is not UTF-8 text", code: "invalid" },
    ]);
  });
});

describe("unknown routes", () => {
  test.each(["/nope", "/", "/apply/", "/pods/a/nope", "//health", "/__proto__", "/HEALTH"])(
    "%s is 404 in the envelope",
    async (path) => {
      const answer = await start().ask("GET", path);
      expect(answer.status).toBe(404);
      expect(answer.json.error).toContain(JSON.stringify(path));
    },
  );

  test.each([
    ["PUT", "/apply", "POST, GET, HEAD, DELETE"],
    ["POST", "/health", "GET, HEAD"],
    ["OPTIONS", "/pods/a.0/stop", "POST"],
    ["DELETE", "/pods/a.0", "GET, HEAD"],
    ["HEAD", "/restart", "POST"],
    ["POST", "/openapi.json", "GET, HEAD"],
  ])("%s %s is 405 and says %s", async (method, path, allow) => {
    const answer = await start().ask(method, path);
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe(allow);
    if (method !== "HEAD")
      expect(answer.json).toEqual({
        status: "error",
        error: expect.stringContaining(allow),
        code: "method_not_allowed",
      });
  });
});

describe("errors", () => {
  test.each([
    ["invalid", 400],
    ["not_found", 404],
    ["conflict", 409],
    ["gone", 410],
    ["unavailable", 503],
    ["timeout", 504],
    ["storage_full", 507],
  ] as const)("a failure %s answers %d with its text", async (code, status) => {
    const describeFails = async () => {
      throw new Failure(code, 'deployment "web" is not there', { cause: new Error("private") });
    };
    const answer = await start({ describe: describeFails }).ask("GET", "/describe?kind=deployment&name=web");
    expect(answer.status).toBe(status);
    expect(answer.text).toBe(`{"status":"error","error":"deployment \\"web\\" is not there","code":"${code}"}\n`);
  });

  test("unavailable says when to come back", async () => {
    const answer = await start({
      podReady: () => {
        throw new Failure("unavailable", "the engine is away", { retryAfterSeconds: 5 });
      },
    }).ask("GET", "/pods/a.0/ready");
    expect(answer.headers.get("retry-after")).toBe("5");
  });

  test.each(["sync", "async"])("a bug is a 500 whose id leads to the cause in the log (%s)", async (kind) => {
    const bug = () => {
      throw new TypeError("private detail");
    };
    const { ask, log } = start(kind === "sync" ? { listManifests: bug } : { describe: async () => bug() });
    const answer = await ask("GET", kind === "sync" ? "/apply" : "/describe");
    expect(answer.status).toBe(500);
    const [, id] = /^internal error, id ([0-9a-f]{8})$/.exec(answer.json.error) ?? [];
    expect(id).toBeString();
    const entry = log.find((line) => line.id === id);
    expect(JSON.stringify(entry)).toContain("private detail");
  });
});

describe("the request log", () => {
  test("has one line per request, without the query", async () => {
    const { ask, log } = start();
    await ask("GET", "/config?scope=s&key=TOKEN", { headers: { "X-Berth-Actor": "ada" } });
    expect(log).toEqual([
      {
        time: expect.any(String),
        level: "info",
        message: "request",
        method: "GET",
        path: "/config",
        status: 200,
        ms: expect.any(Number),
        actor: "ada",
      },
    ]);
  });

  test("polled paths are debug lines", async () => {
    const { ask, log } = start();
    await ask("GET", "/health");
    await ask("GET", "/pods/a.0/ready");
    expect(log.map(({ level, path }) => [level, path])).toEqual([
      ["debug", "/health"],
      ["debug", "/pods/a.0/ready"],
    ]);
  });

  test("refused requests are lines too, and no value of a body or query is in any", async () => {
    const { ask, log } = start();
    await ask("POST", "/config?scope=hunter2&restart=hunter2", { body: '{"A":"hunter2"}' });
    await ask("PUT", "/nope?x=hunter2");
    expect(log.map(({ status }) => status)).toEqual([400, 404]);
    expect(JSON.stringify(log)).not.toContain("hunter2");
  });
});
