import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../../src/base/wire/client.ts";
import { describe } from "../../src/orchestration/api/describe.ts";
import { operator, type Principal, tokenPrincipal } from "../../src/access/principal.ts";
import { limits } from "../../src/config/config.ts";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { makeFolders } from "../../src/base/disk/root.ts";
import { type RunDoor, startRunDoor } from "../../src/orchestration/http/callbacks/run-door.ts";
import { createLog } from "../../src/base/words/log.ts";
import { execInPod } from "../../plugins/kit/exec.ts";
import { fixtureImage } from "../support/manifests.ts";
import { printing, testPlugins, writePlugin } from "../support/plugins.ts";
import { type Plane, startPlane } from "../support/socket-plane.ts";
import { waitFor } from "../support/wait.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

/** Plugins with several grants, each told to hold its address until a test has asked with it. */
let plane: Plane;
let door: RunDoor;
const root = mkdtempSync(join(tmpdir(), "runs-"));
const layout = layoutOf(root);
const options = { dryRun: false, prune: false, actor: "t" };
const web = { kind: "deployment", scope: "data", name: "web", spec: { image: fixtureImage } };

const grants: Record<string, string> = {
  none: "{ actions: [], scopes: [] }",
  reader: "{ actions: [], scopes: [data] }",
  linker: "{ actions: [config_set], scopes: [data] }",
  worker: "{ actions: [apply_manifest, run_job], scopes: [data] }",
  low: "{ actions: [apply_manifest], scopes: [data], docker: false, root: false }",
  everything: "",
};

beforeAll(async () => {
  await makeFolders(layout);
  plane = await startPlane({ layout, plugins: testPlugins(layout, { controllerUrl: (token) => door.url(token) }) });
  const log = createLog((line) => plane.log.push(JSON.parse(line)), "debug");
  door = await startRunDoor({
    calls: plane.runCalls,
    plane: plane.behind,
    takeover: plane.takeover,
    headerPrefix: "X-Berth",
    limits,
    log,
  });
  for (const [name, permissions] of Object.entries(grants)) {
    const set = { kind: "statefulset", name: `${name}-db`, spec: { image: fixtureImage, command: ["sleep", "9"] } };
    writePlugin(layout, name, {
      yml: `name: ${name}\nversion: '1'\n${permissions === "" ? "" : `permissions: ${permissions}\n`}`,
      commands: {
        expand: printing({ status: "ok", data: set }),
        hold: 'printf %s "$BERTH_CONTROLLER_URL" > url; while [ ! -e go ] && [ -e plugin.yml ]; do sleep 0.02; done; rm -f go url',
      },
    });
  }
  const blocks = ["reader", "linker", "worker", "everything"].map((name) => ({
    kind: name,
    scope: "data",
    name: `${name}-db`,
    spec: {},
  }));
  await plane.controller.apply([...blocks, web, { ...web, scope: "other" }], options);
  await waitFor(
    "the pods to run",
    async () => (await plane.runtime.inspect(podRef("data-reader-db.0")))?.state === "running",
  );
});
afterAll(async () => {
  await door.stop(0);
  await plane.close();
  rmSync(root, { recursive: true, force: true });
});

/** Does `work` with the address of a run of the plugin, while the run lasts. */
async function during<T>(plugin: string, work: (url: string) => Promise<T>, by?: Principal): Promise<T> {
  const folder = join(layout.plugins, plugin);
  const ended = plane.controller.dispatchPlugin(
    { plugin, command: "hold", body: {} },
    { actor: "t", by, restart: true },
  );
  const url = () =>
    Bun.file(join(folder, "url"))
      .text()
      .catch(() => "");
  await waitFor("the run to say its address", async () => (await url()) !== "");
  try {
    return await work(await url());
  } finally {
    await Bun.write(join(folder, "go"), "");
    await ended;
  }
}

/** Statuses of calls, each `METHOD PATH` with a body perhaps. */
async function statuses(url: string, calls: readonly (readonly [string, unknown?])[]): Promise<Record<string, number>> {
  const rows = [];
  for (const [call, body] of calls) {
    const [method = "", path = ""] = call.split(" ");
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    rows.push([call, response.status] as const);
    await response.text();
  }
  return Object.fromEntries(rows);
}

const calls = [
  ["GET /health"],
  ["GET /describe?kind=deployment&scope=data&name=web"],
  ["GET /describe?kind=deployment&scope=other&name=web"],
  ["GET /describe?kind=deployment&name=web"],
  ["GET /pods?scope=data"],
  ["GET /pods"],
  ["GET /config?scope=data&name=web"],
  ["GET /config?scope=other&name=web"],
  ["POST /config?scope=data&name=web&restart=false", { A: "1" }],
  ["POST /config?scope=other&name=web&restart=false", { A: "1" }],
  ["DELETE /config?scope=data&name=web&key=B"],
  ["POST /apply", web],
  ["POST /apply", [web, { ...web, scope: "other" }]],
  ["POST /apply?prune=true", web],
  ["POST /apply", { kind: "none", scope: "data", name: "x", spec: {} }],
  ["POST /restart?kind=deployment&scope=data&name=web&wait=false"],
  ["DELETE /apply?kind=deployment&scope=data&name=absent"],
  ["GET /plugins"],
  ["POST /plugin/linker/absent", {}],
] as const;
/** A later row of the same call would hide an earlier one. */
const apply = calls.filter(([call]) => call === "POST /apply");

test("a run may do by its address what its plugin was granted, and nothing else", async () => {
  const of = (plugin: string) =>
    during(plugin, (url) =>
      statuses(
        url,
        calls.filter(([call]) => call !== "POST /apply"),
      ),
    );
  const refused = Object.fromEntries(calls.filter(([call]) => call !== "POST /apply").map(([call]) => [call, 403]));
  expect(await of("none")).toEqual({ ...refused, "GET /health": 200 });
  const reads = {
    ...refused,
    "GET /health": 200,
    "GET /describe?kind=deployment&scope=data&name=web": 200,
    "GET /pods?scope=data": 200,
  };
  expect(await of("reader")).toEqual(reads);
  expect(await of("linker")).toEqual({
    ...reads,
    "GET /config?scope=data&name=web": 200,
    "POST /config?scope=data&name=web&restart=false": 200,
    "POST /plugin/linker/absent": 400,
  });
  const everything = await of("everything");
  expect(Object.values(everything)).not.toContain(403);
});

test("every manifest of an apply is looked at", async () => {
  const of = (plugin: string) =>
    during(plugin, async (url) => {
      const answers = await Promise.all(apply.map(async (one) => (await statuses(url, [one]))[one[0]]));
      return answers;
    });
  expect(await of("linker")).toEqual([403, 403, 403]);
  expect(await of("worker")).toEqual([200, 403, 403]);
});

test("a plugin applies blocks of its own kind, in the scopes that it was granted", async () => {
  const apply = (kind: string, scope: string) =>
    during("worker", async (url) => {
      // The expansion of the fixture names its statefulset after the plugin.
      const block = { kind, scope, name: "worker-db", spec: {} };
      return (await fetch(`${url}/apply`, { method: "POST", body: JSON.stringify(block) })).status;
    });
  expect(await apply("worker", "data")).toBe(200);
  expect(await apply("worker", "other")).toBe(403);
  expect(await apply("reader", "data")).toBe(403);
});

test("a plugin without root applies nothing that would make it root", async () => {
  await during("low", async (url) => {
    const post = async (spec: object, kind = "deployment") => {
      const manifest = { kind, scope: "data", name: "low", spec: { image: fixtureImage, replicas: 0, ...spec } };
      const response = await fetch(`${url}/apply`, { method: "POST", body: JSON.stringify(manifest) });
      return `${response.status} ${await response.text()}`;
    };
    const root = "its plugin.yml has to ask for root under permissions";
    for (const kind of ["deployment", "Deployments", "app"]) {
      const answer = await post({ volumes: ["/:/host"] }, kind);
      expect(answer).toStartWith("403");
      expect(answer).toContain(`spec.volumes[0]: \\"/:/host\\" mounts a path of the machine; ${root}`);
    }
    expect(await post({ env_from: ["other/web"] })).toStartWith("403");
    expect(await post({ network_mode: "host" })).toStartWith("403");
    expect(await post({ volumes: "/:/host" })).toStartWith("400");
    expect(await post({ volumes: ["own:/data"] })).toStartWith("200");
  });
});

test("pods of its own blocks are the plugin's to stop, start and run commands in; others are not", async () => {
  await during("reader", async (url) => {
    const run = (pod: string) => execInPod(url, { pod, command: ["echo", "hi"], timeoutMs: 10_000 });
    await waitFor(
      "the pod to take commands",
      async () => (await run("data-reader-db.0").catch(() => undefined)) !== undefined,
    );
    await expect(run("data-linker-db.0")).rejects.toThrow(
      'was not granted POST /pods/data-linker-db.0/exec of "data/linker-db"',
    );
    expect(
      await statuses(url, [
        ["POST /pods/data-reader-db.0/start"],
        // One that has no container just now is still its own.
        ["POST /pods/data-reader-db.7/start"],
        ["POST /pods/data-linker-db.0/stop"],
        ["POST /pods/stranger/stop"],
        ["GET /config?scope=data&name=reader-db"],
        ["GET /config?scope=data&name=linker-db"],
        ["POST /backups/databases/restores?scope=data&name=reader-db&into=data/reader-db", {}],
        ["POST /backups/databases/restores?scope=data&name=reader-db&into=data/linker-db", {}],
      ]),
    ).toEqual({
      "POST /pods/data-reader-db.0/start": 200,
      "POST /pods/data-reader-db.7/start": 404,
      "POST /pods/data-linker-db.0/stop": 403,
      "POST /pods/stranger/stop": 403,
      "GET /config?scope=data&name=reader-db": 200,
      "GET /config?scope=data&name=linker-db": 403,
      // Nothing is mounted there in this test: what matters is that the door let it through.
      "POST /backups/databases/restores?scope=data&name=reader-db&into=data/reader-db": 405,
      "POST /backups/databases/restores?scope=data&name=reader-db&into=data/linker-db": 403,
    });
  });
});

test("an address ends with its run, names nobody else, and stands in no log", async () => {
  const url = await during("linker", async (its) => {
    const client = createClient({
      baseUrl: its,
      fetch: (to, init) => fetch(to, init),
      headers: { "X-Berth-Actor": "ana" },
    });
    await client.call(describe, { query: { kind: "deployment", scope: "data", name: "web" } });
    const twisted = [
      "/run/../config?scope=other&name=web",
      "/%63onfig?scope=other&name=web",
      "/config/?scope=other&name=web",
    ];
    for (const path of twisted) {
      expect([path, (await fetch(`${its}${path}`)).status]).toEqual([path, 403]);
    }
    expect((await fetch(`${its}/config?scope=data&scope=other&name=web`)).status).toBe(400);
    const origin = new URL(its).origin;
    expect((await fetch(`${origin}/config?scope=data&name=web`)).status).toBe(403);
    return its;
  });
  expect((await fetch(`${url}/health`)).status).toBe(403);
  const token = /[0-9a-f]{64}/.exec(url)?.[0] ?? "none";
  expect(JSON.stringify(plane.log)).not.toContain(token);
  const askers = plane.log.filter(({ path }) => path === "/describe").map(({ actor }) => actor);
  expect(askers).toContain("plugin linker");
  expect(askers).not.toContain("ana");
});

test("a run has no more rights than the caller that started it, whatever its plugin was granted", async () => {
  const bound = { ...web, name: "bound", spec: { ...web.spec, volumes: ["/srv:/data"] } };
  const requests = [
    ["POST /apply?dry_run=true", bound],
    ["POST /plugins/everything/disable"],
    [
      "POST /apply?dry_run=true",
      { kind: "strange", scope: "data", name: "x", spec: { plugin: { repo: "file:///x" } } },
    ],
    ["POST /apply?dry_run=true&force=true", { ...web, name: "calm" }],
  ] as const;
  const token = tokenPrincipal({ scopes: ["actions", "read"], apps: [] });
  const asked = (by: Principal, some: readonly (readonly [string, unknown?])[]) =>
    during("everything", (url) => Promise.all(some.map((one) => statuses(url, [one]))), by);
  const codes = (rows: Record<string, number>[]) => rows.flatMap((row) => Object.values(row));
  expect(codes(await asked(token, requests))).toEqual([403, 403, 403, 200]);
  expect(codes(await asked({ type: "pod" }, requests))).toEqual([403, 403, 403, 200]);
  expect(codes(await asked(operator, [requests[0], requests[3]]))).toEqual([200, 200]);
});

test("a run changes by its address only what the token that started it reaches, and looks into the pods of its block", async () => {
  const limited = tokenPrincipal({ scopes: ["actions", "read"], apps: ["data/web"] });
  const reading = tokenPrincipal({ scopes: ["read"], apps: [] });
  const job = (scope: string, name: string) => ({ kind: "job", scope, name, spec: { image: fixtureImage } });
  const rows: [request: string, body: unknown, limited: boolean, reading: boolean][] = [
    ["GET /describe?kind=deployment&scope=other&name=web", undefined, true, true],
    ["POST /config?scope=data&name=web&restart=false", { L: "1" }, true, false],
    ["POST /config?scope=data&name=web&dry_run=true", {}, true, false],
    ["POST /config?scope=other&name=web&dry_run=true", {}, false, false],
    ["POST /config?scope=other&name=web&restart=false", { L: "1" }, false, false],
    ["POST /config?scope=data&restart=false", { L: "1" }, false, false],
    ["DELETE /config?scope=other&name=web&key=L", undefined, false, false],
    ["POST /apply?dry_run=true", [job("data", "web"), job("other", "web")], false, false],
    ["POST /apply", job("other", "web"), false, false],
    ["POST /apply?prune=true", job("data", "web"), false, false],
    ["POST /apply", { kind: "linker", scope: "data", name: "web", spec: {} }, false, false],
    ["POST /restart?kind=deployment&scope=other&name=web&wait=false", undefined, false, false],
    ["POST /restart?kind=deployment&scope=data&name=web&wait=false", undefined, true, false],
    ["POST /scale?kind=deployment&scope=other&name=web&replicas=1", undefined, false, false],
    ["POST /pods/data-reader-db.0/stop", undefined, false, false],
    ["DELETE /apply?kind=deployment&scope=other&name=absent", undefined, false, false],
    ["DELETE /apply?kind=ingress&scope=data&name=web", undefined, false, false],
    ["DELETE /resource?scope=data&name=web", undefined, false, false],
    ["DELETE /apply?kind=job&scope=data&name=web", undefined, true, false],
    ["POST /plugins/reader/disable", undefined, false, false],
    ["GET /plugins", undefined, true, true],
  ];
  const asked = async (by: Principal) => {
    const answers = [];
    for (const [request, body] of rows) {
      const found = await during("everything", (url) => statuses(url, [[request, body]]), by);
      answers.push([request, Object.values(found)[0] !== 403]);
    }
    return answers;
  };
  expect(await asked(limited)).toEqual(rows.map(([request, , may]) => [request, may]));
  expect(await asked(reading)).toEqual(rows.map(([request, , , may]) => [request, may]));
  const look = (by: Principal) =>
    during(
      "everything",
      (url) => execInPod(url, { pod: "data-everything-db.0", command: ["true"], timeoutMs: 10_000 }),
      by,
    );
  await look(reading);
  await expect(look(limited)).rejects.toThrow("data/everything-db is out of reach of this token");
});
