import { rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { fetchPlane, plane, type Ask } from "../support/plane.ts";
import { acting, printing, testPlugins, writePlugin } from "../support/plugins.ts";
import { world, type World } from "../support/world.ts";
import { deployment } from "../support/manifests.ts";

let it: World;
let ask: Ask;
beforeEach(async () => {
  it = await world({ plugins: (layout) => testPlugins(layout) });
  ask = plane(it);
});
afterEach(() => it.close());

const cat = 'printf "%s|" "$@"; cat';

describe("the list", () => {
  test("a folder dropped in by hand is noticed, one that is broken is told in errors", async () => {
    expect((await ask("GET /plugins")).data).toEqual({ plugins: [], errors: [] });
    writePlugin(it.layout, "redis", {
      yml: "name: redis\nversion: 0.10\naliases: [cache]\ncommands:\n  - {name: info, help: tells}\n",
      commands: { info: "echo hi", hidden: "echo no" },
    });
    writePlugin(it.layout, "broken", { yml: "name: [", commands: {} });
    const { data } = await ask("GET /plugins");
    expect(data.plugins).toMatchObject([
      { name: "redis", version: "0.10", aliases: ["cache"], origin: "folder", enabled: true, full_grant: true },
    ]);
    expect(data.errors).toEqual([expect.stringContaining("broken: plugin.yml")]);
    expect((await ask("GET /plugins/cache")).data).toMatchObject({ name: "redis", commands: [{ name: "info" }] });
    const missing = await ask("GET /plugins/nothing");
    expect(missing.status).toBe(404);
    expect(missing.error).toContain("installed are redis, cache");
  });

  test("a kind whose plugin cannot be used says why, and its blocks are told", async () => {
    const manifest = { kind: "deployment", name: "x", spec: { image: "a" } };
    writePlugin(it.layout, "greet", { commands: { expand: printing({ status: "ok", data: [manifest] }) } });
    const block = { kind: "greet", scope: "s", name: "x", spec: {} };
    expect((await ask("POST /apply", block)).status).toBe(200);
    const folder = writePlugin(it.layout, "greet", { yml: "name: [", commands: {} });
    const why = "the plugin of this kind cannot be used: greet: plugin.yml";
    for (const kind of ["greet", "other"]) {
      const { status, error } = await ask("POST /apply", { ...block, kind });
      expect([status, error.includes(why)]).toEqual([400, kind === "greet"]);
    }
    writePlugin(it.layout, "greet", { commands: { hello: "true" } });
    expect((await ask("POST /apply", block)).error).toContain('"greet" has no command "expand"');
    rmSync(folder, { recursive: true });
    expect((await ask("GET /plugins")).data.errors).toEqual([expect.stringContaining("such as greet/s/x; what they")]);
    expect((await ask("DELETE /apply?kind=greet&scope=s&name=x")).status).toBe(200);
    expect((await ask("GET /plugins")).data.errors).toEqual([]);
    expect((await ask("DELETE /apply?kind=greet&scope=s&name=x")).error).toContain('unknown kind "greet"');
  });
});

describe("dispatch", () => {
  test("gives the plugin its words, its input and its environment; plain text becomes the message", async () => {
    const folder = writePlugin(it.layout, "redis", {
      yml: "name: redis\naliases: [cache]\nversion: 1.2\nenv: {LEVEL: deep}\n",
      commands: {
        info: `${cat}; echo; echo "$PWD $LEVEL $BERTH_PLUGIN_DIR $BERTH_ROOT $BERTH_NODE $BERTH_PROTOCOL $BERTH_CONTROLLER_URL $DOCKER_HOST"`,
      },
    });
    const answer = await ask("POST /plugin/cache/info", { args: ["-h", "a b", "--", "-o", "json"] });
    expect(answer.status).toBe(200);
    const [words = "", env] = String(answer.data.message).split("\n");
    const [text = ""] = words.split("|").slice(-1);
    expect(words.split("|").slice(0, -1)).toEqual(["-h", "a b", "--", "-o", "json"]);
    expect(JSON.parse(text)).toEqual({
      protocol: 1,
      plugin: "cache",
      command: "info",
      controller_url: "http://127.0.0.1:1",
      plugin_dir: folder,
      node_name: "local",
    });
    expect(env).toBe(`${folder} deep ${folder} ${it.layout.root} local 1 http://127.0.0.1:1 unix:///engine.sock`);
    expect(answer.data.applied).toEqual([]);
    expect(answer.data.exec_local).toEqual([]);
  });

  test("a body may be left out", async () => {
    writePlugin(it.layout, "redis", { commands: { info: "echo ok" } });
    expect((await ask("POST /plugin/redis/info")).data).toMatchObject({ message: "ok" });
  });

  test("an unknown plugin and an unknown command are 400 and name what there is", async () => {
    const commands = Object.fromEntries(
      Array.from({ length: 25 }, (_, at) => [`c${String(at).padStart(2, "0")}`, "true"]),
    );
    writePlugin(it.layout, "redis", { commands });
    const plugin = await ask("POST /plugin/rediss/info", {});
    expect([plugin.status, plugin.error]).toEqual([
      400,
      'no plugin "rediss"; did you mean "redis"; installed are redis',
    ]);
    const command = await ask("POST /plugin/redis/c000", {});
    expect(command.status).toBe(400);
    expect(command.error).toContain('plugin "redis" has no command "c000"');
    expect(command.error).toContain("c00, c01");
    expect(command.error).toEndWith("c19 ...");
    expect((await ask("POST /plugin/..%2Fx/info", {})).status).toBe(400);
  });

  test("failures: exit code, envelope on stdout, envelope on stderr, plain stderr", async () => {
    writePlugin(it.layout, "p", {
      commands: {
        code: "echo some words >&2; exit 3",
        out: `${printing({ status: "error", error: "no such database" })}\nexit 1`,
        zero: printing({ status: "error", error: "refused" }),
        err: `echo looking >&2; echo '{"status":"error","error":"<gone>"}' >&2; exit 2`,
        silent: "exit 1",
        signal: "kill -TERM $$",
        half: `echo '{"status":"ok","da'`,
        two: `echo '{"status":"ok"}'; echo '{"status":"ok"}'`,
      },
    });
    const error = async (command: string) => {
      const answer = await ask(`POST /plugin/p/${command}`, {});
      return [answer.status, answer.error];
    };
    expect(await error("code")).toEqual([400, 'plugin "p" code exited 3: some words']);
    expect(await error("out")).toEqual([400, 'plugin "p" out exited 1: no such database']);
    expect(await error("zero")).toEqual([400, 'plugin "p" zero: refused']);
    expect(await error("err")).toEqual([400, 'plugin "p" err exited 2: <gone>\nlooking']);
    expect(await error("silent")).toEqual([400, 'plugin "p" silent exited 1: no output']);
    expect(await error("signal")).toEqual([400, 'plugin "p" signal was ended by SIGTERM']);
    expect(await error("half")).toEqual([400, expect.stringContaining("not one whole JSON object")]);
    expect(await error("two")).toEqual([400, expect.stringContaining("not one whole JSON object")]);
  });

  test("an object without status, null actions and missing data are fine", async () => {
    writePlugin(it.layout, "p", {
      commands: {
        bare: printing({ replicas: 2 }),
        nothing: printing({ status: "ok" }),
        null: printing({ status: "ok", data: { message: "m", actions: null } }),
        facts: printing({ status: "ok", data: { url: "x", replicas: 2, actions: [] } }),
        app: 'echo "$BERTH_APP"',
      },
    });
    expect((await ask("POST /plugin/p/bare", {})).data.message).toBe('{"replicas":2}');
    expect((await ask("POST /plugin/p/nothing", {})).data).toMatchObject({ message: "", applied: [] });
    expect((await ask("POST /plugin/p/null", {})).data).toMatchObject({ message: "m", applied: [] });
    const facts = await ask("POST /plugin/p/facts", {});
    expect(JSON.parse(String(facts.data.message))).toEqual({ url: "x", replicas: 2 });
    expect((await ask("POST /plugin/p/app", { args: ["-v", "data/main.0"] })).data.message).toBe("data-main");
  });

  test("a time limit of the command ends it", async () => {
    writePlugin(it.layout, "p", {
      yml: "name: p\ncommands:\n  - {name: slow, timeout: 200ms}\n",
      commands: { slow: "echo waiting >&2; sleep 60" },
    });
    const answer = await ask("POST /plugin/p/slow", {});
    expect([answer.status, answer.error]).toEqual([
      500,
      'plugin "p" slow took longer than its time limit and was ended: waiting',
    ]);
    const { data } = await ask("GET /plugins/runs");
    expect(data.runs).toMatchObject([{ status: "timed_out", plugin: "p", command: "slow", tail: ["waiting"] }]);
  });
});

describe("actions", () => {
  const all = [
    { type: "config_set", scope: "s", name: "web", kv: { A: "1", B: "2" } },
    { type: "config_unset", scope: "s", name: "web", keys: ["B"] },
    {
      type: "apply_manifest",
      manifest: { kind: "Deployments", scope: "s", name: "web", spec: { image: "fixture:1" } },
    },
    { type: "apply_manifest", manifest: { kind: "job", scope: "s", name: "once", spec: { image: "fixture:1" } } },
    { type: "delete_manifest", kind: "jobs", scope: "s", name: "never" },
    { type: "run_job", scope: "s", name: "once", summary: "backup b001 dispatched" },
    { type: "exec_local", command: ["docker", "exec", "-it", "c", "psql"] },
    { type: "fetch_file", remote_path: "/a", dest_path: "b", size_bytes: 3 },
  ];

  test("all seven, in order, with their labels", async () => {
    writePlugin(it.layout, "p", { commands: { go: acting(all) } });
    const { status, data } = await ask("POST /plugin/p/go", {});
    expect(status).toBe(200);
    expect(data).toMatchObject({
      message: "done",
      applied: [
        "config_set s/web",
        "config_unset s/web",
        "apply_manifest deployment/s/web",
        "apply_manifest job/s/once",
        "delete_manifest job/s/never",
        "backup b001 dispatched",
      ],
      exec_local: [{ command: ["docker", "exec", "-it", "c", "psql"] }],
      fetch_file: [{ remote_path: "/a", dest_path: "b", size_bytes: 3 }],
    });
    expect(it.store.config.bucket("s", "web")).toEqual({ A: "1" });
    expect(it.store.manifests.get({ kind: "deployment", scope: "s", name: "web" })).toBeDefined();
    expect(it.store.runs.list({ kind: "job", scope: "s", name: "once" })).toHaveLength(1);
    expect((await ask("GET /plugins/runs?plugin=p")).data.runs).toMatchObject([
      { status: "succeeded", command: "go", exit_code: 0, applied: data.applied, actor: "operator" },
    ]);
  });

  test("config for a name that nothing has and nothing reads is set, and a warning says so", async () => {
    const urls = [{ DATABASE_URL: "1" }, { READ_URL: "1", OLD_URL: "" }].map((kv) => {
      return { type: "config_set", scope: "s", name: "wbe", kv };
    });
    writePlugin(it.layout, "p", { commands: { go: acting(urls) } });
    const warnings = async () => (await ask("POST /plugin/p/go", {})).data.warnings;
    const text =
      "nothing is called s/wbe yet: DATABASE_URL, READ_URL are in its config, and nothing reads that until it is applied";
    expect(await warnings()).toEqual([text]);
    expect(it.store.config.bucket("s", "wbe")).toEqual({ DATABASE_URL: "1", READ_URL: "1" });
    expect(await warnings()).toEqual([text]);
    const reader = { image: "fixture:1", env_from: ["wbe"] };
    await ask("POST /apply", { kind: "deployment", scope: "s", name: "reader", spec: reader });
    expect(await warnings()).toBeUndefined();
    await ask("DELETE /manifests/deployment/s/reader");
    await ask("POST /apply", { kind: "deployment", scope: "s", name: "wbe", spec: { image: "fixture:1" } });
    expect(await warnings()).toBeUndefined();
  });

  test("one that is wrong is told before the first is carried out", async () => {
    const wrong = [
      { type: "config_sett", scope: "s", name: "web", kv: {} },
      { type: "config_set", scope: "", name: "web", kv: { A: "1" } },
      { type: "config_set", scope: "s", name: "web", kv: { A: 1 } },
      { type: "config_set", scope: "s", name: "../web", kv: { A: "1" } },
      { type: "config_set", scope: "s", name: "web", kv: { "A B": "1" } },
      { type: "apply_manifest", manifest: { kind: "app", scope: "s", name: "x", spec: { image: "a" } } },
      { type: "apply_manifest", manifest: { kind: "postgres", scope: "s", name: "x", spec: {} } },
      { type: "apply_manifest", manifest: { kind: "deployment", scope: "s", name: "x", spec: { imagee: "a" } } },
      { type: "delete_manifest", kind: "postgres", scope: "s", name: "x" },
      { type: "run_job", scope: "s", name: "nowhere" },
      { type: "exec_local", command: [] },
      { type: "fetch_file", remote_path: "", dest_path: "x" },
      "word",
      null,
    ];
    for (const action of wrong) {
      writePlugin(it.layout, "p", { commands: { go: acting([all[0], action]) } });
      const answer = await ask("POST /plugin/p/go", {});
      expect([answer.status, JSON.stringify(action)]).toEqual([400, JSON.stringify(action)]);
      expect(it.store.config.bucket("s", "web")).toEqual({});
    }
    writePlugin(it.layout, "p", { commands: { go: acting([all[0], wrong[0]]) } });
    expect((await ask("POST /plugin/p/go", {})).error).toContain(
      'actions[1].type: "config_sett" is not an action; did you mean "config_set"',
    );
  });

  test("one that fails in the transaction undoes those before it", async () => {
    await ask("POST /apply", { kind: "deployment", scope: "a", name: "b-c", spec: { image: "fixture:1" } });
    const clash = {
      type: "apply_manifest",
      manifest: { kind: "deployment", scope: "a-b", name: "c", spec: { image: "fixture:1" } },
    };
    writePlugin(it.layout, "p", { commands: { go: acting([all[0], clash]) } });
    expect((await ask("POST /plugin/p/go", {})).status).toBe(409);
    expect(it.store.config.bucket("s", "web")).toEqual({});
    expect((await ask("GET /plugins/runs")).data.runs).toMatchObject([{ status: "failed", applied: [] }]);
  });

  test("config restarts who reads it, unless the action or the caller says not to", async () => {
    await it.apply(deployment("s", "web", { replicas: 1 }));
    await it.settle();
    const generation = () => it.store.manifests.get({ kind: "deployment", scope: "s", name: "web" })?.generation ?? 0;
    const set = (value: string, more = {}) =>
      writePlugin(it.layout, "p", {
        commands: { go: acting([{ type: "config_set", scope: "s", name: "web", kv: { A: value }, ...more }]) },
      });
    const before = generation();
    set("1", { skip_restart: true });
    await ask("POST /plugin/p/go", {});
    expect(generation()).toBe(before);
    set("2");
    await ask("POST /plugin/p/go?restart=false", {});
    expect(generation()).toBe(before);
    set("3");
    await ask("POST /plugin/p/go", {});
    expect(generation()).toBeGreaterThan(before);
  });

  test("what was not granted is refused, and nothing of the answer is carried out", async () => {
    const yml = "name: p\npermissions: {actions: [config_set], scopes: [data]}\n";
    const go = (actions: unknown[]) =>
      writePlugin(it.layout, "p", { yml, commands: { go: acting(actions), env: "echo [$DOCKER_HOST]" } });
    const allowed = { type: "config_set", scope: "data", name: "web", kv: { A: "1" } };
    go([allowed, { type: "delete_manifest", kind: "job", scope: "data", name: "x" }]);
    expect((await ask("POST /plugin/p/go", {})).error).toContain(
      'actions[1]: the plugin was not granted "delete_manifest"',
    );
    go([allowed, { ...allowed, scope: "other" }]);
    expect((await ask("POST /plugin/p/go", {})).error).toContain('not granted the scope "other"');
    expect(it.store.config.bucket("data", "web")).toEqual({});
    go([allowed]);
    expect((await ask("POST /plugin/p/go", {})).status).toBe(200);
    expect((await ask("POST /plugin/p/env", {})).data.message).toBe("[]");
  });
});

describe("a plugin without root", () => {
  const yml = "name: p\npermissions: {actions: [apply_manifest], scopes: [mine], docker: false, root: false}\n";
  const job = (spec: object) => ({ kind: "job", scope: "mine", name: "x", spec: { image: "i:1", ...spec } });

  test("applies nothing by an action that would make it root, and what its scopes hold", async () => {
    const go = (spec: object) =>
      writePlugin(it.layout, "p", { yml, commands: { go: acting([{ type: "apply_manifest", manifest: job(spec) }]) } });
    go({ volumes: ["/:/host"] });
    expect(await ask("POST /plugin/p/go", {})).toMatchObject({
      status: 400,
      error:
        'plugin "p" go: actions[0].manifest.spec.volumes[0]: "/:/host" mounts a path of the machine; its plugin.yml has to ask for root under permissions',
    });
    go({ env_from: ["other/app"] });
    expect((await ask("POST /plugin/p/go", {})).error).toContain('"other/app" is of the scope "other"');
    expect(it.store.manifests.list({ scope: "mine" })).toEqual([]);
    go({ volumes: ["data:/data"] });
    expect((await ask("POST /plugin/p/go", {})).status).toBe(200);
  });

  test("expands to nothing that would make it root, unless the operator wrote it into the block", async () => {
    writePlugin(it.layout, "p", { yml, commands: { expand: printing([job({ volumes: ["/srv:/host"] })]) } });
    const block = { kind: "p", scope: "mine", name: "x", spec: {} };
    const { status, error } = await ask("POST /apply", block);
    expect(status).toBe(400);
    expect(error).toContain('p/mine/x: job/mine/x: spec.volumes[0]: "/srv:/host" mounts a path of the machine');
    expect((await ask("POST /apply", { ...block, spec: { volumes: ["/srv:/host"] } })).status).toBe(200);
  });
});

describe("the legacy path", () => {
  test("passes on envelopes and text, without input and actions", async () => {
    writePlugin(it.layout, "p", {
      commands: {
        env: 'cat; echo "$EXTRA $1"',
        ok: acting([{ type: "config_set", scope: "s", name: "web", kv: { A: "1" } }]),
        bad: `${printing({ status: "error", error: "no" })}\nexit 1`,
        fails: "echo out; echo err >&2; exit 1",
      },
    });
    const exec = (args: string[], env?: object) => ask("POST /plugins/exec", { args, ...(env ? { env } : {}) });
    expect((await exec(["p", "env", "x"], { EXTRA: "more" })).data).toEqual({ stdout: "more x" });
    expect((await exec(["p", "ok"])).data).toMatchObject({ message: "done" });
    expect(it.store.config.bucket("s", "web")).toEqual({});
    expect(await exec(["p", "bad"])).toMatchObject({ status: 500, error: "no" });
    expect(await exec(["p", "fails"])).toMatchObject({ status: 500, error: 'plugin "p" fails exited 1: out\nerr' });
    expect((await exec(["p"])).status).toBe(400);
    expect((await exec(["q", "x"])).status).toBe(404);
    expect(await exec(["p", "x"])).toMatchObject({ status: 400, error: expect.stringContaining("it has bad, env") });
  });
});

describe("progress", () => {
  const stream = (command: string) =>
    fetchPlane(it, `POST /plugin/p/${command}`, { headers: { accept: "application/x-ndjson" } });
  const lines = async (response: Response) =>
    (await response.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  test("lines of stderr as they come, then the result", async () => {
    writePlugin(it.layout, "p", { commands: { go: `echo one >&2; sleep 0.2; echo two >&2; ${acting(null)}` } });
    const response = await stream("go");
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(await lines(response)).toEqual([
      { type: "progress", text: "one" },
      { type: "progress", text: "two" },
      { type: "result", code: 200, status: "ok", data: expect.objectContaining({ message: "done" }) },
    ]);
  });

  test("an error envelope on stderr is the error of the result, and no progress beside it", async () => {
    const envelope = `echo '{"status":"error","error":"no such database"}' >&2`;
    writePlugin(it.layout, "p", {
      commands: {
        fail: `echo one >&2; ${envelope}; exit 4`,
        pass: `${envelope}; ${acting(null)}`,
        calm: `${envelope}; ${envelope.replace(" >&2", "")}`,
      },
    });
    expect(await lines(await stream("fail"))).toEqual([
      { type: "progress", text: "one" },
      {
        type: "result",
        code: 400,
        status: "error",
        error: 'plugin "p" fail exited 4: no such database\none',
        reason: "PluginExited",
        fields: { plugin: "p", command: "fail", exit_code: 4, output: "no such database\none" },
      },
    ]);
    expect(await lines(await stream("pass"))).toMatchObject([
      { type: "progress", text: '{"status":"error","error":"no such database"}' },
      { type: "result", code: 200 },
    ]);
    const calm = await stream("calm");
    const [only, ...more] = calm.status === 200 ? await lines(calm) : [await calm.json()];
    expect([only, more]).toMatchObject([
      { error: 'plugin "p" calm: no such database', fields: { exit_code: 0, output: "no such database" } },
      [],
    ]);
  });

  test("a failure after progress is the result, one before it is the answer", async () => {
    writePlugin(it.layout, "p", { commands: { late: "echo one >&2; sleep 0.2; exit 4", early: "exit 4" } });
    const exited = (command: string, output: string) => ({
      reason: "PluginExited",
      fields: { plugin: "p", command, exit_code: 4, output },
    });
    expect(await lines(await stream("late"))).toEqual([
      { type: "progress", text: "one" },
      { type: "result", code: 400, status: "error", error: 'plugin "p" late exited 4: one', ...exited("late", "one") },
    ]);
    const early = await stream("early");
    expect([early.status, await early.json()]).toEqual([
      400,
      {
        status: "error",
        error: 'plugin "p" early exited 4: no output',
        code: "invalid",
        ...exited("early", "no output"),
      },
    ]);
  });
});

describe("what a command applies for a block of its plugin", () => {
  const backup = { kind: "cronjob" as const, scope: "data", name: "main-backup" };
  const spec = { schedule: "@daily", job: { image: "fixture:1" } };
  const acts = acting([{ type: "apply_manifest", manifest: { ...backup, spec } }]);
  const block = { kind: "db", scope: "data", name: "main", spec: { size: 1 } };
  const set = { kind: "statefulset", name: "main", spec: { image: "fixture:1" } };
  beforeEach(() => {
    const commands = { expand: `cat >/dev/null; ${printing([set])}`, schedule: acts };
    writePlugin(it.layout, "db", { yml: "name: db\naliases: [database]\n", commands });
    writePlugin(it.layout, "other", { commands: { schedule: acts } });
  });
  const owner = () => it.store.blocks.ownerOf(backup);
  const schedule = (...args: string[]) => ask("POST /plugin/database/schedule", { args });

  test("belongs to the block, is left by its next apply, and goes with it", async () => {
    expect((await ask("POST /apply", block)).status).toBe(200);
    expect((await schedule("--daily", "data/main.0")).data.applied).toEqual([
      "apply_manifest cronjob/data/main-backup",
    ]);
    expect(owner()).toEqual({ kind: "db", scope: "data", name: "main" });
    expect((await ask("GET /describe?kind=db&scope=data&name=main")).data.status).toMatchObject({
      children: [{ ref: "cronjob/data/main-backup" }, { ref: "statefulset/data/main" }],
    });
    expect((await ask("POST /apply", { ...block, spec: { size: 2 } })).status).toBe(200);
    expect((await ask("POST /apply?prune=true", { ...backup, name: "own", spec })).status).toBe(200);
    await schedule("data/main");
    expect(owner()).toEqual({ kind: "db", scope: "data", name: "main" });
    expect((await ask("DELETE /apply?kind=db&scope=data&name=main")).status).toBe(200);
    expect(it.store.manifests.get(backup)).toBeUndefined();
    expect(owner()).toBeUndefined();
  });

  test("may have fields that this server does not know: they are left out, told, and told of the block", async () => {
    const odd = { ...set, spec: { ...set.spec, sidecar: {} } };
    const odder = { ...backup, spec: { ...spec, calendar: "x" } };
    const commands = {
      expand: `cat >/dev/null; ${printing([odd])}`,
      schedule: acting([{ type: "apply_manifest", manifest: odder }]),
    };
    writePlugin(it.layout, "db", { yml: "name: db\naliases: [database]\n", commands });
    const text = `plugin "db" hands on spec.sidecar of statefulset/data/main, which this server does not know and leaves out`;
    const { status, data } = await ask("POST /apply", block);
    expect({ status, warnings: data.warnings }).toEqual({ status: 200, warnings: [`db/data/main: ${text}`] });
    const described = async () => (await ask("GET /describe?kind=db&scope=data&name=main")).data.status;
    expect(await described()).toMatchObject({ warnings: [text] });
    expect((await schedule("data/main")).data.warnings).toEqual([expect.stringContaining("spec.calendar of cronjob/")]);
    expect(it.store.manifests.get(backup)?.spec.calendar).toBeUndefined();
    writePlugin(it.layout, "db", {
      yml: "name: db\nversion: 2\n",
      commands: { expand: `cat >/dev/null; ${printing([set])}` },
    });
    expect((await ask("POST /apply", block)).data.warnings).toBeUndefined();
    expect(await described()).not.toHaveProperty("warnings");
  });

  test("stays whose it is where it stands, and is nobody's where there is no such block", async () => {
    await schedule("data/main");
    expect(owner()).toBeUndefined();
    expect((await ask("POST /apply", block)).status).toBe(200);
    await schedule("data/main");
    expect(owner()).toBeUndefined();
    await ask("DELETE /apply?kind=cronjob&scope=data&name=main-backup");
    await ask("POST /plugin/other/schedule", { args: ["data/main"] });
    expect(owner()).toBeUndefined();
    await ask("DELETE /apply?kind=cronjob&scope=data&name=main-backup");
    await schedule("data/mine");
    expect(owner()).toBeUndefined();
  });
});
