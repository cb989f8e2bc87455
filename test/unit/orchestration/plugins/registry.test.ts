import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readPluginYml } from "../../../../src/orchestration/core/plugins/plugin-yml.ts";
import { layoutOf, type Layout } from "../../../../src/base/disk/layout.ts";
import type { BundledPlugin, LockRecord, Registry } from "../../../../src/orchestration/plugins/plugin.ts";
import { createRegistry } from "../../../../src/orchestration/plugins/registry.ts";
import { writePlugin } from "../../../support/plugins.ts";

let layout: Layout;
let registry: Registry;
let changes: string[][];
let locks: Map<string, LockRecord>;
const bundled: BundledPlugin = {
  yml: readPluginYml({ name: "postgres", version: "1", aliases: ["pg"], commands: ["expand"] }, "postgres").yml,
  argv: ["/bin/berth", "plugin", "postgres"],
};

beforeEach(() => {
  layout = layoutOf(mkdtempSync(join(tmpdir(), "registry-")));
  mkdirSync(layout.plugins);
  changes = [];
  locks = new Map();
  registry = createRegistry({
    folder: layout.plugins,
    bundled: [bundled],
    readLock: async (name) => locks.get(name),
    onChange: (names) => changes.push(names),
  });
});
afterEach(() => rmSync(layout.root, { recursive: true, force: true }));

const names = () => registry.list().plugins.map(({ yml, origin }) => `${yml.name} ${origin}`);

test("the bundled ones are there, and run as the executable", async () => {
  await registry.refresh();
  expect(names()).toEqual(["postgres bundled"]);
  expect(registry.ofKind("pg")?.argv.get("expand")).toEqual(["/bin/berth", "plugin", "postgres", "expand"]);
});

test("a folder is noticed when it comes, changes and goes; nothing is read again without need", async () => {
  await registry.refresh();
  writePlugin(layout, "redis", { commands: { info: "true" } });
  await registry.refresh();
  expect(names()).toEqual(["postgres bundled", "redis folder"]);
  expect(registry.find("redis")?.argv.has("expand")).toBe(false);
  expect(registry.ofKind("redis")).toBeUndefined();
  writePlugin(layout, "redis", { commands: { expand: "true" } });
  await registry.refresh();
  const plugin = registry.ofKind("redis");
  expect(plugin?.yml.commands).toEqual([{ name: "expand" }]);
  await registry.refresh();
  expect(registry.ofKind("redis")).toBe(plugin);
  rmSync(join(layout.plugins, "redis"), { recursive: true });
  await registry.refresh();
  expect(names()).toEqual(["postgres bundled"]);
  expect(changes).toEqual([["postgres"], ["redis"], ["redis"], ["redis"]]);
});

test("one of a bundled one's name takes its place, and goes again", async () => {
  writePlugin(layout, "postgres", { yml: "name: postgres\nversion: '9'\n", commands: { expand: "true" } });
  await registry.refresh();
  expect(names()).toEqual(["postgres folder"]);
  expect(registry.find("pg")).toBeUndefined();
  rmSync(join(layout.plugins, "postgres"), { recursive: true });
  await registry.refresh();
  expect(registry.find("pg")?.origin).toBe("bundled");
});

test("links: below .versions it was installed, elsewhere it is linked", async () => {
  const version = writePlugin(layout, join(".versions", "redis", "1-x"), {
    yml: "name: redis\n",
    commands: { a: "true" },
  });
  symlinkSync(`.versions/redis/1-x`, join(layout.plugins, "redis"));
  const elsewhere = writePlugin({ ...layout, plugins: join(layout.root, "src") }, "dev", { commands: { a: "true" } });
  symlinkSync(elsewhere, join(layout.plugins, "dev"));
  await registry.refresh();
  expect(names()).toEqual(["dev linked", "postgres bundled", "redis installed"]);
  expect(registry.find("redis")?.folder).toBe(version);
});

test("the lock says whether it may run and what it was granted", async () => {
  writePlugin(layout, "redis", { commands: { a: "true" } });
  const permissions = { actions: [], scopes: ["data"], docker: false };
  locks.set("redis", {
    source: "",
    requested: "",
    version: "",
    installed_at: "",
    files: {},
    enabled: false,
    permissions,
  });
  await registry.refresh();
  expect(registry.find("redis")).toMatchObject({ enabled: false, permissions });
});

test("what cannot be used is told, and disturbs nothing else", async () => {
  writePlugin(layout, "good", { commands: { a: "true" } });
  writePlugin(layout, "Bad-Name", { commands: { a: "true" } });
  writePlugin(layout, "renamed", { yml: "name: other\n", commands: { a: "true" } });
  writePlugin(layout, "twin", { yml: "name: twin\naliases: [good]\n", commands: { a: "true" } });
  writePlugin(layout, "climbs", { yml: "name: ../../x\n", commands: { a: "true" } });
  mkdirSync(join(layout.plugins, "empty"));
  writeFileSync(join(layout.plugins, "file"), "");
  symlinkSync("nowhere", join(layout.plugins, "broken"));
  symlinkSync("circle", join(layout.plugins, "circle"));
  await registry.refresh();
  expect(names()).toEqual(["good folder", "postgres bundled", "twin folder"]);
  expect(registry.find("good")?.yml.name).toBe("good");
  const { errors } = registry.list();
  expect(errors.map((text) => text.slice(0, text.indexOf(":"))).sort()).toEqual([
    "Bad-Name",
    "broken",
    "circle",
    "climbs",
    "empty",
    "renamed",
    "twin",
  ]);
  expect(errors.find((text) => text.startsWith("twin"))).toContain('"good" is taken by the plugin "good"');
});

test("a folder that cannot be read is no plugins, not an end", async () => {
  rmSync(layout.plugins, { recursive: true });
  await registry.refresh();
  expect(names()).toEqual(["postgres bundled"]);
});
