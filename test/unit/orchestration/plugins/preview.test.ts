import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { failureText } from "../../../support/failure.ts";
import { helloPlugin, type PluginYard, pluginYard, writeTree } from "../../../support/plugin-yard.ts";

let it: PluginYard;
beforeEach(async () => {
  it = await pluginYard();
});
afterEach(() => it.close());

const base = () => helloPlugin("1", { files: { "lib/x": "data", "lib/run": "#!/bin/sh\n" } });
const packageOf = (files: Record<string, string> = base(), name = "source") => writeTree(join(it.root, name), files);
const digestOf = async (source: string) => (await it.installer.preview({ source })).digest;

describe("the digest of a package", () => {
  test("is the same wherever and whenever the same is fetched, and what is not taken does not count", async () => {
    const first = await digestOf(packageOf());
    const elsewhere = packageOf(base(), "elsewhere");
    mkdirSync(join(elsewhere, ".git"));
    writeFileSync(join(elsewhere, ".git/config"), "x");
    // Made executable in any case.
    chmodSync(join(elsewhere, "bin/hello"), 0o600);
    expect(await digestOf(elsewhere)).toBe(first);
    const plugin = await it.installer.install({ source: elsewhere, expect: first });
    expect(plugin).toMatchObject({ origin: "installed", warnings: [] });
  });

  test.each([
    ["a byte", (at: string) => writeFileSync(join(at, "lib/x"), "date")],
    ["a name", (at: string) => renameSync(join(at, "lib/x"), join(at, "lib/y"))],
    ["a file more", (at: string) => writeFileSync(join(at, "lib/z"), "")],
    ["a file less", (at: string) => rmSync(join(at, "lib/x"))],
    ["what can be run", (at: string) => chmodSync(join(at, "lib/run"), 0o644)],
    ["a permission", (at: string) => writeTree(at, helloPlugin("1", { yml: "permissions: {docker: true}" }))],
    ["a hook", (at: string) => writeTree(at, { install: "#!/bin/sh\n" })],
  ])("differs by %s, and then nothing is installed", async (_, change) => {
    const source = packageOf();
    const shown = await digestOf(source);
    change(source);
    expect(await digestOf(source)).not.toBe(shown);
    expect(await failureText(it.installer.install({ source, expect: shown }))).toBe(
      `conflict: what "${source}" holds now is not what was shown; nothing was changed, look at it again`,
    );
    expect([existsSync(join(it.plugins, "hello")), readdirSync(join(it.plugins, ".versions"))]).toEqual([false, []]);
  });

  test("differs by the name that a package without one gets", async () => {
    const files = { "bin/go": "#!/bin/sh\n" };
    expect(await digestOf(packageOf(files, "one"))).not.toBe(await digestOf(packageOf(files, "two")));
  });
});

describe("a preview", () => {
  test("does not ask for programs that a hook may still bring", async () => {
    const install = "#!/bin/sh\nmkdir bin && echo x > bin/go\n";
    const source = packageOf({ "plugin.yml": "name: late\ncommands: [go]\n", install });
    expect(await it.installer.preview({ source })).toMatchObject({ hooks: ["install"], version: "" });
  });

  test("of an update tells what is more than the grant; one by hand or linked has none", async () => {
    await it.installer.install({ source: packageOf(helloPlugin("1", { yml: "permissions: {}" })) });
    packageOf(helloPlugin("2", { yml: "permissions: {actions: [run_job], docker: true}" }));
    expect(await it.installer.previewUpdate("hi")).toMatchObject({ version: "2", more: ["run_job", "docker"] });
    writeTree(join(it.plugins, "hand"), { "bin/x": "#!/bin/sh\n" });
    expect(await failureText(it.installer.previewUpdate("hand"))).toContain("was put there by hand");
  });

  test("that is not wanted any more leaves nothing", async () => {
    const source = packageOf();
    const gone = AbortSignal.abort();
    for (const bring of [it.installer.install, it.installer.preview]) {
      expect(await failureText(bring({ source }, { signal: gone }))).toContain("was interrupted");
    }
    expect([existsSync(join(it.plugins, "hello")), readdirSync(join(it.plugins, ".staging"))]).toEqual([false, []]);
  });
});
