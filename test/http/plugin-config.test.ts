import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { makerOf } from "../../src/orchestration/core/plugins/maker.ts";
import { helloPlugin, type PluginYard, pluginYard, writeTree } from "../support/plugin-yard.ts";
import { type Ask, plane } from "../support/plane.ts";
import { testPlugins } from "../support/plugins.ts";
import { world, type World } from "../support/world.ts";

let it: World;
let ask: Ask;
let yard: PluginYard;

beforeEach(async () => {
  yard = await pluginYard({ configOf: (plugin) => it.store.pluginConfig.of(plugin) });
  const { installer, registry } = yard;
  it = await world({ plugins: (layout) => ({ ...testPlugins(layout), installer, registry }) });
  ask = plane(it);
});

afterEach(async () => {
  await it.close();
  await yard.close();
});

const show = 'echo "token is $TOKEN, mode is $MODE" ';
const files = (version = "1") =>
  helloPlugin(version, {
    yml: "env: {MODE: declared}\n",
    files: {
      install: `#!/bin/sh\n${show}\n`,
      "bin/show": `#!/bin/sh\n${show}\n`,
      "bin/loud": `#!/bin/sh\n${show}>&2; exit 3\n`,
    },
  });
const yml = (version = "1") =>
  `name: hello\nversion: ${version}\nenv: {MODE: declared}\ncommands: [hello, show, loud]\n`;
const packageAt = (name: string, version = "1") =>
  writeTree(join(yard.root, name), { ...files(version), "plugin.yml": yml(version) });
const install = async (name = "source") => (await ask("POST /plugins/install", { source: packageAt(name) })).data;
const set = (vars: unknown) => ask("POST /plugins/hello/config", { vars });
const shown = async () => (await ask("POST /plugin/hello/show")).data.message;

describe("the config of a plugin", () => {
  test("is environment of its commands, and wins over plugin.yml; the names are told, and no value", async () => {
    await install();
    expect(await shown()).toBe("token is , mode is declared");
    expect((await set({ TOKEN: "sesame-1", MODE: "mine" })).data).toEqual({
      plugin: "hello",
      changed: ["TOKEN", "MODE"],
    });
    expect(await shown()).toBe("token is sesame-1, mode is mine");
    const listed = await ask("GET /plugins/hello/config");
    expect(listed.data).toEqual({ plugin: "hello", vars: { MODE: "********", TOKEN: "********" } });
    expect((await set({ TOKEN: "sesame-1", MODE: "", NONE: "" })).data).toEqual({ plugin: "hello", changed: ["MODE"] });
    expect(await shown()).toBe("token is sesame-1, mode is declared");
    const { events } = (await ask("GET /events")).data as { events: { action: string; detail: unknown }[] };
    expect(events.filter(({ action }) => action === "plugin.config").map(({ detail }) => detail)).toContainEqual({
      plugin: "hello",
      changed: ["TOKEN", "MODE"],
    });
    expect(JSON.stringify(events)).not.toContain("sesame");
  });

  test("is environment of its hooks, and stays over an update", async () => {
    await install();
    await set({ TOKEN: "sesame-1" });
    packageAt("source", "2");
    writeTree(join(yard.root, "source"), {
      install: `#!/bin/sh\ntest "$TOKEN" = sesame-1 && echo "$TOKEN" >&2 && exit 4\n`,
    });
    const refused = await ask("POST /plugins/hello/update");
    expect([refused.status, refused.error]).toEqual([400, expect.stringContaining("exit code 4:\n********")]);
    writeTree(join(yard.root, "source"), { install: `#!/bin/sh\ntest "$TOKEN" = sesame-1\n` });
    expect((await ask("POST /plugins/hello/update")).data.version).toBe("2");
    expect(await shown()).toBe("token is sesame-1, mode is declared");
  });

  test("is hidden in what is kept of a run, and in why it failed", async () => {
    await install();
    await set({ TOKEN: "sesame-1" });
    const failed = await ask("POST /plugin/hello/loud");
    expect(failed.error).toContain("token is ********");
    const runs = JSON.stringify((await ask("GET /plugins/runs")).data);
    expect(runs).toContain("token is ********");
    expect(runs).not.toContain("sesame");
  });

  test("belongs to the plugin from one place: another of its name gets nothing, and the first has it again", async () => {
    await install();
    await set({ TOKEN: "sesame-1" });
    await install("other");
    expect(await shown()).toBe("token is , mode is declared");
    expect((await ask("GET /plugins/hello/config")).data.vars).toEqual({});
    await ask("POST /plugins/hello/rollback");
    expect(await shown()).toBe("token is sesame-1, mode is declared");
  });

  test("goes with the plugin", async () => {
    const uninstall = '#!/bin/sh\ntest "$TOKEN" = sesame-1 || exit 1\n';
    writeTree(packageAt("source"), { uninstall });
    const { name } = (await ask("POST /plugins/install", { source: join(yard.root, "source") })).data;
    expect(name).toBe("hello");
    await set({ TOKEN: "sesame-1" });
    const plugin = yard.registry.find("hello");
    await ask("DELETE /plugins/hello");
    if (plugin === undefined) throw new Error("not installed");
    expect(it.store.pluginConfig.of(makerOf(plugin))).toEqual({});
    await install();
    expect(await shown()).toBe("token is , mode is declared");
  });

  test.each([
    [{ vars: { PATH: "/evil" } }, "vars.PATH: is set by the server"],
    [{ vars: { LD_PRELOAD: "/evil.so" } }, "vars.LD_PRELOAD: steers"],
    [{ vars: { BERTH_CONTROLLER_URL: "http://x" } }, "vars.BERTH_CONTROLLER_URL: is a name of the server itself"],
    [{ vars: { TOKEN: "********" } }, "vars.TOKEN: is masked; write the value"],
    [{ vars: { "a b": "x" } }, "vars.a b: is not a valid name"],
    [{ vars: { TOKEN: 1 } }, "vars.TOKEN: expected string"],
    [{ vars: [] }, "vars: expected an object"],
    [{ TOKEN: "x" }, "vars: expected an object"],
    [{ vars: { TOKEN: "x".repeat(40_000) } }, "vars.TOKEN: has 40000 bytes"],
  ])("%j is a 400 with the path, and changes nothing", async (body, text) => {
    await install();
    const { status, error } = await ask("POST /plugins/hello/config", body);
    expect([status, error]).toEqual([400, expect.stringContaining(text)]);
    expect((await ask("GET /plugins/hello/config")).data.vars).toEqual({});
  });

  test("of an unknown plugin is a 404", async () => {
    expect((await ask("GET /plugins/none/config")).status).toBe(404);
    expect((await ask("POST /plugins/none/config", { vars: { A: "b" } })).status).toBe(404);
  });
});
