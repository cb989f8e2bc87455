import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { helloPlugin, type PluginYard, pluginYard, writeTree } from "../support/plugin-yard.ts";
import { type ReleaseServer, releaseServer } from "../support/release-server.ts";

const source = "ana/hello";
const install = "#!/bin/sh\necho made > made\n";
const version = (text: string) => ({ files: helloPlugin(text, { files: { install } }) });

/** Everything that an install does, in its order. */
const installSteps = ["fetched", "copied", "hooked", "locked", "written", "swapped", "settled"];

let host: ReleaseServer;
let it: PluginYard;

beforeEach(async () => {
  host = releaseServer({ [source]: { v1: version("1") } });
  it = await pluginYard({ releasesUrl: host.url });
});

afterEach(async () => {
  await it.close();
  await host.stop();
});

/** A server that is killed when it has done `step`; without one it comes to its end. */
async function killedAt(step: string, ...words: string[]): Promise<void> {
  const script = join(import.meta.dir, "plugin-installer.ts");
  const argv = [process.execPath, script, it.root, host.url, step, ...words];
  const child = Bun.spawn(argv, { stdout: "ignore", stderr: "pipe" });
  const [code, said] = await Promise.all([child.exited, child.stderr.text()]);
  if (step === "none" ? code !== 0 : child.signalCode !== "SIGKILL") throw new Error(`ended with ${code}: ${said}`);
}

/** What is left of work that did not come to its end. */
function leftovers(): string[] {
  const list = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  const staging = list(join(it.plugins, ".staging"));
  const links = list(it.plugins).filter((name) => name.startsWith(".link"));
  return [...staging, ...links];
}

/** Folders of versions; the texts of a version count where its folder is gone. */
function versions(): number {
  const folder = join(it.plugins, ".versions/hello");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return new Set(names.map((name) => name.replace(/\.texts\.json$/, ""))).size;
}

describe("a server that is killed in an update", () => {
  test.each(installSteps)("after %s has the old version or the new one, whole", async (step) => {
    await it.installer.install({ source });
    host.releases[source] = { v2: version("2") };
    await killedAt(step, source);
    const now = installSteps.indexOf(step) < installSteps.indexOf("swapped") ? "hello 1" : "hello 2";
    expect(await it.say("hello", "hello")).toBe(now);
    await it.recover();
    expect(await it.say("hello", "hello")).toBe(now);
    expect(leftovers()).toEqual([]);
    expect(versions()).toBe(now === "hello 1" ? 1 : 2);
    await it.installer.update("hello");
    expect(await it.say("hello", "hello")).toBe("hello 2");
    await it.installer.rollback("hello");
    expect(await it.say("hello", "hello")).toBe("hello 1");
  });
});

describe("a server that is killed in a first install", () => {
  test.each(installSteps)("after %s has the plugin whole, or nothing of it", async (step) => {
    await killedAt(step, source);
    await it.recover();
    await it.registry.refresh();
    const isIn = installSteps.indexOf(step) >= installSteps.indexOf("swapped");
    expect(it.registry.list()).toMatchObject({ plugins: isIn ? [{ yml: { name: "hello" } }] : [], errors: [] });
    expect([leftovers(), versions()]).toEqual([[], isIn ? 1 : 0]);
    await it.installer.install({ source });
    expect(await it.say("hello", "hello")).toBe("hello 1");
  });
});

describe("a server that is killed while a folder put there by hand is replaced", () => {
  test.each(["hand written", "hand moved", ...installSteps.slice(4)])("after %s loses neither", async (step) => {
    writeTree(join(it.plugins, "hello"), helloPlugin("by-hand"));
    await killedAt(step, source, "replace");
    await it.recover();
    const isIn = installSteps.indexOf(step) >= installSteps.indexOf("swapped");
    expect(await it.say("hello", "hello")).toBe(isIn ? "hello 1" : "hello by-hand");
    await it.installer.install({ source, replace: true });
    expect(await it.say("hello", "hello")).toBe("hello 1");
    await it.installer.rollback("hello");
    expect(await it.say("hello", "hello")).toBe("hello by-hand");
  });
});

describe("a server that is killed in a removal", () => {
  test.each(["state removed", "link removed", "none"])(
    "after %s has nothing of it left when it is back",
    async (step) => {
      await it.installer.install({ source });
      await killedAt(step, "remove");
      await it.recover();
      await it.registry.refresh();
      expect(it.registry.list()).toMatchObject({ plugins: [], errors: [] });
      expect([leftovers(), versions()]).toEqual([[], 0]);
      await it.installer.install({ source });
      expect(await it.say("hello", "hello")).toBe("hello 1");
    },
  );
});

describe("an error instead of a kill", () => {
  test.each(installSteps)("after %s leaves the old version or the new one", async (step) => {
    await it.installer.install({ source });
    host.releases[source] = { v2: version("2") };
    const failing = await pluginYard({
      root: it.root,
      releasesUrl: host.url,
      reached: (done) => {
        if (done === step) throw new Error("the disk is gone");
      },
    });
    await expect(failing.installer.update("hello")).rejects.toThrow("the disk is gone");
    await failing.close();
    const now = installSteps.indexOf(step) < installSteps.indexOf("swapped") ? "hello 1" : "hello 2";
    expect(await it.say("hello", "hello")).toBe(now);
    expect(leftovers()).toEqual([]);
    expect((await it.installer.update("hello")).yml.version).toBe("2");
    expect(await it.say("hello", "hello")).toBe("hello 2");
  });
});
