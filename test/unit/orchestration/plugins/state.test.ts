import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { foldersOf } from "../../../../src/orchestration/plugins/folders.ts";
import { activeOf, previousOf, readLock, readState, statesIn } from "../../../../src/orchestration/plugins/state.ts";
import { failureText } from "../../../support/failure.ts";
import { helloPlugin, type PluginYard, pluginYard, writeTree } from "../../../support/plugin-yard.ts";

let it: PluginYard;
beforeEach(async () => {
  it = await pluginYard();
});
afterEach(() => it.close());

const folders = () => foldersOf(it.plugins);
const damage = (text: string) => writeFileSync(join(it.plugins, ".state/hello.json"), text);

async function installed(version: string) {
  return it.installer.install({ source: writeTree(join(it.root, "source"), helloPlugin(version)) });
}

describe("what is known about a plugin", () => {
  test("is nothing where nothing was written", async () => {
    expect(await readState(folders(), "hello")).toBeUndefined();
    expect(await readLock(folders(), "hello")).toBeUndefined();
    expect(await activeOf(folders(), "hello")).toEqual({ type: "none" });
    expect(await statesIn(folders())).toEqual([]);
  });

  test("follows the link, not the order of the versions", async () => {
    await installed("1");
    await installed("2");
    const state = await readState(folders(), "hello");
    const active = await activeOf(folders(), "hello");
    expect([state?.versions.length, active.type]).toEqual([2, "version"]);
    expect(state && previousOf(state, active)?.version).toBe("1");
    expect(await readLock(folders(), "hello")).toMatchObject({
      version: "2",
      previous: { version: "1" },
      enabled: true,
    });
    expect(await statesIn(folders())).toEqual(["hello"]);
  });

  test("tells versions, linked folders and folders put there by hand apart", async () => {
    mkdirSync(join(it.plugins, "hand"));
    symlinkSync("/somewhere/else", join(it.plugins, "dev"));
    symlinkSync(".versions/other/1", join(it.plugins, "odd"));
    expect(await activeOf(folders(), "hand")).toEqual({ type: "folder" });
    expect(await activeOf(folders(), "dev")).toEqual({ type: "linked", folder: "/somewhere/else" });
    expect((await activeOf(folders(), "odd")).type).toBe("linked");
  });
});

describe("a damaged state", () => {
  test.each([
    "",
    "{",
    "[]",
    "{}",
    '{"enabled":true,"versions":[{}]}',
    '{"enabled":1,"versions":[]}',
    `{"enabled":true,"versions":[{"id":"../x","source":"","requested":"","version":"","installed_at":"","files":{},"permissions":{}}]}`,
  ])("%p is told, keeps the plugin from running, and is taken away with it", async (text) => {
    await installed("1");
    damage(text);
    expect(await failureText(readState(folders(), "hello"))).toContain("is damaged: remove plugin");
    await it.registry.refresh();
    expect(it.registry.list()).toMatchObject({ plugins: [], errors: [expect.stringContaining("hello: ")] });
    expect(await failureText(installed("2"))).toContain("is damaged");
    expect(await it.installer.remove("hello")).toBe(true);
    expect(readdirSync(it.plugins).filter((name) => !name.startsWith("."))).toEqual([]);
    await installed("2");
    expect(await it.say("hello", "hello")).toBe("hello 2");
  });

  test("is told at the start and keeps no other from being recovered", async () => {
    await installed("1");
    damage("{");
    mkdirSync(join(it.plugins, ".versions/gone/1-x"), { recursive: true });
    const told: string[] = [];
    await it.recover((name) => told.push(name));
    expect([told, existsSync(join(it.plugins, ".versions/gone"))]).toEqual([["hello"], false]);
  });
});

describe("a plugin whose link is gone", () => {
  beforeEach(async () => {
    await installed("1");
    Bun.spawnSync(["rm", join(it.plugins, "hello")]);
  });

  test("is told with the ways out, keeps its files over a start, and comes back", async () => {
    for (const begin of [async () => undefined, () => it.recover()]) {
      await begin();
      await it.registry.refresh();
      const [error = "", ...others] = it.registry.list().errors;
      expect([it.registry.list().plugins, others]).toEqual([[], []]);
      expect(error).toMatch(/^hello: ".*hello" is gone, and .* rollback hello .*, berth plugins remove hello/);
    }
    await it.installer.rollback("hello");
    expect([await it.say("hello", "hello"), it.registry.list().errors]).toEqual(["hello 1", []]);
  });

  test("is forgotten when it is removed, and replaced when it is installed again", async () => {
    expect(await it.installer.remove("hello")).toBe(true);
    expect([existsSync(join(it.plugins, ".versions/hello")), await statesIn(folders())]).toEqual([false, []]);
    await it.registry.refresh();
    expect(it.registry.list().errors).toEqual([]);
    await installed("1");
    Bun.spawnSync(["rm", join(it.plugins, "hello")]);
    await installed("2");
    expect([await it.say("hello", "hello"), it.registry.list().errors]).toEqual(["hello 2", []]);
  });
});

test("an installed plugin whose programs are all gone says so", async () => {
  await installed("1");
  Bun.spawnSync(["rm", "-r", join(it.plugins, "hello/bin")]);
  await it.registry.refresh();
  expect(it.registry.list().errors).toEqual([
    "hello: its programs (bin/hello) are gone: install it again, or roll it back",
  ]);
});
