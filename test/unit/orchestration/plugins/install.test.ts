import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { failureText } from "../../../support/failure.ts";
import { helloPlugin, type PluginYard, pluginYard, writeTree, type YardOptions } from "../../../support/plugin-yard.ts";

const inflation = { ratioMax: 100, freeBytes: 1_000_000 };

const yards: PluginYard[] = [];
afterEach(async () => {
  await Promise.all(yards.splice(0).map((yard) => yard.close()));
});

async function yard(options: YardOptions = {}): Promise<PluginYard> {
  const made = await pluginYard(options);
  yards.push(made);
  return made;
}

/** A package on the disk of the server. */
function packageOf(it: PluginYard, files: Record<string, string>, name = "source"): string {
  const folder = join(it.root, name);
  rmSync(folder, { recursive: true, force: true });
  return writeTree(folder, files);
}

/** Folders and records of versions, and what lies about. The texts of a version count where its folder is gone. */
function traces(it: PluginYard) {
  const list = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  const versionsOf = (folder: string) => new Set(list(folder).map((name) => name.replace(/\.texts\.json$/, ""))).size;
  return {
    versions: list(join(it.plugins, ".versions"))
      .map((name) => versionsOf(join(it.plugins, ".versions", name)))
      .reduce((sum, each) => sum + each, 0),
    staging: list(join(it.plugins, ".staging")),
    links: list(it.plugins).filter((name) => name.startsWith(".link")),
  };
}

/** A path that can be read from inside, and is too long for the place where it would stay. */
function deepen(at: string): void {
  const before = process.cwd();
  process.chdir(at);
  for (let depth = 0; depth < 20; depth++) {
    mkdirSync("d".repeat(200));
    process.chdir("d".repeat(200));
  }
  mkdirSync("e".repeat(20));
  process.chdir(before);
}

describe("from a folder", () => {
  test("a plugin runs, and what is known about it is told", async () => {
    const it = await yard();
    const source = packageOf(it, helloPlugin("0.10"));
    const plugin = await it.installer.install({ source });
    expect(plugin).toMatchObject({ origin: "installed", enabled: true, yml: { name: "hello", version: "0.10" } });
    expect(plugin.lock).toMatchObject({ source, version: "0.10", requested: "" });
    expect(Object.keys(plugin.lock?.files ?? {})).toEqual(["bin/hello", "plugin.yml"]);
    expect(await it.say("hi", "hello", "you")).toBe("hello 0.10 you");
    expect(readlinkSync(join(it.plugins, "hello"))).toStartWith(".versions/hello/0.10-");
    rmSync(source, { recursive: true });
    expect(await it.say("hello", "hello")).toBe("hello 0.10");
  });

  test("a version that the folder does not have is refused before anything is changed", async () => {
    const it = await yard();
    const source = packageOf(it, helloPlugin("1.3.0"));
    const install = (version: string) => it.installer.install({ source, version });
    for (const version of ["1.2.0", "main"]) {
      expect(await failureText(install(version))).toBe(
        `invalid: ${source} is version 1.3.0 in its plugin.yml, and ${version} was asked for; not installed`,
      );
      expect(await failureText(it.installer.preview({ source, version }))).toContain("is version 1.3.0");
      expect(await failureText(it.installer.install({ source, version, link: true }))).toContain("is version 1.3.0");
      expect(traces(it).versions).toBe(0);
    }
    for (const version of ["1.3.0", "v1.3.0", "latest"]) expect((await install(version)).yml.version).toBe("1.3.0");
    writeTree(source, { "plugin.yml": "name: hello\n" });
    expect(await failureText(install("1.3.0"))).toContain("names no version");
    expect(await it.say("hello", "hello")).toBe("hello 1.3.0");
  });

  test("programs are made executable, links become what they name", async () => {
    const it = await yard();
    const source = packageOf(it, { "plugin.yml": "name: hello", "lib/real": "#!/bin/sh\necho linked" });
    mkdirSync(join(source, "bin"));
    symlinkSync("../lib/real", join(source, "bin/hello"));
    await it.installer.install({ source });
    expect(await it.say("hello", "hello")).toBe("linked");
  });

  test("a name that is no UTF-8 is told", async () => {
    const it = await yard();
    const source = packageOf(it, helloPlugin("1.0.0"));
    writeFileSync(Buffer.concat([Buffer.from(`${source}/bin/x`), Buffer.of(0xff)]), "");
    expect(await failureText(it.installer.install({ source }))).toBe(
      'invalid: the name "x\ufffd" in "bin" is not valid UTF-8',
    );
  });

  test.each([
    ["a link out of the package", (at: string) => symlinkSync("/etc/passwd", join(at, "bin/x")), "leads out"],
    ["a link to nowhere", (at: string) => symlinkSync("nowhere", join(at, "bin/x")), "leads out"],
    ["a link to a folder", (at: string) => symlinkSync(".", join(at, "bin/x")), "a link to a folder"],
    [
      "a plugin.yml from elsewhere",
      (at: string) => {
        rmSync(join(at, "plugin.yml"));
        symlinkSync("/etc/passwd", join(at, "plugin.yml"));
      },
      '"plugin.yml" is a link that leads out',
    ],
    ["a name that is too long", (at: string) => deepen(at), "the package cannot be copied: ENAMETOOLONG"],
    ["a broken plugin.yml", (at: string) => writeFileSync(join(at, "plugin.yml"), "a: ["), "plugin.yml line 1"],
    ["a name with dots", (at: string) => writeFileSync(join(at, "plugin.yml"), "name: ../../x"), "is not a valid name"],
    ["a core kind", (at: string) => writeFileSync(join(at, "plugin.yml"), "name: job"), "a kind of the server itself"],
    ["no program", (at: string) => rmSync(join(at, "bin"), { recursive: true }), "has no program to run"],
    [
      "a Go plugin that is not built",
      (at: string) => {
        rmSync(join(at, "bin"), { recursive: true });
        writeFileSync(join(at, "plugin.yml"), "name: x\nentrypoint: bin/x\ncommands: [{name: hello}]");
        writeFileSync(join(at, "go.mod"), "module x\n");
      },
      "it is written in Go, so build it where its source is: CGO_ENABLED=0 go build -o bin/x .",
    ],
    ["another protocol", (at: string) => writeFileSync(join(at, "plugin.yml"), "name: x\nprotocol: 7"), "protocol 7"],
    [
      "a server that is too old",
      (at: string) => writeFileSync(join(at, "plugin.yml"), 'name: x\nrequires: {version: ">=9.1"}'),
      "requires a server of version >=9.1; this is 0.1.0",
    ],
    [
      "a program that is missing",
      (at: string) => writeFileSync(join(at, "plugin.yml"), "name: x\nrequires: {programs: [sh, no-such-thing]}"),
      "not on this server: no-such-thing",
    ],
  ])("%s is refused, and nothing is left", async (_, spoil, text) => {
    const it = await yard();
    const source = packageOf(it, helloPlugin("1"));
    spoil(source);
    expect(await failureText(it.installer.install({ source }))).toContain(text);
    expect(traces(it)).toEqual({ versions: 0, staging: [], links: [] });
    await it.registry.refresh();
    expect(it.registry.list()).toMatchObject({ plugins: [], errors: [] });
  });

  test("more files or bytes than allowed are refused", async () => {
    const it = await yard({ limits: { filesMax: 3, bytesMax: 1_000, inflation } });
    const many = packageOf(it, { ...helloPlugin("1"), a: "", b: "" });
    expect(await failureText(it.installer.install({ source: many }))).toBe(
      "too_large: the package has more than 3 files",
    );
    const large = packageOf(it, { ...helloPlugin("1"), a: "x".repeat(1_000) });
    expect(await failureText(it.installer.install({ source: large }))).toContain("larger than 1000 bytes");
  });

  test("what is no source, no folder or a relative path is refused", async () => {
    const it = await yard();
    expect(await failureText(it.installer.install({ source: "one two" }))).toContain("is not a source of a plugin");
    expect(await failureText(it.installer.install({ source: "/no/such" }))).toContain(
      'there is not a folder "/no/such"',
    );
    expect(await failureText(it.installer.install({ source: "./here" }))).toContain("must be an absolute path");
  });
});

describe("configuration files", () => {
  const conf = (version: string, text: string) =>
    helloPlugin(version, { files: { "conf/a.conf": text, "conf/deep/b.conf": text, "other.conf": text } });

  test("may be edited; a new version takes the edits over, as often as there is one", async () => {
    const it = await yard();
    const source = packageOf(it, conf("1", "port 1"));
    const { folder } = await it.installer.install({ source });
    await Bun.write(join(folder, "conf/a.conf"), "port 9");
    expect(await it.say("hello", "hello")).toBe("hello 1");
    // The same again is nothing new.
    expect((await it.installer.install({ source })).folder).toBe(folder);
    for (const version of ["2", "3"]) {
      const progress: string[] = [];
      packageOf(it, conf(version, `port ${version}`));
      const next = await it.installer.update("hello", {}, { progress: (line) => progress.push(line) });
      const text = (path: string) => Bun.file(join(next.folder, path)).text();
      expect([await text("conf/a.conf"), await text("conf/deep/b.conf")]).toEqual(["port 9", `port ${version}`]);
      expect(progress.join()).toContain("conf/a.conf was edited and stays as it is");
      expect(await it.say("hello", "hello")).toBe(`hello ${version}`);
    }
    expect((await it.installer.rollback("hello")).yml.version).toBe("2");
  });

  test("are what plugin.yml names, and nothing that is run", async () => {
    const it = await yard();
    const files = { "conf/a.conf": "a", "etc/b.conf": "b" };
    const source = packageOf(it, helloPlugin("1", { yml: "conf: [etc]", files }));
    const { folder } = await it.installer.install({ source });
    await Bun.write(join(folder, "etc/b.conf"), "c");
    expect(await it.say("hello", "hello")).toBe("hello 1");
    await Bun.write(join(folder, "conf/a.conf"), "c");
    expect(await failureText(it.say("hello", "hello"))).toContain("conf/a.conf was changed");
    for (const place of ["bin", "bin/hello", "../x", "commands/a"]) {
      const bad = packageOf(it, helloPlugin("1", { yml: `conf: ["${place}"]` }));
      expect(await failureText(it.installer.install({ source: bad }))).toContain("cannot hold configuration");
    }
  });
});

describe("the install hook", () => {
  test("cannot have the package say something else than was shown: the old version works on", async () => {
    const it = await yard();
    await it.installer.install({ source: packageOf(it, helloPlugin("1.0.0")) });
    for (const changed of ["name: evil", "name: hello\\naliases: [pg]\\nversion: 2.0.0"]) {
      const files = { ...helloPlugin("2.0.0"), install: `#!/bin/sh\nprintf '${changed}\\n' > plugin.yml` };
      expect(await failureText(it.installer.install({ source: packageOf(it, files) }))).toBe(
        'invalid: the install hook of "hello" changed its plugin.yml: not installed',
      );
      expect(await it.say("hello", "hello")).toBe("hello 1.0.0");
      expect(traces(it)).toEqual({ versions: 1, staging: [], links: [] });
    }
  });

  test("makes no link out of the package: what it leads to is nobody's to lock", async () => {
    const it = await yard();
    for (const target of ["/etc/passwd", "../../other", "nowhere"]) {
      const install = `#!/bin/sh\nmkdir -p deep && ln -s ${target} deep/way\n`;
      expect(
        await failureText(it.installer.install({ source: packageOf(it, helloPlugin("1", { files: { install } })) })),
      ).toBe('invalid: "deep/way" of the installed package is a link that leads out of it, or nowhere');
    }
    const install = "#!/bin/sh\nmkdir -p deep && touch deep/file && ln -s file deep/way && ln -s deep way\n";
    await it.installer.install({ source: packageOf(it, helloPlugin("1", { files: { install } })) });
    expect(await it.say("hello", "hello")).toBe("hello 1");
  });

  test("runs in the package with its own home, before anything else sees the version", async () => {
    const it = await yard();
    const install =
      '#!/bin/sh\nset -e\necho "$1 $PWD $HOME $TMPDIR $BERTH_PLUGIN_DIR $FROM_YML" > said\n[ ! -e ../../../hello ]\n';
    const source = packageOf(it, helloPlugin("1", { yml: "env: {FROM_YML: 010}", files: { install } }));
    const plugin = await it.installer.install({ source });
    const said = await Bun.file(join(plugin.folder, "said")).text();
    expect(said.trim()).toBe(["hello", ...Array(4).fill(plugin.folder), "010"].join(" "));
    expect(Object.keys(plugin.lock?.files ?? {})).toContain("said");
  });

  test("keeps the old version when it fails, and tells its last lines", async () => {
    const it = await yard();
    await it.installer.install({ source: packageOf(it, helloPlugin("1")) });
    const install = "#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9 10; do echo line $i; done\necho broken >&2\nexit 3\n";
    const progress: string[] = [];
    const source = packageOf(it, helloPlugin("2", { files: { install } }));
    const text = await failureText(it.installer.install({ source }, { progress: (line) => progress.push(line) }));
    expect(text).toBe(
      'invalid: the install hook of "hello" failed with exit code 3:\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\nline 10\nbroken',
    );
    expect(progress).toContain("line 1");
    expect(await it.say("hello", "hello")).toBe("hello 1");
    expect(traces(it)).toEqual({ versions: 1, staging: [], links: [] });
  });

  test("cannot bring more than a package may hold", async () => {
    const it = await yard({ limits: { filesMax: 10, bytesMax: 10_000, inflation } });
    const install = "#!/bin/sh\nhead -c 20000 /dev/zero > big\n";
    const source = packageOf(it, helloPlugin("1", { files: { install } }));
    expect(await failureText(it.installer.install({ source }))).toBe(
      "too_large: the package is larger than 10000 bytes",
    );
    expect(traces(it).versions).toBe(0);
  });

  test("is ended at its time limit with all that it started", async () => {
    const it = await yard({ hookMs: 300 });
    const source = packageOf(it, helloPlugin("1", { files: { install: "#!/bin/sh\nsleep 600 & sleep 600\n" } }));
    expect(await failureText(it.installer.install({ source }))).toContain("did not come to an end in time");
    expect(traces(it).versions).toBe(0);
  });
});

describe("names", () => {
  test("that another plugin answers to are refused", async () => {
    const it = await yard();
    await it.installer.install({ source: packageOf(it, helloPlugin("1")) });
    const other = { "plugin.yml": "name: other\naliases: [hi]", "bin/x": "#!/bin/sh\n" };
    expect(await failureText(it.installer.install({ source: packageOf(it, other) }))).toBe(
      'conflict: "hi" is taken by the plugin "hello"; remove that one first',
    );
    const kind = { "plugin.yml": "name: other\nkinds: [hello]", "bin/x": "#!/bin/sh\n" };
    expect(await failureText(it.installer.install({ source: packageOf(it, kind) }))).toContain('"hello" is taken');
  });

  test("of bundled plugins need replace, and removing brings the bundled one back", async () => {
    const bundled = await bundledHello();
    const it = await yard({ bundled: [bundled] });
    const source = packageOf(it, helloPlugin("9"));
    expect(await failureText(it.installer.install({ source }))).toContain(
      "is part of the server; install it with --replace",
    );
    await it.installer.install({ source, replace: true });
    expect(it.registry.find("hello")?.origin).toBe("installed");
    expect(await it.installer.remove("hello")).toBe(true);
    expect(it.registry.find("hello")?.origin).toBe("bundled");
    expect(await failureText(it.installer.remove("hello"))).toContain("it can be disabled, not removed");
    expect(await it.installer.setEnabled("hello", false)).toMatchObject({ enabled: false, origin: "bundled" });
    expect(await it.installer.setEnabled("hello", true)).toMatchObject({ enabled: true });
  });

  async function bundledHello() {
    const maker = await yard();
    const { yml } = await maker.installer.install({ source: packageOf(maker, helloPlugin("0")) });
    return { yml, argv: ["/bin/echo", "bundled"] };
  }
});

describe("versions", () => {
  test("update takes what is at the source, rollback goes back and forth", async () => {
    const it = await yard();
    await it.installer.install({ source: packageOf(it, helloPlugin("1")) });
    packageOf(it, helloPlugin("2"));
    const updated = await it.installer.update("hi");
    expect(updated.lock).toMatchObject({ version: "2", previous: { version: "1" } });
    expect(await it.say("hello", "hello")).toBe("hello 2");
    await it.installer.rollback("hello");
    expect(await it.say("hello", "hello")).toBe("hello 1");
    await it.installer.rollback("hello");
    expect(await it.say("hello", "hello")).toBe("hello 2");
  });

  test("an update without news changes nothing", async () => {
    const it = await yard();
    const first = await it.installer.install({ source: packageOf(it, helloPlugin("1")) });
    expect(await failureText(it.installer.rollback("hello"))).toContain("has no earlier version");
    const second = await it.installer.update("hello");
    expect(second.folder).toBe(first.folder);
    expect(traces(it).versions).toBe(1);
  });

  test("three are kept", async () => {
    const it = await yard();
    for (const version of ["1", "2", "3", "4", "5"]) {
      await it.installer.install({ source: packageOf(it, helloPlugin(version)) });
    }
    expect(traces(it).versions).toBe(3);
    const rolledBack = await it.installer.rollback("hello");
    expect(rolledBack.yml.version).toBe("4");
  });

  test("an update that wants more than was granted is refused; an install grants it", async () => {
    const it = await yard();
    const asks = (actions: string) => ({ yml: `permissions: {actions: [${actions}], scopes: [data]}` });
    await it.installer.install({ source: packageOf(it, helloPlugin("1", asks("config_set"))) });
    const source = packageOf(it, helloPlugin("2", asks("config_set, run_job")));
    expect(await failureText(it.installer.update("hello"))).toBe(
      'forbidden: 2 wants more than "hello" was granted: run_job; to grant that: berth plugins update hello --yes, or install it again',
    );
    const { permissions } = await it.installer.install({ source });
    expect(permissions).toEqual({ actions: ["config_set", "run_job"], scopes: ["data"], docker: false, root: false });
    packageOf(it, helloPlugin("3"));
    expect(await failureText(it.installer.update("hello"))).toContain("apply_manifest");
  });

  test("several installs at once leave one whole version", async () => {
    const it = await yard();
    const sources = ["1", "2", "3", "4", "5", "6"].map((version) => packageOf(it, helloPlugin(version), `s${version}`));
    await Promise.all(sources.map((source) => it.installer.install({ source })));
    expect(await it.say("hello", "hello")).toMatch(/^hello [1-6]$/);
    expect(traces(it)).toEqual({ versions: 3, staging: [], links: [] });
  });
});

describe("the lock", () => {
  async function installed() {
    const it = await yard();
    const plugin = await it.installer.install({
      source: packageOf(it, helloPlugin("1", { files: { "data/x": "1" } })),
    });
    return { it, folder: plugin.folder };
  }

  test.each([
    ["a changed program", "bin/hello", "#!/bin/sh\necho evil 1!\n", "bin/hello was changed"],
    ["changed data", "data/x", "2", "data/x was changed"],
    ["a new program", "bin/more", "#!/bin/sh\n", "bin/more was added"],
  ])("%s is noticed before it runs", async (_, path, text, fault) => {
    const { it, folder } = await installed();
    writeTree(folder, { [path]: text });
    expect(await failureText(it.say("hello", "hello"))).toContain(fault);
  });

  test("a missing file is noticed", async () => {
    const { it, folder } = await installed();
    rmSync(join(folder, "data/x"));
    expect(await failureText(it.say("hello", "hello"))).toContain("data/x is missing");
  });

  test("a touched file is read once and then known; a new file beside is fine", async () => {
    const { it, folder } = await installed();
    writeTree(folder, { "data/x": "1", "cache/y": "new" });
    expect(await it.say("hello", "hello")).toBe("hello 1");
    const before = it.registry.find("hello")?.lock?.files["data/x"];
    await Bun.sleep(50);
    await it.registry.refresh();
    const after = it.registry.find("hello")?.lock?.files["data/x"];
    expect(after?.sha256).toBe(before?.sha256 ?? "");
    expect(after?.mtimeMs).not.toBe(before?.mtimeMs ?? 0);
  });

  test("a version that was changed is not rolled back to", async () => {
    const { it, folder } = await installed();
    await it.installer.install({ source: packageOf(it, helloPlugin("2")) });
    writeTree(folder, { "bin/hello": "#!/bin/sh\necho evil\n" });
    expect(await failureText(it.installer.rollback("hello"))).toContain("bin/hello was changed");
    expect(await it.say("hello", "hello")).toBe("hello 2");
  });
});

describe("by hand and linked", () => {
  test("a folder that is dropped in works, and is replaced only when that is said", async () => {
    const it = await yard();
    writeTree(join(it.plugins, "hello"), helloPlugin("1"));
    expect(await it.say("hello", "hello")).toBe("hello 1");
    const source = packageOf(it, helloPlugin("2"));
    expect(await failureText(it.installer.install({ source }))).toContain("was put there by hand");
    expect(await failureText(it.installer.update("hello"))).toContain("was put there by hand");
    await it.installer.install({ source, replace: true });
    expect(await it.say("hello", "hello")).toBe("hello 2");
    await it.installer.rollback("hello");
    expect(await it.say("hello", "hello")).toBe("hello 1");
    expect(await it.installer.remove("hello")).toBe(true);
    expect(traces(it)).toEqual({ versions: 0, staging: [], links: [] });
  });

  test("a folder that was dropped in steps aside for a link, and comes back", async () => {
    const it = await yard();
    writeTree(join(it.plugins, "hello"), helloPlugin("1"));
    const source = packageOf(it, helloPlugin("dev"));
    expect(await it.installer.install({ source, link: true, replace: true })).toMatchObject({ origin: "linked" });
    await it.installer.rollback("hello");
    expect(await it.say("hello", "hello")).toBe("hello 1");
  });

  test("disabling and enabling a folder keeps its permissions", async () => {
    const it = await yard();
    writeTree(join(it.plugins, "hello"), helloPlugin("1"));
    expect(await it.installer.setEnabled("hello", false)).toMatchObject({ enabled: false, origin: "folder" });
    expect((await it.installer.setEnabled("hello", true)).permissions.scopes).toEqual(["*"]);
  });

  test("an update of a plugin that was only ever linked names the folder", async () => {
    const it = await yard();
    const source = packageOf(it, helloPlugin("dev"));
    await it.installer.install({ source, link: true });
    expect(await failureText(it.installer.update("hello"))).toBe(
      `conflict: "hello" is linked to ${source}: change it there`,
    );
  });

  test("a linked folder is used as it is, and unlinked without harm", async () => {
    const it = await yard();
    await it.installer.install({ source: packageOf(it, helloPlugin("1"), "first") });
    const source = packageOf(it, helloPlugin("dev"));
    expect(await it.installer.install({ source, link: true })).toMatchObject({ origin: "linked" });
    writeTree(source, { "bin/hello": "#!/bin/sh\necho edited\n" });
    expect(await it.say("hello", "hello")).toBe("edited");
    expect(await failureText(it.installer.update("hello"))).toContain(`linked to ${source}`);
    await it.installer.rollback("hello");
    expect(await it.say("hello", "hello")).toBe("hello 1");
    await it.installer.install({ source, link: true });
    await it.installer.remove("hello");
    expect(existsSync(join(source, "plugin.yml"))).toBe(true);
    expect(await it.installer.remove("hello")).toBe(false);
  });
});

describe("removing", () => {
  test("runs the uninstall hook, whose failure is told and does not keep the plugin", async () => {
    const it = await yard();
    const uninstall = '#!/bin/sh\necho "bye $1" > "$OLDPWD/../../../../gone" || true\necho sad >&2\nexit 1\n';
    await it.installer.install({ source: packageOf(it, helloPlugin("1", { files: { uninstall } })) });
    const progress: string[] = [];
    expect(await it.installer.remove("hi", { progress: (line) => progress.push(line) })).toBe(true);
    expect(progress.join("\n")).toContain('warning: the uninstall hook of "hello" failed with exit code 1');
    expect(it.registry.find("hello")).toBeUndefined();
    expect(traces(it)).toEqual({ versions: 0, staging: [], links: [] });
    expect(await it.installer.remove("hello")).toBe(false);
  });

  test("takes away what is broken as well, and never follows a name", async () => {
    const it = await yard();
    writeTree(join(it.plugins, "broken"), { "plugin.yml": "a: [" });
    expect(await it.installer.remove("broken")).toBe(true);
    expect(existsSync(join(it.plugins, "broken"))).toBe(false);
    for (const name of ["../x", ".state", "", "a/b"]) {
      expect(await failureText(it.installer.remove(name))).toContain("is not the name of a plugin");
    }
  });
});
