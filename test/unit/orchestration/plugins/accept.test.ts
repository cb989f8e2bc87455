import { afterEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "../../../../src/base/pure/digest.ts";
import { failureText } from "../../../support/failure.ts";
import { helloPlugin, type PluginYard, pluginYard, writeTree } from "../../../support/plugin-yard.ts";

const yards: PluginYard[] = [];
afterEach(async () => {
  await Promise.all(yards.splice(0).map((yard) => yard.close()));
});

/** An installed plugin, and the folder where its files lie. */
async function installed(files: Record<string, string> = helloPlugin("1")) {
  const it = await pluginYard();
  yards.push(it);
  const source = writeTree(join(it.root, "source"), files);
  const { folder } = await it.installer.install({ source });
  return { ...it, source, folder, name: "hello" };
}
type Installed = Awaited<ReturnType<typeof installed>>;

const edit = ({ folder }: Installed, text: string) => writeTree(folder, { "bin/hello": text });
const mine = "#!/bin/sh\necho mine\n";

async function accepted(it: Installed) {
  return it.installer.accept("hello", (await it.installer.changes("hello")).digest);
}

describe("changes of an installed plugin", () => {
  test("are none at first", async () => {
    const it = await installed();
    expect(await it.installer.changes("hi")).toMatchObject({ yml: { name: "hello" }, files: [], left: 0 });
  });

  test("are told file by file, texts with their difference", async () => {
    const it = await installed(helloPlugin("1", { files: { "lib/old": "one\n", "lib/data": "\0\u0001" } }));
    edit(it, mine);
    writeTree(it.folder, { "bin/more": "#!/bin/sh\necho more\n", "lib/data": "\0\u0002", "lib/cache": "not told" });
    rmSync(join(it.folder, "lib/old"));
    const { files, grant } = await it.installer.changes("hello");
    expect(grant).toBeUndefined();
    expect(files.map(({ path, change, diff }) => [path, change, diff])).toEqual([
      ["bin/hello", "changed", ["@@ line 1", " #!/bin/sh", '-echo hello 1 "$@"', "+echo mine"]],
      ["lib/data", "changed", undefined],
      ["lib/old", "removed", ["@@ line 1", "-one"]],
      ["bin/more", "added", ["@@ line 1", "+#!/bin/sh", "+echo more"]],
    ]);
    expect(files[0]).toMatchObject({ size: 20, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test("of a changed plugin.yml tell the grant, and what is new of it", async () => {
    const before = "permissions: {actions: [run_job], scopes: [data], docker: false}\n";
    const it = await installed(helloPlugin("1", { yml: before }));
    const after = "permissions: {actions: [run_job, config_set], scopes: [data], docker: false}\n";
    writeTree(it.folder, { "plugin.yml": helloPlugin("1", { yml: after })["plugin.yml"] });
    expect(await it.installer.changes("hello")).toMatchObject({
      grant: { actions: ["run_job", "config_set"] },
      more: ["config_set"],
    });
    expect((await accepted(it)).permissions.actions).toEqual(["run_job", "config_set"]);
  });

  test("show nothing from outside of the folder, whatever lies there in its place", async () => {
    const it = await installed();
    const secret = join(it.root, "secret");
    mkdirSync(secret);
    writeFileSync(join(secret, "hello"), "the secret\n");
    rmSync(join(it.folder, "bin/hello"));
    symlinkSync(join(secret, "hello"), join(it.folder, "bin/hello"));
    expect(await failureText(it.installer.changes("hello"))).toContain("a link that leads out");
    rmSync(join(it.folder, "bin"), { recursive: true });
    symlinkSync(secret, join(it.folder, "bin"));
    expect(await failureText(it.installer.changes("hello"))).toContain("a link that leads out");
  });

  test("of an older install, whose texts were not kept, are told without a difference", async () => {
    const it = await installed();
    const versions = join(it.plugins, ".versions/hello");
    for (const name of readdirSync(versions)) if (name.endsWith(".json")) rmSync(join(versions, name));
    edit(it, mine);
    const { files } = await it.installer.changes("hello");
    expect(files).toEqual([{ path: "bin/hello", change: "changed", size: 20, sha256: expect.any(String) }]);
  });

  test("are of installed plugins alone", async () => {
    const it = await installed();
    writeTree(join(it.plugins, "hand"), { "bin/x": mine });
    expect(await failureText(it.installer.changes("hand"))).toContain('conflict: "hand" was put there by hand');
    await it.installer.install({ source: it.source, link: true });
    expect(await failureText(it.installer.changes("hello"))).toContain("is linked to");
    expect(await failureText(it.installer.changes("none"))).toContain("not_found");
  });

  test("that no plugin could be are refused as an install refuses them", async () => {
    const it = await installed();
    const yml = (text: string) => writeTree(it.folder, { "plugin.yml": text });
    yml("name: other\n");
    expect(await failureText(it.installer.changes("hello"))).toContain('plugin.yml calls it "other"');
    yml("name: hello\ncommands: {\n");
    expect(await failureText(it.installer.changes("hello"))).toContain("plugin.yml");
    yml("name: hello\nrequires: {version: '>=99'}\n");
    expect(await failureText(accepted(it))).toContain("requires a server of version");
    yml("name: hello\nentrypoint: bin/none\n");
    expect(await failureText(accepted(it))).toContain("has no program to run");
  });
});

describe("accepted changes", () => {
  test("run, until something is changed once more", async () => {
    const it = await installed();
    edit(it, mine);
    expect(await failureText(it.say("hello", "hello"))).toContain("berth plugins accept hello");
    const plugin = await accepted(it);
    expect(plugin.lock?.accepted).toMatchObject({ files: ["bin/hello"] });
    expect(await it.say("hello", "hello")).toBe("mine");
    edit(it, "#!/bin/sh\necho more\n");
    expect(await failureText(it.say("hello", "hello"))).toContain("bin/hello was changed");
    const { files } = await it.installer.changes("hello");
    expect(files[0]?.diff).toEqual(["@@ line 1", " #!/bin/sh", "-echo mine", "+echo more"]);
    await accepted(it);
    expect(await it.say("hello", "hello")).toBe("more");
  });

  test("are those that were looked at, and no others", async () => {
    const it = await installed();
    edit(it, mine);
    const { digest } = await it.installer.changes("hello");
    edit(it, "#!/bin/sh\necho evil\n");
    expect(await failureText(it.installer.accept("hello", digest))).toStartWith("conflict: what plugin");
    expect(await failureText(it.say("hello", "hello"))).toContain("bin/hello was changed");
    edit(it, mine);
    writeTree(it.folder, { "bin/more": mine });
    expect(await failureText(it.installer.accept("hello", digest))).toStartWith("conflict: what plugin");
    rmSync(join(it.folder, "bin/more"));
    await it.installer.accept("hello", digest);
    const state = readFileSync(join(it.plugins, ".state/hello.json"), "utf8");
    // A request that comes twice changes nothing more.
    await it.installer.accept("hello", digest);
    expect(readFileSync(join(it.plugins, ".state/hello.json"), "utf8")).toBe(state);
  });

  test("are granted what was shown, whatever plugin.yml said for a moment", async () => {
    const it = await installed();
    const yml = (text: string) => writeTree(it.folder, helloPlugin("1", { yml: text }));
    const narrow = "permissions: {actions: [run_job], scopes: [data], docker: false}\n";
    yml(narrow);
    const { digest } = await it.installer.changes("hello");
    const { refresh } = it.registry;
    it.registry.refresh = async () => {
      yml("permissions: {actions: [run_job, config_set], scopes: ['*'], docker: true}\n");
      await refresh();
      yml(narrow);
    };
    expect(await failureText(it.installer.accept("hello", digest))).toStartWith("conflict: what plugin");
    it.registry.refresh = refresh;
    const { permissions } = await it.installer.accept("hello", digest);
    expect(permissions).toMatchObject({ actions: ["run_job"], scopes: ["data"], docker: false });
  });

  test("are never shown with one text and accepted with another", async () => {
    const it = await installed();
    const path = join(it.folder, "bin/more");
    const texts = ["#!/bin/sh\necho fine", "#!/bin/sh\necho evil"].map((text) => `${text}\n`);
    let isOver = false;
    const flip = (turn: number) => {
      if (isOver) return;
      writeFileSync(path, texts[turn % 2] ?? "");
      setImmediate(() => flip(turn + 1));
    };
    flip(0);
    let looked = 0;
    try {
      // A look at a file that changes meanwhile fails, and on a busy machine all of the first ones do.
      for (let turn = 0; turn < 60 || looked === 0; turn++) {
        const changes = await it.installer.changes("hello").catch(() => undefined);
        for (const { sha256, diff = [] } of changes?.files ?? []) {
          looked += 1;
          const shown = diff.slice(1).map((line) => `${line.slice(1)}\n`);
          expect(sha256Hex(shown.join(""))).toBe(sha256 ?? "");
        }
      }
    } finally {
      isOver = true;
    }
    expect(looked).toBeGreaterThan(0);
  });

  test("are kept when files are only touched, and over a start of the server", async () => {
    const it = await installed();
    edit(it, mine);
    await accepted(it);
    utimesSync(join(it.folder, "bin/hello"), 1, 1);
    expect(await it.say("hello", "hello")).toBe("mine");
    await it.recover();
    expect(await it.say("hello", "hello")).toBe("mine");
    expect((await it.installer.changes("hello")).files).toEqual([]);
  });

  test("can be run whatever mode their editor left", async () => {
    const it = await installed();
    rmSync(join(it.folder, "bin/hello"));
    writeFileSync(join(it.folder, "bin/hello"), mine, { mode: 0o600 });
    chmodSync(join(it.folder, "bin/hello"), 0o600);
    await accepted(it);
    expect(statSync(join(it.folder, "bin/hello")).mode & 0o777).toBe(0o755);
    expect(await it.say("hello", "hello")).toBe("mine");
  });

  test("give way to the released files with an update, which says so; a rollback returns to them", async () => {
    const it = await installed();
    edit(it, mine);
    await accepted(it);
    const note = expect.stringContaining('accepted in "hello" are not part of this package: bin/hello; ');
    expect((await it.installer.previewUpdate("hello")).warnings).toContainEqual(note);
    expect((await it.installer.update("hello")).warnings).toContainEqual(note);
    expect(await it.say("hello", "hello")).toBe("hello 1");
    await it.installer.rollback("hello");
    expect(await it.say("hello", "hello")).toBe("mine");
    writeTree(it.source, helloPlugin("2"));
    await it.installer.update("hello");
    expect(await it.say("hello", "hello")).toBe("hello 2");
  });

  test("give way to the version before with a rollback", async () => {
    const it = await installed();
    writeTree(it.source, helloPlugin("2"));
    const { folder } = await it.installer.update("hello");
    writeTree(folder, { "bin/hello": mine });
    await accepted(it);
    await it.installer.rollback("hello");
    expect(await it.say("hello", "hello")).toBe("hello 1");
  });

  test("stay where an apply asks for the version that is there, and go where it brings another", async () => {
    const it = await installed();
    edit(it, mine);
    await accepted(it);
    const forBlocks = { kind: "hello", version: undefined, updates: "hello" };
    expect((await it.installer.update("hello", { forBlocks })).warnings).toEqual([]);
    expect(await it.say("hello", "hello")).toBe("mine");
    writeTree(it.source, helloPlugin("2"));
    await it.installer.update("hello", { forBlocks });
    expect(await it.say("hello", "hello")).toBe("hello 2");
  });

  test("leave nothing behind when the plugin is removed", async () => {
    const it = await installed();
    edit(it, mine);
    await accepted(it);
    await it.installer.remove("hello");
    expect(existsSync(join(it.plugins, ".versions/hello"))).toBe(false);
  });

  test("need no text: a damaged or missing file of texts is no fault", async () => {
    const it = await installed();
    const versions = join(it.plugins, ".versions/hello");
    const texts = readdirSync(versions).find((name) => name.endsWith(".json")) ?? "";
    renameSync(join(versions, texts), join(versions, `${texts}x`));
    writeFileSync(join(versions, texts), "{");
    edit(it, mine);
    await accepted(it);
    expect(await it.say("hello", "hello")).toBe("mine");
  });
});
