import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { operator, type Principal, tokenPrincipal } from "../../src/access/principal.ts";
import type { InstalledPlugin } from "../../src/orchestration/plugins/plugin.ts";
import { deployment, fixtureImage } from "../support/manifests.ts";
import { type Ask, plane } from "../support/plane.ts";
import { printing, testPlugins, writePlugin } from "../support/plugins.ts";
import { waitFor } from "../support/wait.ts";
import { type World, world } from "../support/world.ts";

let it: World;
let ask: Ask;
let install: (request: { source: string; version?: string }) => Promise<InstalledPlugin>;
beforeEach(async () => {
  install = async () => {
    throw new Error("nothing to install");
  };
  it = await world({
    plugins: (layout) =>
      testPlugins(layout, {
        installer: { install: (request) => install(request) },
        defaultRepo: (kind) => (kind === "cache" ? "owner/berth-cache" : undefined),
      }),
  });
  ask = plane(it);
});
afterEach(() => it.close());

const set = { kind: "statefulset", name: "main", spec: { image: fixtureImage, command: ["sleep", "9"] } };
const asset = { kind: "asset", scope: "data", name: "main", spec: { files: { a: "text" } } };
const password = { type: "config_set", scope: "data", name: "main", kv: { PASSWORD: "generated-0123456789" } };
const block = { kind: "pg", scope: "data", name: "main", spec: { replicas: 2 } };

/** `expand` of a plugin named postgres, alias pg. */
function expanding(data: unknown, more: { yml?: string; bare?: boolean } = {}): void {
  const yml = `name: postgres\nversion: "1.2"\naliases: [pg]\n${more.yml ?? ""}`;
  writePlugin(it.layout, "postgres", {
    yml,
    commands: { expand: printing(more.bare === true ? data : { status: "ok", data }) },
  });
}

const stored = (kind: string, name = "main") => it.store.manifests.get({ kind, scope: "data", name });

describe("the three shapes", () => {
  test("a list, one manifest, and manifests with actions; enveloped or bare", async () => {
    for (const bare of [false, true]) {
      for (const data of [[asset, set], { manifests: [asset, set], actions: null }, { manifests: [asset, set] }]) {
        expanding(data, { bare });
        const { status, data: answer } = await ask("POST /apply", block);
        expect(status).toBe(200);
        expect(answer.plugin_expansions).toEqual([
          { from: "pg/data/main", to: ["asset/data/main", "statefulset/data/main"] },
        ]);
        expect((answer.applied as { kind: string }[]).map(({ kind }) => kind)).toEqual(["asset", "statefulset"]);
      }
      expanding(set, { bare });
      expect((await ask("POST /apply", block)).data).toMatchObject({
        plugin_expansions: [{ from: "pg/data/main", to: ["statefulset/data/main"] }],
        pruned: ["asset/data/main"],
      });
    }
    expect(stored("statefulset")).toMatchObject({ scope: "data", spec: set.spec });
  });

  test("the plugin is told the block without `plugin`, its config and where the controller is", async () => {
    await it.controller.setConfig(
      { scope: "data", name: undefined },
      { A: "scope", B: "1" },
      { restart: false, actor: "t" },
    );
    await it.controller.setConfig({ scope: "data", name: "main" }, { A: "app" }, { restart: false, actor: "t" });
    const folder = writePlugin(it.layout, "postgres", {
      yml: "name: postgres\naliases: [pg]\n",
      commands: { expand: "cat > seen; echo '[]'" },
    });
    const spec = { replicas: 2, plugin: { version: "latest" }, volume_claim: { _labels: ["x"] } };
    expect((await ask("POST /apply", { ...block, spec })).status).toBe(200);
    expect(await Bun.file(`${folder}/seen`).json()).toEqual({
      protocol: 1,
      kind: "pg",
      scope: "data",
      name: "main",
      spec: { replicas: 2, volume_claim: { _labels: ["x"] } },
      config: { A: "app", B: "1" },
      dry_run: false,
      controller_url: "http://127.0.0.1:1",
      plugin_dir: folder,
    });
  });

  test("in place among the others, each path says which manifest it was", async () => {
    expanding([asset, set]);
    const body = [deployment("data", "a"), block, deployment("data", "z")];
    expect((await ask("POST /apply", body)).data.applied).toMatchObject([
      { kind: "deployment", name: "a" },
      { kind: "asset" },
      { kind: "statefulset" },
      { kind: "deployment", name: "z" },
    ]);
    expanding([{ ...set, spec: { imagee: "x" } }]);
    const { error, text } = await ask("POST /apply", body);
    expect(error).toContain("manifest 2: pg/data/main: spec.imagee: unknown field");
    // The path is one of the plugin's answer, not of the request: it stays in the text.
    const message = expect.stringContaining("spec.imagee: unknown field");
    expect(JSON.parse(text).problems).toContainEqual({ manifest: 2, within: ["pg/data/main"], path: "", message });
  });

  test("on_probe of the block goes to what has pods and none of its own", async () => {
    expanding([set, { ...set, name: "own", spec: { ...set.spec, on_probe: { failure: [] } } }, asset]);
    const hooks = { failure: [{ url: "https://example.com/x" }] };
    expect((await ask("POST /apply", { ...block, spec: { on_probe: hooks } })).status).toBe(200);
    expect(stored("statefulset")?.spec.on_probe).toEqual(hooks);
    expect(stored("statefulset", "own")?.spec.on_probe).toEqual({ failure: [] });
  });
});

describe("what is refused, with nothing stored", () => {
  const refused = async (data: unknown, body: unknown = block) => {
    expanding(data);
    const answer = await ask("POST /apply", body);
    expect(it.store.manifests.list()).toEqual([]);
    expect(it.store.blocks.list()).toEqual([]);
    expect(it.store.config.bucket("data", "main")).toEqual({});
    return [answer.status, answer.error];
  };

  test("other kinds than core ones, also its own", async () => {
    for (const kind of ["app", "pg", "postgres", "nothing"]) {
      const [status, error] = await refused([{ ...set, kind }]);
      expect([status, error]).toEqual([
        400,
        expect.stringContaining(`pg/data/main: manifests[0].kind: expected a core kind, got "${kind}"`),
      ]);
    }
  });

  test("wrong shapes", async () => {
    for (const data of ["text", 7, null, {}, { manifests: {} }, [null], [[]], { kind: 4 }]) {
      expect((await refused(data))[0]).toBe(400);
    }
  });

  test("plain text, an error, an exit code", async () => {
    for (const script of ["echo hello", "true", "exit 1", printing({ status: "error", error: "no" })]) {
      writePlugin(it.layout, "postgres", { yml: "name: postgres\naliases: [pg]\n", commands: { expand: script } });
      const { status, error } = await ask("POST /apply", block);
      expect([status, error.startsWith("pg/data/main: ")]).toEqual([400, true]);
    }
  });

  test("one block twice, once by an alias of its kind", async () => {
    expanding([set]);
    const { status, error } = await ask("POST /apply", [block, { ...block, kind: "postgres" }]);
    expect([status, error]).toEqual([400, "manifests 1 and 2 are both postgres/data/main; keep one of them"]);
    expect(it.store.blocks.list({})).toEqual([]);
  });

  test("a manifest twice, also beside the block", async () => {
    expect((await refused([set, set]))[0]).toBe(400);
    const [status, error] = await refused([set], [block, { ...set, scope: "data" }]);
    expect([status, error]).toEqual([400, expect.stringContaining("statefulset/data/main is in this apply twice")]);
  });

  test("a later fault undoes the actions", async () => {
    const other = { kind: "deployment", scope: "data-main", name: "x", spec: { image: fixtureImage } };
    const clash = { kind: "deployment", scope: "data", name: "main-x", spec: { image: fixtureImage } };
    expect((await refused({ manifests: [set], actions: [password] }, [block, other, clash]))[0]).toBe(409);
    const job = { type: "run_job", scope: "data", name: "nowhere" };
    expect((await refused({ manifests: [set], actions: [password, job] }))[0]).toBe(400);
  });

  test("a block that names no scope has one called as itself, for itself and for what it becomes", async () => {
    expanding([set]);
    const written = { ...block, scope: undefined };
    const { status, data } = await ask("POST /apply", written);
    expect([status, data.plugin_expansions]).toEqual([200, [{ from: "pg/main/main", to: ["statefulset/main/main"] }]]);
    expect(it.store.blocks.list({})).toMatchObject([{ scope: "main", name: "main" }]);
    const twice = await ask("POST /apply", [written, { ...written, scope: "main" }]);
    expect(twice).toMatchObject({ status: 400, error: expect.stringContaining("are both pg/main/main") });
    expect((await ask("GET /describe?kind=pg&name=main")).status).toBe(200);
  });

  test("a block without a scope, a bad name, an unknown kind with suggestions", async () => {
    expanding([set]);
    const nameless = { ...block, scope: undefined, name: "a.b" };
    expect((await ask("POST /apply", nameless)).error).toContain(
      "a pg block needs a scope, because its name cannot be one",
    );
    expect((await ask("POST /apply", { ...block, name: "../x" })).error).toContain("is not a name");
    const { error } = await ask("POST /apply", { ...block, kind: "postgre" });
    expect(error).toContain('"postgre" is not a kind; did you mean "postgres"; valid kinds are');
    expect(error).toContain("and of plugins postgres, pg");
  });
});

describe("actions of an expansion", () => {
  test("come before the manifests, in the same transaction; jobs run after it", async () => {
    const job = { kind: "job", name: "init", spec: { image: fixtureImage } };
    expanding({ manifests: [set, job], actions: [password, { type: "run_job", scope: "data", name: "init" }] });
    expect((await ask("POST /apply", block)).status).toBe(200);
    expect(it.store.config.bucket("data", "main")).toEqual({ PASSWORD: "generated-0123456789" });
    expect(it.store.runs.list({ kind: "job", scope: "data", name: "init" })).toHaveLength(1);
  });

  test("a bucket that moves while the plugin works has it asked again", async () => {
    const folder = writePlugin(it.layout, "postgres", {
      yml: "name: postgres\naliases: [pg]\n",
      commands: {
        expand: `cat >> seen; echo >> seen; while [ ! -e go-on ] && [ -e plugin.yml ]; do sleep 0.02; done; echo '${JSON.stringify([set])}'`,
      },
    });
    const seen = () => Bun.file(`${folder}/seen`).text();
    const applying = ask("POST /apply", block);
    await waitFor("the plugin to be asked", async () => (await seen()).endsWith("\n"));
    await it.controller.setConfig({ scope: "data", name: "main" }, { A: "late" }, { restart: false, actor: "t" });
    await Bun.write(`${folder}/go-on`, "");
    expect((await applying).status).toBe(200);
    const inputs = (await seen()).trim().split("\n");
    expect(inputs.map((line) => JSON.parse(line).config)).toEqual([{}, { A: "late" }]);
  });
});

describe("a dry run", () => {
  test("stores nothing, lists the actions, and hides what was made up", async () => {
    const env = { image: fixtureImage, env: { PASSWORD: "generated-0123456789", USER: "postgres" } };
    expanding({ manifests: [{ ...set, spec: env }], actions: [password] });
    const { data } = await ask("POST /apply?dry_run=true", block);
    expect(data).toMatchObject({
      dry_run: true,
      applied: [{ kind: "statefulset", spec: { env: { PASSWORD: "(made up when it is applied)", USER: "postgres" } } }],
      current: [null],
      plugin_expansions: [{ from: "pg/data/main", to: ["statefulset/data/main"] }],
    });
    expect(data.plan).toMatchObject([
      { ref: "postgres/data/main", action: "create", notes: ["its plugin asks for config_set data/main"] },
      { ref: "statefulset/data/main", action: "create" },
    ]);
    expect(JSON.stringify(data)).not.toContain("generated-0123456789");
    expect(it.store.manifests.list()).toEqual([]);
    expect(it.store.blocks.list()).toEqual([]);
    expect(it.store.config.bucket("data", "main")).toEqual({});
  });

  test("installs nothing: a block of a plugin that is not there is unknown until then", async () => {
    const { status, data } = await ask("POST /apply?dry_run=true", { ...block, kind: "cache" });
    expect(status).toBe(200);
    expect(data.plugin_installs).toEqual([{ plugin: "cache", version: "", source: "owner/berth-cache" }]);
    expect(data.plan).toMatchObject([
      {
        ref: "cache/data/main",
        action: "create",
        notes: ['unknown until "cache" is installed from owner/berth-cache'],
      },
    ]);
  });
});

test("a block that gives config to an app that is not there warns, until the app is applied with it", async () => {
  const url = { type: "config_set", scope: "data", name: "web", kv: { DATABASE_URL: "postgres://main" } };
  expanding({ manifests: [set], actions: [password, url] });
  expect((await ask("POST /apply", block)).data.warnings).toEqual([
    "nothing is called data/web yet: DATABASE_URL is in its config, and nothing reads that until it is applied",
  ]);
  const web = { kind: "deployment", scope: "data", name: "web", spec: { image: fixtureImage } };
  expect((await ask("POST /apply", [block, web])).data.warnings).toBeUndefined();
});

describe("just in time", () => {
  const arriving = (version: string, name = "cache") => {
    const asked: unknown[] = [];
    install = async (request) => {
      asked.push(request);
      writePlugin(it.layout, name, {
        yml: `name: ${name}\nversion: "${version}"\n`,
        commands: { expand: printing([set]) },
      });
      const { registry } = testPlugins(it.layout);
      await registry.refresh();
      const found = registry.find(name);
      if (found === undefined) throw new Error(registry.list().errors.join());
      return { ...found, warnings: [] };
    };
    return asked;
  };

  test("from where the block says, else where the operator said", async () => {
    const asked = arriving("2.0");
    const spec = { plugin: { repo: "me/mine", version: "v2.0" } };
    expect((await ask("POST /apply", { ...block, kind: "cache", spec })).data).toMatchObject({
      plugin_installs: [{ plugin: "cache", version: "2.0", source: "me/mine" }],
      plugin_expansions: [{ from: "cache/data/main" }],
    });
    expect(asked).toMatchObject([
      { source: "me/mine", version: "v2.0", forBlocks: { kind: "cache", version: "v2.0" } },
    ]);
    const again = await ask("POST /apply", { ...block, kind: "cache", spec });
    expect(again.data.plugin_installs).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  test("what does not serve the kind is refused", async () => {
    arriving("2.0", "other");
    const other = await ask("POST /apply", { ...block, kind: "cache" });
    expect([other.status, other.error]).toEqual([
      400,
      expect.stringContaining('does not expand blocks of kind "cache"'),
    ]);
    expect(it.store.manifests.list()).toEqual([]);
  });

  test("two blocks that want two versions are refused", async () => {
    arriving("2.0");
    const want = (name: string, version: string) => ({ ...block, kind: "cache", name, spec: { plugin: { version } } });
    const { status, error } = await ask("POST /apply", [want("a", "1.0"), want("b", "2.0")]);
    expect([status, error]).toEqual([400, expect.stringContaining('cache/data/b wants "2.0" and cache/data/a "1.0"')]);
  });

  test("a kind that nobody brings is unknown", async () => {
    const { status, error } = await ask("POST /apply", { ...block, kind: "queue" });
    expect([status, error]).toEqual([400, expect.stringContaining('"queue" is not a kind')]);
  });
});

describe("the block itself", () => {
  const refs = () => it.store.manifests.list().map(({ kind, scope, name }) => `${kind}/${scope}/${name}`);

  test("can be read by its kind and alias, secrets masked; the mask keeps the value", async () => {
    expanding([asset, set]);
    await ask("POST /apply", { ...block, spec: { replicas: 2, password: "hunter22" } });
    for (const kind of ["pg", "postgres"]) {
      expect((await ask(`GET /apply?kind=${kind}`)).data).toMatchObject([
        { kind: "postgres", scope: "data", name: "main", spec: { replicas: 2, password: "********" } },
      ]);
      expect((await ask(`GET /describe?kind=${kind}&name=main`)).data).toMatchObject({
        manifest: { kind: "postgres", metadata: { revision: expect.any(Number) } },
        status: {
          plugin: "postgres",
          version: "1.2",
          children: [{ ref: "asset/data/main" }, { ref: "statefulset/data/main" }],
        },
      });
    }
    expect((await ask("GET /apply")).data).toHaveLength(2);
    await ask("POST /apply", { ...block, spec: { replicas: 3, password: "********" } });
    expect(it.store.blocks.list()[0]?.spec).toEqual({ replicas: 3, password: "hunter22" });
    const unknown = await ask("POST /apply", { ...block, name: "new", spec: { password: "********" } });
    expect(unknown.error).toContain("spec.password: is masked");
  });

  test("a condition on its revision is kept", async () => {
    expanding([set]);
    await ask("POST /apply", block);
    const revision = it.store.blocks.list()[0]?.revision ?? 0;
    expect((await ask("POST /apply", { ...block, metadata: { if_revision: revision + 1 } })).status).toBe(409);
    expect((await ask("POST /apply", { ...block, metadata: { if_revision: revision } })).status).toBe(200);
    expanding([{ ...set, name: "new" }]);
    expect((await ask("POST /apply", { ...block, name: "new", metadata: { if_revision: 0 } })).status).toBe(200);
  });

  test("deleting it deletes what it became, with prune its config too", async () => {
    expanding({ manifests: [asset, set, { ...set, name: "main-ha" }], actions: [password] });
    await ask("POST /apply", [block, deployment("data", "web")]);
    const { data } = await ask("DELETE /apply?kind=pg&scope=data&name=main&prune=true");
    expect(data).toMatchObject({
      pruned: { config_wiped: true },
      deleted: ["asset/data/main", "statefulset/data/main", "statefulset/data/main-ha", "postgres/data/main"],
    });
    expect(refs()).toEqual(["deployment/data/web"]);
    expect(it.store.blocks.list()).toEqual([]);
    expect(it.store.config.bucket("data", "main")).toEqual({});
    expect((await ask("DELETE /apply?kind=pg&scope=data&name=main")).status).toBe(404);
  });

  test("unless that is kept", async () => {
    expanding([set]);
    await ask("POST /apply", block);
    await ask("DELETE /apply?kind=pg&scope=data&name=main&keep_children=true");
    expect(refs()).toEqual(["statefulset/data/main"]);
    expect(it.store.blocks.ownerOf({ kind: "statefulset", scope: "data", name: "main" })).toBeUndefined();
  });

  describe("and a job that its plugin applied for it", () => {
    const job = { kind: "job", scope: "data", name: "seed", spec: { image: fixtureImage } };
    const ref = "job/data/seed";
    const key = { kind: "job", scope: "data", name: "seed" } as const;
    const made = { manifests: [set], actions: [{ type: "apply_manifest", manifest: job }] };
    const other = { ...block, name: "second" };
    const ways: [string, () => Promise<unknown>][] = [
      ["its delete", () => ask("DELETE /apply?kind=pg&scope=data&name=main")],
      ["its delete with prune", () => ask("DELETE /apply?kind=pg&scope=data&name=main&prune=true")],
      ["the delete of its resource", () => ask("DELETE /resource?scope=data&name=main")],
      [
        "a prune among blocks",
        () => {
          expanding([{ ...set, name: "second" }]);
          return ask("POST /apply?prune=true", other);
        },
      ],
      [
        "its delete after the plugin was removed",
        async () => {
          rmSync(join(it.layout.plugins, "postgres"), { recursive: true, force: true });
          await ask("GET /plugins");
          await ask("DELETE /apply?kind=postgres&scope=data&name=main");
        },
      ],
    ];

    test.each(ways)("%s takes the job along, unless somebody applied that by itself afterwards", async (_, go) => {
      for (const isTheirs of [false, true]) {
        expanding(made);
        await ask("POST /apply", block);
        expect(it.store.blocks.ownerOf(key)).toMatchObject({ name: "main" });
        if (isTheirs) {
          const { data } = await ask("POST /apply", job);
          expect(data.warnings).toContain(
            `${ref}: no longer belongs to the block postgres/data/main, and stays when that is deleted`,
          );
          // The plugin applies it again: it stays theirs.
          await ask("POST /apply", { ...block, spec: { again: true } });
        }
        await go();
        expect(it.store.blocks.get({ kind: "postgres", scope: "data", name: "main" })).toBeUndefined();
        expect([isTheirs, refs().includes(ref)]).toEqual([isTheirs, isTheirs]);
        for (const name of ["main", "second", "seed"]) await ask(`DELETE /resource?scope=data&name=${name}`);
      }
    });

    test("stays with the block for a dry run, for the plugin's own call, and for a token beside what is lent to it", async () => {
      const bound = { ...set, spec: { ...set.spec, volumes: ["/srv:/d"] } };
      expanding({ ...made, manifests: [bound] });
      await ask("POST /apply", block);
      const token = tokenPrincipal({ scopes: ["actions"], apps: [] });
      const apply = (by: Principal, dryRun: boolean) => it.apply([job], { by, dryRun });
      await apply(operator, true);
      await apply({ type: "plugin", askedBy: operator }, false);
      await apply({ type: "pod" }, false);
      await apply(token, false);
      expect(it.store.blocks.ownerOf(key)).toMatchObject({ name: "main" });
      await apply(operator, false);
      expect(it.store.blocks.ownerOf(key)).toBeUndefined();
    });
  });

  test("goes with its resource and with its scope", async () => {
    expanding([set, { ...set, name: "main-ha" }]);
    await ask("POST /apply", block);
    const { data } = await ask("DELETE /resource?scope=data&name=main");
    expect((data.resources_wiped as { kind: string }[]).map(({ kind }) => kind).sort()).toEqual([
      "postgres",
      "statefulset",
      "statefulset",
    ]);
    expect(refs()).toEqual([]);
    await ask("POST /apply", block);
    await ask("DELETE /scope?scope=data");
    expect([refs(), it.store.blocks.list()]).toEqual([[], []]);
  });

  test("what it does not become any more is pruned; what moves to another hand is kept", async () => {
    expanding([set, { ...set, name: "standby" }, { ...set, name: "moved" }]);
    await ask("POST /apply", block);
    const generation = stored("statefulset", "moved")?.revision;
    expanding([set]);
    const moved = { ...set, scope: "data", name: "moved" };
    const { data } = await ask("POST /apply", [block, moved]);
    expect(data.pruned).toEqual(["statefulset/data/standby"]);
    expect(refs()).toEqual(["statefulset/data/main", "statefulset/data/moved"]);
    expect(stored("statefulset", "moved")?.revision).toBe(generation);
  });

  test("its manifests are declared where others are pruned, and it is pruned among blocks", async () => {
    expanding([set]);
    await ask("POST /apply", block);
    writePlugin(it.layout, "redis", { commands: { expand: printing([{ ...set, name: "cache" }]) } });
    const redis = { kind: "redis", scope: "data", name: "cache", spec: {} };
    await ask("POST /apply", { ...set, scope: "data", name: "by-hand" });
    const first = await ask("POST /apply?prune=true", redis);
    expect(first.data.pruned).toEqual(["statefulset/data/by-hand"]);
    expect(refs()).toEqual(["statefulset/data/cache", "statefulset/data/main"]);
    expanding([{ ...set, name: "second" }]);
    const second = await ask("POST /apply?prune=true", { ...block, name: "second" });
    expect(second.data.pruned).toEqual(["postgres/data/main", "statefulset/data/main"]);
    expect(refs()).toEqual(["statefulset/data/cache", "statefulset/data/second"]);
  });

  test("another block's manifest is refused, and writing one by hand warns", async () => {
    expanding([set]);
    await ask("POST /apply", block);
    const taken = await ask("POST /apply", { ...block, name: "other" });
    expect([taken.status, taken.error]).toEqual([
      409,
      "pg/data/other: statefulset/data/main belongs to the block postgres/data/main",
    ]);
    const byHand = await ask("POST /apply", { ...set, scope: "data" });
    expect(byHand.data.warnings).toEqual([
      "statefulset/data/main: the block postgres/data/main writes it again at its next apply",
    ]);
  });

  test("what was applied by itself is refused, and left as it is, unless the block is to have it", async () => {
    expanding([set]);
    const own = { ...set, scope: "data", spec: { ...set.spec, env: { OWN: "1" } } };
    await ask("POST /apply", own);
    for (const query of ["?dry_run=true", ""]) {
      const refused = await ask(`POST /apply${query}`, block);
      expect([refused.status, refused.error]).toEqual([
        409,
        "pg/data/main: statefulset/data/main was applied by itself; choose another name, or let the block have it" +
          " with take_over (apply --take-over)",
      ]);
    }
    expect((await ask("GET /describe?kind=statefulset&name=main")).data.manifest).toMatchObject({
      spec: { env: { OWN: "1" } },
    });
    expect((await ask("POST /apply?take_over=true", block)).status).toBe(200);
    expect((await ask("GET /describe?kind=statefulset&name=main")).data.block).toBe("postgres/data/main");
    expect((await ask("POST /apply", block)).status).toBe(200);
    // What a deleted block has left behind is nobody's too.
    await ask("DELETE /apply?kind=postgres&scope=data&name=main&keep_children=true");
    expect((await ask("POST /apply", block)).status).toBe(409);
    expect((await ask("POST /apply?take_over=true", block)).status).toBe(200);
  });

  test("survives its plugin", async () => {
    expanding([set]);
    await ask("POST /apply", block);
    writePlugin(it.layout, "postgres", { commands: {} });
    await it.controller.listPlugins();
    expect((await ask("GET /apply?kind=postgres")).data).toHaveLength(1);
    expect((await ask("DELETE /apply?kind=postgres&scope=data&name=main")).status).toBe(200);
    expect(refs()).toEqual([]);
  });
});

describe("words that are no kind", () => {
  test("are told with those that are, of plugins too", async () => {
    expanding([set]);
    await ask("POST /apply", block);
    for (const path of [
      "GET /apply?kind=postgre",
      "GET /describe?kind=postgre&name=main",
      "DELETE /apply?kind=postgre&name=main",
    ]) {
      const { status, error } = await ask(path);
      expect([status, error]).toEqual([
        400,
        expect.stringMatching(/^unknown kind "postgre"; did you mean "postgres"; .*of plugins postgres, pg$/),
      ]);
    }
  });

  test("a manifest of a block says which", async () => {
    expanding([set]);
    await ask("POST /apply", [block, { ...set, scope: "data", name: "own" }]);
    expect((await ask("GET /describe?kind=statefulset&name=main")).data.block).toBe("postgres/data/main");
    expect((await ask("GET /describe?kind=statefulset&name=own")).data.block).toBeUndefined();
  });
});
