import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readPluginYml } from "../../src/orchestration/core/plugins/plugin-yml.ts";
import { helloPlugin, type PluginYard, pluginYard, writeTree } from "../support/plugin-yard.ts";
import { type Ask, fetchPlane, plane } from "../support/plane.ts";
import { testPlugins } from "../support/plugins.ts";
import { type ReleaseServer, releaseServer } from "../support/release-server.ts";
import { world, type World } from "../support/world.ts";

let it: World;
let ask: Ask;
let yard: PluginYard;
let host: ReleaseServer;

beforeEach(async () => {
  host = releaseServer();
  yard = await pluginYard({ releasesUrl: host.url });
  const { installer, registry } = yard;
  it = await world({ plugins: (layout) => ({ ...testPlugins(layout), installer, registry }) });
  ask = plane(it);
});

afterEach(async () => {
  await it.close();
  await yard.close();
  await host.stop();
});

const packageOf = (files: Record<string, string>) => writeTree(join(yard.root, "source"), files);

/** A plugin whose blocks become a deployment of the image that they name. */
const greeter = (schema: unknown) => ({
  "plugin.yml": "name: greeter\nversion: 1\naliases: [hey]\nschema: schema.json\n",
  "schema.json": JSON.stringify(schema),
  "bin/expand": `#!/bin/sh
cat >/dev/null
echo '{"status":"ok","data":{"kind":"deployment","name":"web","spec":{"image":"fixture:1"}}}'
`,
});

describe("blocks of a plugin that another one of its name replaces", () => {
  const files = { ...greeter({ type: "object" }), "bin/ask": "#!/bin/sh\necho here\n" };
  const block = { kind: "greeter", scope: "data", name: "web", spec: {} };
  const command = async () => (await ask("POST /plugin/greeter/ask", { args: ["data/web"] })).status;

  test("stand without a plugin after install and remove, and have their own again after rollback and install", async () => {
    const source = packageOf(files);
    const other = writeTree(join(yard.root, "other"), files);
    await ask("POST /plugins/install", { source });
    expect((await ask("POST /apply", block)).status).toBe(200);
    expect(it.store.blocks.get(block)).toMatchObject({ plugin: "greeter", origin: "folder", source });
    expect(await command()).toBe(200);

    const seen = await ask("POST /plugins/install", { source: other, preview: true });
    const would = `greeter/data/web was made by the plugin "greeter" from ${source}, and would have no plugin`;
    expect(seen.data.warnings).toContain(would);
    const way = `to bring its own back: berth plugins install ${source} --replace`;
    const stranded = [
      `greeter/data/web: made by the plugin "greeter" from ${source}, and the plugin "greeter" from ${other} is there now; ${way}`,
    ];
    expect((await ask("POST /plugins/install", { source: other })).data).toMatchObject({ stranded });
    expect([await command(), (await ask("POST /apply", block)).status]).toEqual([409, 409]);
    expect((await ask("POST /plugins/greeter/update")).data).toMatchObject({ stranded });
    expect((await ask("POST /plugins/greeter/disable")).data).toMatchObject({ stranded });
    expect((await ask("POST /plugins/greeter/enable")).data).toMatchObject({ stranded });

    expect((await ask("POST /plugins/greeter/rollback")).data.stranded).toBeUndefined();
    expect([await command(), (await ask("POST /apply", block)).status]).toEqual([200, 200]);
    const removed = await ask("DELETE /plugins/greeter");
    const gone = `greeter/data/web: made by the plugin "greeter" from ${source}, which is not there; ${way}`;
    expect(removed.data).toEqual({ name: "greeter", removed: true, stranded: [gone] });
    expect((await ask("POST /plugins/install", { source })).data.stranded).toBeUndefined();
    expect(await command()).toBe(200);
  });

  test("are not taken by a plugin that an apply brings", async () => {
    const source = packageOf(files);
    const other = writeTree(join(yard.root, "other"), files);
    await ask("POST /plugins/install", { source });
    await ask("POST /apply", block);
    await ask("DELETE /plugins/greeter");
    const from = { ...block, spec: { plugin: { repo: other } } };
    const refused = await ask("POST /apply", from);
    expect([refused.status, refused.error]).toEqual([409, expect.stringContaining("apply --replace-plugin")]);
    expect((await ask("GET /plugins")).data).toEqual({
      plugins: [],
      errors: [expect.stringContaining("no plugin expands blocks")],
    });
    const back = await ask("POST /apply", { ...block, spec: { plugin: { repo: source } } });
    expect([back.status, await command()]).toEqual([200, 200]);
    await ask("DELETE /plugins/greeter");
    expect((await ask("POST /apply?replace_plugin=true", from)).status).toBe(200);
    expect(it.store.blocks.get(block)).toMatchObject({ plugin: "greeter", source: other });
  });
});

describe("a package", () => {
  test("is installed, told, updated, rolled back, disabled and removed", async () => {
    const source = packageOf(helloPlugin("1.0", { yml: "permissions: {actions: [run_job], scopes: [data]}" }));
    const installed = await ask("POST /plugins/install", { source });
    expect(installed).toMatchObject({
      status: 200,
      data: { name: "hello", version: "1.0", origin: "installed", enabled: true, source, full_grant: false },
    });
    expect(installed.data.permissions).toEqual({ actions: ["run_job"], scopes: ["data"], docker: false, root: false });
    expect((await ask("POST /plugin/hi/hello", { args: ["you"] })).data.message).toBe("hello 1.0 you");
    packageOf(helloPlugin("2.0", { yml: "permissions: {actions: [run_job], scopes: [data]}" }));
    expect((await ask("POST /plugins/hi/update")).data).toMatchObject({ version: "2.0", previous: "1.0" });
    expect((await ask("POST /plugins/hello/rollback")).data).toMatchObject({ version: "1.0", previous: "2.0" });
    expect((await ask("POST /plugins/hello/disable")).data).toMatchObject({ enabled: false });
    const refused = await ask("POST /plugin/hi/hello");
    expect([refused.status, refused.error]).toEqual([409, 'plugin "hello" is disabled; enable it first']);
    expect((await ask("POST /plugins/hello/enable")).data).toMatchObject({ enabled: true });
    expect((await ask("DELETE /plugins/hello")).data).toEqual({ name: "hello", removed: true });
    expect(await ask("DELETE /plugins/hello")).toMatchObject({ status: 200, data: { removed: false } });
    expect((await ask("GET /plugins")).data).toEqual({ plugins: [], errors: [] });
    const actions = it
      .events()
      .map(({ action }) => action)
      .filter((action) => action.startsWith("plugin."));
    expect(actions).toEqual([
      "plugin.install",
      "plugin.update",
      "plugin.rollback",
      "plugin.disable",
      "plugin.enable",
      "plugin.remove",
    ]);
  });

  test.each([
    [{}, "source is required"],
    [{ source: "one two" }, "is not a source of a plugin"],
    [{ source: "/no/such" }, 'there is not a folder "/no/such" on the server'],
    [{ source: "ana/none" }, "ana/none has no release"],
    [{ source: "/x", link: "yes" }, "link: expected boolean"],
  ])("%p is a 400 that says why", async (body, text) => {
    const { status, error } = await ask("POST /plugins/install", body);
    expect([status, error]).toEqual([400, expect.stringContaining(text)]);
  });

  test("that was changed by hand is not run, and a 409 names the file", async () => {
    const { data } = await ask("POST /plugins/install", { source: packageOf(helloPlugin("1")) });
    const { installed_at } = data;
    const folder = yard.registry.find("hello")?.folder ?? "";
    writeTree(folder, { "bin/hello": "#!/bin/sh\necho evil\n" });
    const refused = await ask("POST /plugin/hello/hello");
    expect(refused.status).toBe(409);
    expect(refused.error).toContain("bin/hello was changed");
    expect(refused.error).toContain("berth plugins accept hello");
    const mended = await ask("POST /plugins/install", { source: join(yard.root, "source") });
    expect(mended.data.installed_at).not.toBe(installed_at);
    expect((await ask("POST /plugin/hello/hello")).data.message).toBe("hello 1");
  });

  test("that was changed by hand runs once what was looked at is accepted, and an event tells of it", async () => {
    await ask("POST /plugins/install", { source: packageOf(helloPlugin("1")) });
    const folder = yard.registry.find("hello")?.folder ?? "";
    writeTree(folder, { "bin/hello": "#!/bin/sh\necho mine\n" });
    const seen = await ask("GET /plugins/hi/changes");
    expect(seen.data).toMatchObject({
      name: "hello",
      files: [{ path: "bin/hello", change: "changed", diff: expect.arrayContaining(["+echo mine"]) }],
    });
    expect(seen.data.grant).toBeUndefined();

    writeTree(folder, { "bin/hello": "#!/bin/sh\necho swapped\n" });
    const late = await ask("POST /plugins/hello/accept", { expect: seen.data.digest });
    expect([late.status, late.error]).toEqual([409, expect.stringContaining("not what was shown")]);
    expect((await ask("POST /plugin/hello/hello")).status).toBe(409);

    writeTree(folder, { "bin/hello": "#!/bin/sh\necho mine\n" });
    for (const body of [{}, { expect: "x" }, []]) {
      const bad = await ask("POST /plugins/hello/accept", body);
      expect([bad.status, bad.error]).toEqual([400, expect.stringContaining("expect: ")]);
    }
    const { data } = await ask("POST /plugins/hello/accept", { expect: seen.data.digest });
    expect(data).toMatchObject({ name: "hello", accepted: { files: ["bin/hello"] } });
    expect((await ask("POST /plugin/hello/hello")).data.message).toBe("mine");
    const events = (await ask("GET /events")).data.events as { action: string; detail: unknown }[];
    expect(events.find(({ action }) => action === "plugin.accept")).toMatchObject({
      detail: { plugin: "hello", files: ["bin/hello"] },
    });
    expect((await ask("GET /plugins/none/changes")).status).toBe(404);
  });
});

describe("the schema of a block", () => {
  const schema = {
    type: "object",
    properties: { image: { type: "string" } },
    required: ["image"],
    additionalProperties: false,
  };
  const block = (spec: Record<string, unknown>) => ({ kind: "hey", scope: "s", name: "web", spec });

  test("is checked before the plugin runs, each fault with its path", async () => {
    await ask("POST /plugins/install", { source: packageOf(greeter(schema)) });
    const { status, error } = await ask("POST /apply", [block({ imgae: "x" }), block({ image: "x" })].slice(0, 1));
    expect([status, error]).toEqual([400, expect.stringContaining('spec.imgae: unknown field; did you mean "image"')]);
    expect(error).toContain("spec.image: is required");
    expect((await ask("GET /plugins/runs")).data).toEqual({ runs: [] });
    const right = await ask("POST /apply", block({ image: "x", plugin: {} }));
    expect(right.status).toBe(200);
  });

  test("is told to whoever asks, by any of its kinds", async () => {
    await ask("POST /plugins/install", { source: packageOf(greeter(schema)) });
    expect((await ask("GET /plugins/hey/schema?kind=hey")).data).toEqual({ plugin: "greeter", kind: "hey", schema });
    expect((await ask("GET /plugins/greeter/schema")).data.schema).toEqual(schema);
    const none = await ask("GET /plugins/greeter/schema?kind=other");
    expect([none.status, none.error]).toEqual([
      404,
      'the plugin "greeter" publishes no schema for blocks of kind "other"',
    ]);
  });

  test("that is broken stops its blocks, and says what is wrong with it", async () => {
    await ask("POST /plugins/install", { source: packageOf({ ...greeter(schema), "schema.json": '{"type": ' }) });
    const { status, error } = await ask("POST /apply", block({ image: "x" }));
    expect([status, error]).toEqual([400, expect.stringContaining("is not JSON: line 1")]);
  });
});

describe("a block of a plugin that is not there", () => {
  const block = { kind: "greeter", scope: "s", name: "web", spec: { plugin: { repo: "ana/greeter", version: "1" } } };

  test("brings it from a release, once, and says so", async () => {
    host.releases["ana/greeter"] = { v1: { files: greeter({ type: "object" }) } };
    const dry = await ask("POST /apply?dry_run=true", block);
    expect(dry.data.plugin_installs).toEqual([{ plugin: "greeter", version: "1", source: "ana/greeter" }]);
    expect((await ask("GET /plugins")).data.plugins).toEqual([]);
    const first = await ask("POST /apply", block);
    expect(first.data.plugin_installs).toEqual([{ plugin: "greeter", version: "1", source: "ana/greeter" }]);
    expect(first.data.warnings).toEqual([
      'the plugin "greeter" came from ana/greeter and runs as the user of the server: its plugin.yml says nothing of what it needs',
    ]);
    expect(first.data.plugin_expansions).toEqual([{ from: "greeter/s/web", to: ["deployment/s/web"] }]);
    expect((await ask("POST /apply", block)).data.plugin_installs).toBeUndefined();
  });

  test("is brought once for applies at the same time, and stays where one of them is stored", async () => {
    const hook = `#!/bin/sh\necho ran >> "${yard.root}/hooks"\nsleep 0.2\n`;
    host.releases["ana/greeter"] = { v1: { files: { ...greeter({ type: "object" }), install: hook } } };
    const wrong = { kind: "deployment", scope: "s", name: "web", spec: { image: "fixture:1" } };
    const applies = [block, { ...block, scope: "t" }, { ...block, scope: "u" }, [block, wrong], [block, wrong]];
    const answers = await Promise.all(applies.map((body) => ask("POST /apply", body)));
    expect(answers.map(({ status }) => status).slice(3)).toEqual([400, 400]);
    expect(answers.map(({ status }) => status).slice(1, 3)).toEqual([200, 200]);
    expect(await Bun.file(`${yard.root}/hooks`).text()).toBe("ran\n");
    expect((await ask("GET /plugins")).data.plugins).toMatchObject([{ name: "greeter" }]);
  });

  test("goes again where every apply that needed it is refused", async () => {
    host.releases["ana/greeter"] = { v1: { files: greeter({ type: "object" }) } };
    const wrong = [block, { kind: "deployment", scope: "s", name: "web", spec: { image: "fixture:1" } }];
    const answers = await Promise.all([ask("POST /apply", wrong), ask("POST /apply", wrong)]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    expect((await ask("GET /plugins")).data.plugins).toEqual([]);
  });

  test("takes the place of no other one: neither of one that is installed, nor of what that was granted", async () => {
    const narrow = (version: string, more = "") => ({
      ...greeter({ type: "object" }),
      "plugin.yml": `name: greeter\nversion: "${version}"\nschema: schema.json\npermissions: { scopes: [s]${more} }\n`,
    });
    host.releases["ana/greeter"] = {
      v1: { files: narrow("1") },
      v2: { files: narrow("2") },
      v3: { files: narrow("3", ", docker: true") },
    };
    host.releases["eve/greeter"] = { v2: { files: narrow("2") } };
    const want = (version: string, repo = "ana/greeter") =>
      ask("POST /apply", { ...block, spec: { plugin: { repo, version } } });
    expect((await want("1")).status).toBe(200);
    const other = await want("2", "eve/greeter");
    expect([other.status, other.error]).toEqual([
      409,
      expect.stringContaining("is installed from ana/greeter, and eve/greeter would take its place"),
    ]);
    expect(other.error).toContain("berth plugins install eve/greeter --version 2");
    expect((await want("2", "github.com/ana/greeter")).data.plugin_installs).toMatchObject([{ version: "2" }]);
    const more = await want("3");
    expect([more.status, more.error]).toEqual([400, expect.stringContaining("wants more than")]);
    expect((await ask("GET /plugins/greeter")).data.version).toBe("2");
  });

  test("never takes the place of a bundled one, whatever the package calls itself", async () => {
    const { yml } = readPluginYml({ name: "pg", version: "0.1", kinds: ["pg"], commands: ["expand"] }, "pg");
    const own = await pluginYard({ releasesUrl: host.url, bundled: [{ yml, argv: ["/bin/false"] }] });
    const { installer, registry } = own;
    const server = await world({ plugins: (layout) => ({ ...testPlugins(layout), installer, registry }) });
    const say = plane(server);
    const package_ = { ...greeter({ type: "object" }), "plugin.yml": "name: pg\nversion: 1\nkinds: [pg, greeter]\n" };
    host.releases["eve/pg"] = { v1: { files: package_ } };
    const direct = { kind: "pg", scope: "s", name: "db", spec: { plugin: { repo: "eve/pg" } } };
    const refused = await say("POST /apply", direct);
    expect([refused.status, refused.error]).toEqual([
      409,
      expect.stringContaining('the plugin "pg" is part of the server'),
    ]);
    expect(refused.error).toContain("berth plugins install eve/pg --replace");
    expect((await say("POST /apply?dry_run=true", direct)).status).toBe(409);
    // By the way of a kind that nobody serves.
    const aside = await say("POST /apply", {
      kind: "greeter",
      scope: "s",
      name: "db",
      spec: { plugin: { repo: "eve/pg" } },
    });
    expect([aside.status, aside.error]).toEqual([400, expect.stringContaining('"pg" is part of the server')]);
    expect((await say("GET /plugins/pg")).data).toMatchObject({ origin: "bundled", version: "0.1" });
    await server.close();
    await own.close();
  });

  test("changes no installed plugin when it is refused, whatever the package calls itself", async () => {
    host.releases["ana/greeter"] = { v1: { files: greeter({ type: "object" }) } };
    expect((await ask("POST /apply", block)).status).toBe(200);
    const before = (await ask("GET /plugins")).data;
    const hook = `#!/bin/sh\necho ran >> "${yard.root}/hooks"\n`;
    const as = (yml: string) => ({ ...greeter({ type: "object" }), "plugin.yml": yml, install: hook });
    host.releases["eve/other"] = { v7: { files: as("name: greeter\nversion: 7.7.7\nkinds: [other]\n") } };
    host.releases["eve/third"] = { v7: { files: as("name: third\nversion: 7.7.7\naliases: [hey]\n") } };
    host.releases["eve/fourth"] = { v7: { files: as("name: fifth\nversion: 7.7.7\n") } };
    host.releases["eve/sixth"] = { v7: { files: as("name: sixth\nversion: 7.7.7\n") } };
    for (const [kind, repo, version, text] of [
      ["other", "eve/other", undefined, 'holds the plugin "greeter", which is installed from ana/greeter'],
      ["third", "eve/third", undefined, '"hey" is taken by the plugin "greeter"'],
      ["fourth", "eve/fourth", undefined, 'does not expand blocks of kind "fourth"'],
      ["sixth", "eve/sixth", "7", 'holds version "7.7.7", not "7"'],
    ]) {
      const answer = await ask("POST /apply", { kind, scope: "s", name: "x", spec: { plugin: { repo, version } } });
      expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(`${text}`)]);
      expect((await ask("GET /plugins")).data).toEqual(before);
    }
    expect(await Bun.file(`${yard.root}/hooks`).exists()).toBe(false);
  });

  test("is as it was, with what a rollback returns to, where the apply that updated it is refused", async () => {
    const at = (version: string) => ({
      ...greeter({ type: "object" }),
      "plugin.yml": `name: greeter\nversion: "${version}"\nschema: schema.json\npermissions: { scopes: [s] }\n`,
    });
    host.releases["ana/greeter"] = { v1: { files: at("1") }, v2: { files: at("2") }, v3: { files: at("3") } };
    const want = (version: string) => ({ ...block, spec: { plugin: { repo: "ana/greeter", version } } });
    await ask("POST /apply", want("1"));
    await ask("POST /apply", want("2"));
    const before = (await ask("GET /plugins/greeter")).data;
    expect(before).toMatchObject({ version: "2", previous: "1" });
    const wrong = { kind: "deployment", scope: "s", name: "web", spec: { image: "fixture:1" } };
    expect((await ask("POST /apply", [want("3"), wrong])).status).toBe(400);
    expect((await ask("GET /plugins/greeter")).data).toEqual(before);
    expect((await ask("POST /plugins/greeter/rollback")).data).toMatchObject({ version: "1", previous: "2" });
  });

  test("leaves nothing when it cannot be brought", async () => {
    const { status, error } = await ask("POST /apply", block);
    expect([status, error]).toEqual([400, expect.stringContaining('ana/greeter has no version "1"')]);
    expect(it.store.manifests.list({})).toEqual([]);
  });
});

describe("a file that a run offers", () => {
  const offering = (paths: string[]) => {
    const actions = paths.map((path) => ({ type: "fetch_file", remote_path: path, dest_path: "x" }));
    const answer = JSON.stringify({ status: "ok", data: { actions } });
    return { "plugin.yml": "name: files\n", "bin/get": `#!/bin/sh\ncat >/dev/null\necho '${answer}'\n` };
  };

  test("is fetched whole, with its size; no other file is", async () => {
    const path = join(yard.root, "dump");
    await Bun.write(path, "x".repeat(1_000_000));
    await ask("POST /plugins/install", { source: packageOf(offering([path, `${path}.none`, yard.root])) });
    const { run_id: id } = (await ask("POST /plugin/files/get")).data;
    const answer = await fetchPlane(it, `GET /plugins/runs/${id}/files/0`);
    expect([answer.status, answer.headers.get("x-berth-size")]).toEqual([200, "1000000"]);
    expect((await answer.arrayBuffer()).byteLength).toBe(1_000_000);
    for (const [place, status, text] of [
      ["1", 404, "it is not there"],
      ["2", 404, "is not a file"],
      ["3", 404, "offers no such file"],
      ["-1", 400, "is not an index of fetch_file"],
    ] as const) {
      expect(await ask(`GET /plugins/runs/${id}/files/${place}`)).toMatchObject({
        status,
        error: expect.stringContaining(text),
      });
    }
    expect((await ask("GET /plugins/runs/none/files/0")).status).toBe(404);
  });

  test("can be fetched for as long as its run is among the newest", async () => {
    await ask("POST /plugins/install", { source: packageOf(offering([join(yard.root, "source/plugin.yml")])) });
    const ids: string[] = [];
    for (let round = 0; round < 3; round++) ids.push(String((await ask("POST /plugin/files/get")).data.run_id));
    const statuses = await Promise.all(
      ids.map(async (id) => (await fetchPlane(it, `GET /plugins/runs/${id}/files/0`)).status),
    );
    expect(statuses).toEqual([404, 200, 200]);
  });
});
