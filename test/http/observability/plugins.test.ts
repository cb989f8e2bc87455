import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Operation } from "../../../src/observability/api/operations.ts";
import type { BlockView } from "../../../src/observability/api/plugins.ts";
import type { PluginRun } from "../../../src/orchestration/api/dispatch.ts";
import type { Manifest } from "../../../src/orchestration/api/manifest.ts";
import type { PluginInfo } from "../../../src/orchestration/api/plugins.ts";
import { appFacts } from "../../support/app-facts.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";
import { Failure } from "../../../src/base/wire/failure.ts";
import type { Controller } from "../../../src/orchestration/controller/controller.ts";
import type { PluginCaller } from "../../../src/orchestration/controller/requests.ts";
import { waitFor } from "../../support/wait.ts";

const at = "2026-01-01T00:00:00.000Z";
const done = { message: "done\nmore", applied: [], exec_local: [], fetch_file: [], run_id: "r1" };

const postgres: PluginInfo = {
  ...{ name: "postgres", version: "0.1.0", description: "", homepage: "", aliases: ["pg"], kinds: ["postgres", "pg"] },
  commands: [
    { name: "attend", access: "operator" },
    { name: "info", reads: true },
    { name: "backup", long: true },
    { name: "restore", destructive: true },
    { name: "link" },
    { name: "expose", access: "server" },
    { name: "query", reads: true, reveals: true },
    { name: "rotate", reveals: true },
  ],
  ...{ env: { TOKEN: "s3cret" }, origin: "installed", enabled: true, source: "https://user:pw@git.example.com/pg.git" },
  ...{ permissions: { actions: [], scopes: ["*"], docker: false }, full_grant: false },
};

const run = (args: string[]): PluginRun => ({
  ...{ run_id: args.join("-") || "none", plugin: "postgres", version: "0.1.0", command: "info", args, actor: "ci" },
  ...{ status: "succeeded", started_at: at, applied: [], tail: [] },
});

const block = (scope: string) => ({
  ...{ kind: "postgres", scope, name: "main", spec: { image: "postgres:17" } },
  status: { plugin: "postgres", version: "0.1.0", children: [{ ref: `statefulset/${scope}/main` }] },
});

const rates = { burst: 1_000, perMinute: 1_000 };
let it: PlaneWorld;
let fault: Error | undefined;
let installed: PluginInfo[];
let manifests: Manifest[];
let begin: ((caller: PluginCaller) => Promise<unknown>) | undefined;
let release: () => void = () => undefined;

beforeEach(() => {
  fault = undefined;
  begin = undefined;
  installed = [postgres];
  manifests = [block("data"), block("other"), { kind: "asset", scope: "data", name: "x", spec: {} }];
  it = planeWorld({
    apps: [
      appFacts({ kind: "statefulset", scope: "data", name: "main", block: "postgres/data/main", image: "postgres:17" }),
    ],
    limits: { rates: { actions: rates, clicks: rates, reads: rates, failures: rates, refusals: rates, keysMax: 10 } },
    controller: {
      installPlugin: (async (_: unknown, caller: PluginCaller) =>
        begin === undefined ? { name: "pg" } : begin(caller)) as unknown as Controller["installPlugin"],
      listPlugins: async () => ({ plugins: installed, errors: ["broken: no plugin.yml"] }),
      listPluginRuns: async () => ({ runs: [run(["data/main"]), run(["other/main"]), run([])] }),
      listManifests: () => manifests,
      dispatchPlugin: async ({ command }, { onLine }) => {
        onLine?.(`${command} works`);
        if (command === "backup") await new Promise<void>((resolve) => (release = resolve));
        if (fault !== undefined) throw fault;
        return done;
      },
    },
  });
});
afterEach(() => it.close());

const calls = (method: string) => it.calls.filter((call) => call.method === method).map(({ args }) => args);
const operation = (answer: { data: Record<string, unknown> }) => answer.data.operation as Operation;
const database = "/databases/postgres/data/main";

describe("plugins", () => {
  test("are listed; what only the whole server's viewers may see is left out for a limited token", async () => {
    const all = await it.ask("GET /plugins", { token: await it.token(["read"]) });
    expect(all.data).toEqual({ plugins: [postgres], errors: ["broken: no plugin.yml"] });
    const some = await it.ask("GET /plugins", { token: await it.token(["read"], { apps: ["data"] }) });
    expect(some.data).toMatchObject({ plugins: [{ name: "postgres", env: {} }], errors: [] });
    expect(some.text).not.toContain("git.example.com");
  });

  test("their runs are those that name an app of the token", async () => {
    const idsOf = async (more: Record<string, unknown>) => {
      const { data } = await it.ask("GET /plugins/runs?plugin=pg&limit=5", { token: await it.token(["read"], more) });
      return (data.runs as PluginRun[]).map(({ run_id: id }) => id);
    };
    expect(await idsOf({})).toEqual(["data/main", "other/main", "none"]);
    expect(await idsOf({ apps: ["data"] })).toEqual(["data/main"]);
    expect(calls("listPluginRuns")[0]).toEqual([{ plugin: "pg", limit: 5 }]);
  });

  test("an install needs a look first, and no folder of the server can be its source", async () => {
    const token = await it.token(["admin"]);
    const install = (body: unknown) => it.ask("POST /plugins/install", { token, body });
    expect(await install({ source: "acme/pg" })).toMatchObject({
      status: 400,
      error: expect.stringContaining("preview"),
    });
    expect(await install({ source: "/root/pg", preview: true })).toMatchObject({ status: 400 });
    // Blanks around a source are left out before it is read.
    for (const source of ["file:///root/pg", " /root/pg", "\t./pg", "\u00a0file:///root/pg", " ~/pg"])
      expect([source, (await install({ source, preview: true })).status]).toEqual([source, 400]);
    expect(await install({ source: "acme/pg", link: true, preview: true })).toMatchObject({ status: 400 });
    expect(calls("installPlugin")).toEqual([]);
    for (const seen of [undefined, {}, { preview: false }, { expect: null }])
      expect([seen, (await it.ask("POST /plugins/pg/update", { token, body: seen })).status]).toEqual([seen, 400]);
    expect(calls("updatePlugin")).toEqual([]);
    expect(await install({ source: "acme/pg", preview: true })).toMatchObject({ status: 200 });
    const expected = "0".repeat(64);
    expect(await install({ source: "acme/pg", expect: expected })).toMatchObject({ status: 200 });
    expect(calls("installPlugin").map(([body]) => body)).toEqual([
      { source: "acme/pg", preview: true },
      { source: "acme/pg", expect: expected },
    ]);
    expect(calls("installPlugin")[0]?.[1]).toMatchObject({ by: { type: "token", scopes: ["admin"], apps: [] } });
    expect(it.store.audit.list({ limit: 1 })[0]).toMatchObject({ action: "POST /api/pat/v1/plugins/install" });
  });

  test("are managed by tokens for the whole server alone", async () => {
    const token = await it.token(["admin"]);
    for (const [request, method] of [
      ["POST /plugins/pg/rollback", "rollbackPlugin"],
      ["POST /plugins/pg/enable", "setPluginEnabled"],
      ["POST /plugins/pg/disable", "setPluginEnabled"],
      ["DELETE /plugins/pg", "removePlugin"],
      ["GET /plugins/pg/changes", "pluginChanges"],
      ["POST /plugins/pg/accept", "acceptPlugin"],
      ["GET /plugins/pg/config", "getPluginConfig"],
      ["POST /plugins/pg/config", "setPluginConfig"],
    ] as const) {
      const bodies = { accept: { expect: "0".repeat(64) }, config: { vars: { KEY: "value" } } };
      const verb = Object.entries(bodies).find(([each]) => request.startsWith("POST") && request.endsWith(`/${each}`));
      const body = verb?.[1];
      expect([request, (await it.ask(request, { token, body })).status]).toEqual([request, 200]);
      expect(calls(method)).not.toEqual([]);
      const limited = await it.olderToken(["admin"], ["data"]);
      expect([request, (await it.ask(request, { token: limited, body })).status]).toEqual([request, 403]);
    }
    expect(it.store.audit.list({ limit: 5 }).map(({ action }) => action)).toContain(
      "POST /api/pat/v1/plugins/:name/accept",
    );
  });
});

describe("an install that tells its progress", () => {
  const progress = { Accept: "application/x-ndjson" };
  const body = { source: "acme/pg", preview: true };

  test("is a stream of its token: a revoke ends it, and the work with it", async () => {
    const ended = Promise.withResolvers<string>();
    begin = async ({ signal, onLine }) => {
      onLine?.("downloading");
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      ended.resolve("ended");
      throw new Failure("unavailable", "was cut");
    };
    const token = await it.token(["admin"]);
    const answer = it.ask("POST /plugins/install", { token, body, headers: progress });
    const { streams } = it.running.observability;
    await waitFor("the stream", () => streams.count() === 1);
    await it.manage(`DELETE /pats/${token.slice(4, 10)}`);
    expect(await ended.promise).toBe("ended");
    expect((await answer).text).toContain("downloading");
    expect(streams.count()).toBe(0);
    const outcomes = () => it.store.audit.list({ limit: 5 }).map(({ action, outcome }) => `${action} ${outcome}`);
    await waitFor("the audit entry", () => outcomes().includes("POST /api/pat/v1/plugins/install status 503"));
  });

  test("is over when its work is, and one without progress is no stream", async () => {
    const token = await it.token(["admin"]);
    const { streams } = it.running.observability;
    for (const headers of [progress, {}]) {
      const counts: number[] = [];
      begin = async ({ onLine }) => {
        onLine?.("done soon");
        counts.push(streams.count());
        return { name: "pg" };
      };
      expect((await it.ask("POST /plugins/install", { token, body, headers })).status).toBe(200);
      expect([counts, streams.count()]).toEqual([[headers === progress ? 1 : 0], 0]);
    }
  });
});

describe("databases", () => {
  test("are the blocks that a token reaches, with how they are and the commands that it can call", async () => {
    const token = await it.token(["read"], { apps: ["data"] });
    const { data } = await it.ask("GET /databases", { token });
    const [view, ...more] = data.blocks as BlockView[];
    expect(more).toEqual([]);
    expect(view).toMatchObject({
      ...{ plugin: "postgres", scope: "data", name: "main", version: "0.1.0", state: "ready", image: "postgres:17" },
      ...{ desired: 1, ready: 1, children: ["statefulset/data/main"] },
    });
    expect(view?.commands.map(({ name }) => name)).not.toContain("attend");
    expect(view?.commands).toContainEqual({ name: "restore", destructive: true, reads: false, reveals: false });
  });

  test("a command that reads is answered at once, as the token", async () => {
    const token = await it.token(["read"]);
    const answer = await it.ask(`GET ${database}/info?args=-o+json`, { token });
    expect([answer.status, answer.data]).toEqual([200, done]);
    expect(calls("dispatchPlugin")[0]).toEqual([
      { plugin: "postgres", command: "info", body: { args: ["data/main", "-o", "json"] } },
      expect.objectContaining({
        actor: `pat:${token.slice(4, 10)}`,
        by: { type: "token", scopes: ["read"], apps: [] },
      }),
    ]);
  });

  test("a command runs with the apps and scopes of its token", async () => {
    const token = await it.token(["read", "actions", "config:reveal"], { apps: ["data/main"] });
    const asks = [
      [`GET ${database}/info`, undefined],
      [`POST ${database}/link`, { args: ["data/main"] }],
      [`POST ${database}/query/reveal`, {}],
    ] as const;
    for (const [request, body] of asks) await it.ask(request, { token, ...(body === undefined ? {} : { body }) });
    await waitFor("the commands", () => calls("dispatchPlugin").length === asks.length);
    for (const [, options] of calls("dispatchPlugin")) {
      expect(options).toMatchObject({ by: { type: "token", apps: ["data/main"] } });
    }
  });

  test("a kind has every word that its plugin knows", async () => {
    const token = await it.token(["read"]);
    expect((await it.ask("GET /databases/pg/data/main/info", { token })).status).toBe(200);
    expect((await it.ask("GET /databases/redis/data/main/info", { token })).status).toBe(404);
  });

  test("a command that changes something is an operation, which tells how far it is", async () => {
    const token = await it.token(["actions", "read"]);
    const begun = await it.ask(`POST ${database}/backup`, { token, body: { args: ["--keep", "3"] } });
    expect(begun.status).toBe(202);
    const { id, type, app } = operation(begun);
    expect([type, app]).toEqual(["postgres:backup", { kind: "postgres", scope: "data", name: "main" }]);
    const now = async () => (await it.ask(`GET /operations/${id}`, { token })).data as Operation;
    await waitFor("progress", async () => (await now()).text === "backup works");
    release();
    await waitFor("the end", async () => (await now()).state === "succeeded");
    expect(await now()).toMatchObject({ text: "done", output: "done\nmore", run_id: "r1" });
    fault = new Error("no");
    const failing = operation(await it.ask(`POST ${database}/link`, { token, body: { args: ["shop/web"] } }));
    const end = await waitFor("the fault", async () => {
      const { data } = await it.ask(`GET /operations/${failing.id}`, { token });
      return data.state === "failed" && data;
    });
    expect(end).toMatchObject({ error: expect.stringContaining("internal error") });
  });

  test("an answer that can hold secrets needs config:reveal, and is kept nowhere", async () => {
    const token = await it.token(["config:reveal"]);
    const body = { args: ["-c", "select 'hunter2'"] };
    const answer = await it.ask(`POST ${database}/query/reveal`, { token, body });
    expect([answer.status, answer.data.message, answer.headers.get("cache-control")]).toEqual([
      ...[200, done.message, "no-store"],
    ]);
    const [entry] = it.store.audit.list({ limit: 1 });
    expect(entry).toMatchObject({ target: `/api/pat/v1${database}/query/reveal`, outcome: "ok" });
    expect(JSON.stringify(entry)).not.toContain("hunter2");
    expect(await it.ask(`POST ${database}/rotate/reveal`, { token, body: {} })).toMatchObject({ status: 403 });
  });

  test.each([
    ["GET", "backup", "", 400, "use POST"],
    ["POST", "info", "", 400, "use GET"],
    ["GET", "query", "", 403, "config:reveal"],
    ["POST", "rotate", "", 403, "config:reveal"],
    ["POST", "attend", "", 403, "for operators"],
    ["POST", "nothing", "", 404, "no command"],
    ["POST", "restore", "", 400, "confirm=data/main"],
    ["POST", "restore", "?confirm=data/mian", 400, "confirm=data/main"],
    ["POST", "restore", "?confirm=data/main", 202, ""],
  ])("%s …/%s%s is %p", async (method, command, query, status, text) => {
    const token = await it.token(["read", "actions"]);
    const body = method === "GET" ? {} : { body: {} };
    const answer = await it.ask(`${method} ${database}/${command}${query}`, { token, ...body });
    expect([answer.status, answer.error.includes(text)]).toEqual([status, true]);
  });

  test("a limited token calls no command beyond its apps", async () => {
    const token = await it.token(["read", "actions"], { apps: ["data", "shop/web"] });
    const ask = async (command: string, args: string[], block = database) =>
      (await it.ask(`POST ${block}/${command}`, { token, body: { args } })).status;
    expect(await ask("link", ["shop/web"])).toBe(202);
    expect(await ask("link", ["shop/api"])).toBe(403);
    expect(await ask("link", ["--app=other/main"])).toBe(403);
    expect(await ask("expose", [])).toBe(403);
    expect(await ask("link", ["shop/web"], "/databases/postgres/other/main")).toBe(404);
  });
});

describe("a block that is stranded", () => {
  const stranded: [string, { plugin: string; stranded: string }, PluginInfo[]][] = [
    ["its plugin is gone", { plugin: "postgres", stranded: 'made by the plugin "postgres", which is gone' }, []],
    ["another one of its name came", { plugin: "postgres", stranded: "made by the bundled plugin" }, [postgres]],
    ["its plugin is disabled", { plugin: "postgres", stranded: "disabled" }, [{ ...postgres, enabled: false }]],
    ["another plugin has its kind", { plugin: "old", stranded: "made by old" }, [postgres]],
    // Also where nothing says so: its maker is simply not there.
    ["a maker that nobody knows", { plugin: "old", stranded: undefined as never }, [postgres]],
  ];
  const everything = ["read", "actions", "config:reveal", "exec"] as const;
  const callers: [string, () => Promise<string>][] = [
    ["a token", () => it.token([...everything])],
    ["a token with admin", () => it.token([...everything, "admin"])],
    ["a token for its app", () => it.token([...everything], { apps: ["data/main"] })],
  ];
  const asks = [
    ["GET", "info", ""],
    ["GET", "query", ""],
    ["GET", "nothing", ""],
    ["POST", "backup", ""],
    ["POST", "restore", "?confirm=data/main"],
    ["POST", "expose", ""],
    ["POST", "attend", ""],
    ["POST", "query/reveal", ""],
    ["POST", "rotate/reveal", ""],
  ] as const;

  describe.each(stranded)("since %s", (_, { plugin, stranded: why }, plugins) => {
    test.each(callers)("is listed without commands, and answers none of %s", async (_, tokenOf) => {
      const status = { plugin, version: "0.1.0", children: [], ...(why === undefined ? {} : { stranded: why }) };
      manifests = [{ ...block("data"), status } as Manifest];
      installed = plugins;
      const token = await tokenOf();
      const { data } = await it.ask("GET /databases", { token });
      expect(data.blocks).toMatchObject([{ scope: "data", name: "main", commands: [] }]);
      for (const kind of ["postgres", "pg"]) {
        for (const [method, command, query] of asks) {
          const request = `${method} /databases/${kind}/data/main/${command}${query}`;
          const { status: code, error } = await it.ask(request, { token, ...(method === "GET" ? {} : { body: {} }) });
          expect([request, code, /no command|does not exist/.test(error)]).toEqual([request, 404, true]);
        }
      }
      expect(calls("dispatchPlugin")).toEqual([]);
    });
  });
});
