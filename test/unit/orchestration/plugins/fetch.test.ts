import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failureText } from "../../../support/failure.ts";
import { helloPlugin, type PluginYard, pluginYard } from "../../../support/plugin-yard.ts";
import { startGitServer } from "../../../support/git-server.ts";
import { gitRepository, type ReleaseServer, releaseServer, sha256, tarball } from "../../../support/release-server.ts";

let host: ReleaseServer;
let it: PluginYard;

beforeEach(async () => {
  host = releaseServer();
  it = await pluginYard({ releasesUrl: host.url });
});

afterEach(async () => {
  await host.stop();
  await it.close();
});

const program = (version: string) => `#!/bin/sh\necho binary ${version}\n`;

/** A plugin with one program, which only its releases hold. */
function compiled(version: string) {
  return { "plugin.yml": `name: tool\nversion: ${version}\nentrypoint: bin/berth-tool\ncommands: [run]` };
}

function release(version: string, assets: Record<string, string> = {}) {
  return { files: compiled(version), assets: { "berth-tool_linux_amd64": program(version), ...assets } };
}

describe("a release", () => {
  test("is the tag's tarball and the program for this machine, checked", async () => {
    const sums = `${sha256("other")}  berth-tool_linux_arm64\n${sha256(program("1.2.0"))}  berth-tool_linux_amd64\n`;
    host.releases["ana/berth-tool"] = { "v1.2.0": release("1.2.0", { "checksums.txt": sums }) };
    const progress: string[] = [];
    const plugin = await it.installer.install(
      { source: "ana/berth-tool", version: "1.2.0" },
      { progress: (line) => progress.push(line) },
    );
    expect(plugin.lock).toMatchObject({ version: "1.2.0", requested: "1.2.0", commit: "a".repeat(40) });
    expect(await it.say("tool", "run")).toBe("binary 1.2.0");
    expect(progress).toEqual(["ana/berth-tool v1.2.0", `berth-tool_linux_amd64: sha256 ${sha256(program("1.2.0"))}`]);
  });

  test("whose program is not what its checksum says is refused; the old version works on", async () => {
    host.releases["ana/berth-tool"] = {
      v1: release("1", { SHA256SUMS: `${sha256(program("1"))} *berth-tool_linux_amd64` }),
      v2: release("2", { "checksums.txt": `${sha256("else")}  berth-tool_linux_amd64` }),
    };
    await it.installer.install({ source: "ana/berth-tool", version: "1" });
    expect(await failureText(it.installer.update("tool"))).toMatch(/^conflict: .* has the sha256 .* not installed$/);
    expect(await it.say("tool", "run")).toBe("binary 1");
  });

  test("without a version is the newest, and an update follows it", async () => {
    host.releases["ana/berth-tool"] = { v1: release("1") };
    expect((await it.installer.install({ source: "github.com/ana/berth-tool" })).lock?.version).toBe("1");
    host.releases["ana/berth-tool"].v2 = release("2");
    expect((await it.installer.update("tool")).lock?.version).toBe("2");
    expect((await it.installer.update("tool", { version: "1" })).lock?.version).toBe("1");
  });

  test("with one checksum file per program is checked too; one without any is taken as it came", async () => {
    host.releases["ana/berth-tool"] = {
      v1: release("1", { "berth-tool_linux_amd64.sha256": sha256("else") }),
      v2: release("2"),
    };
    expect(await failureText(it.installer.install({ source: "ana/berth-tool", version: "1" }))).toContain(
      "not installed",
    );
    const preview = await it.installer.preview({ source: "ana/berth-tool", version: "2" });
    expect(preview.warnings.at(-1)).toContain("the release is not signed");
    const { warnings } = await it.installer.install({ source: "ana/berth-tool", version: "2" });
    expect(warnings).toEqual(["berth-tool_linux_amd64 is taken as it came: the release has no checksum file"]);
  });

  test("whose checksum file says nothing of the program, or two things, does not pass as checked", async () => {
    const [program, other] = ["berth-tool_linux_amd64", sha256("else")];
    host.releases["ana/berth-tool"] = {
      v1: release("1", { "checksums.txt": `${other}  another-file` }),
      v2: release("2", { "checksums.txt": "<html>", [`${program}.sha256`]: other }),
      v3: release("3", { "checksums.txt": `${other}  ${program}\n${sha256("third")}  ${program}` }),
    };
    const { warnings } = await it.installer.install({ source: "ana/berth-tool", version: "1" });
    expect(warnings).toEqual([`${program} is taken as it came: the checksum file does not name it`]);
    for (const version of ["2", "3"]) {
      expect(await failureText(it.installer.install({ source: "ana/berth-tool", version }))).toContain("not installed");
    }
  });

  test("of scripts alone needs no program; the program of shims goes to bin/", async () => {
    host.releases["ana/hello"] = { v1: { files: helloPlugin("1") } };
    await it.installer.install({ source: "ana/hello" });
    expect(await it.say("hello", "hello")).toBe("hello 1");
    const shims = {
      "plugin.yml": "name: shim\ncommands: [run]",
      "bin/run": '#!/bin/sh\nexec "$PWD/bin/berth-shim" x\n',
    };
    host.releases["ana/berth-shim"] = {
      v1: { files: shims, assets: { "berth-shim-linux-x86_64": "#!/bin/sh\necho real" } },
    };
    await it.installer.install({ source: "ana/berth-shim" });
    expect(await it.say("shim", "run")).toBe("real");
  });

  test.each([
    ["no such repository", "ana/none", undefined, "has no release"],
    ["no such version", "ana/berth-tool", "9", 'has no version "9"'],
    ["another version inside", "ana/berth-tool", "3", "what is tagged 3 calls itself 1"],
    ["no program for this machine", "ana/berth-tool", "4", "has no program to run"],
    ["a version that is a flag", "ana/berth-tool", "--upload-pack=x", "is not a version"],
  ])("%s is told", async (_, source, version, text) => {
    host.releases["ana/berth-tool"] = { v1: release("1"), v3: release("1"), v4: { files: compiled("4") } };
    const wish = version === undefined ? { source } : { source, version };
    expect(await failureText(it.installer.install(wish))).toContain(text);
  });

  test.each([
    ["a broken archive", () => new Response("no archive"), "invalid: broken archive"],
    ["a broken host", () => new Response("", { status: 500 }), "answered with status 500"],
  ])("%s is told", async (_, answer, text) => {
    host.releases["ana/hello"] = { v1: { files: helloPlugin("1") } };
    host.override.set("/ana/hello/archive/refs/tags/v1.tar.gz", answer);
    expect(await failureText(it.installer.install({ source: "ana/hello" }))).toContain(text);
  });

  test("a host that is away is told with its address", async () => {
    await host.stop();
    expect(await failureText(it.installer.install({ source: "ana/hello" }))).toContain(
      `cannot reach ${host.url}/ana/hello`,
    );
  });

  test("a program that would take the place of plugin.yml is refused", async () => {
    const yml = (actions: string) => `name: sly\nentrypoint: plugin.yml\npermissions: {actions: [${actions}]}\n`;
    const assets = { "plugin.yml_linux_amd64": yml("exec_local") };
    host.releases["ana/sly"] = { v1: { files: { "plugin.yml": yml("run_job") }, assets } };
    for (const bring of [it.installer.install, it.installer.preview]) {
      expect(await failureText(bring({ source: "ana/sly" }))).toBe(
        'conflict: the package "sly" changed while it was copied; try again',
      );
    }
  });

  test("one that is interrupted in the middle of its archive says so", async () => {
    host.releases["ana/hello"] = { v1: { files: helloPlugin("1") } };
    const begun = Promise.withResolvers<void>();
    const body = () =>
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(tarball(helloPlugin("1"), "hello").slice(0, 100)),
      });
    host.override.set("/ana/hello/archive/refs/tags/v1.tar.gz", () => new Response(body()));
    const interrupt = new AbortController();
    const how = { signal: interrupt.signal, progress: () => begun.resolve() };
    const installing = failureText(it.installer.preview({ source: "ana/hello" }, how));
    await begun.promise;
    interrupt.abort();
    expect(await installing).toBe("timeout: ana/hello was not there in time, or the install was interrupted");
  });

  test("an install that is interrupted ends at once", async () => {
    const asked = Promise.withResolvers<void>();
    host.releases["ana/hello"] = { v1: { files: helloPlugin("1") } };
    host.override.set("/ana/hello/archive/refs/tags/v1.tar.gz", () => {
      asked.resolve();
      return new Promise<Response>(() => undefined);
    });
    const interrupt = new AbortController();
    const installing = failureText(it.installer.install({ source: "ana/hello" }, { signal: interrupt.signal }));
    await asked.promise;
    interrupt.abort();
    expect(await installing).toContain("interrupted");
  });
});

describe("a git repository", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "berth-git-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test("is cloned at a tag, with and without v, or at its default branch; the commit is kept", async () => {
    const source = gitRepository(join(folder, "hello.git"), { "v1.0": helloPlugin("1.0"), "2.0": helloPlugin("2.0") });
    for (const [version, said] of [
      ["1.0", "1.0"],
      ["v1.0", "1.0"],
      ["2.0", "2.0"],
      [undefined, "2.0"],
    ] as const) {
      const plugin = await it.installer.install(version === undefined ? { source } : { source, version });
      expect(await it.say("hello", "hello")).toBe(`hello ${said}`);
      expect(plugin.lock?.commit).toMatch(/^[0-9a-f]{40}$/);
      expect(Object.keys(plugin.lock?.files ?? {})).toEqual(["bin/hello", "plugin.yml"]);
    }
  });

  test("that is not there, or not at that version, is told as git says it", async () => {
    expect(await failureText(it.installer.install({ source: `file://${folder}/none` }))).toContain(
      `cannot clone "file://${folder}/none"`,
    );
    const source = gitRepository(join(folder, "hello.git"), { v1: helloPlugin("1") });
    expect(await failureText(it.installer.install({ source, version: "7" }))).toContain(
      'at version "7": Remote branch 7 not found',
    );
  });

  test("over https comes from the address that was checked, and from no other", async () => {
    const git = startGitServer();
    git.commit("main", "first", helloPlugin("1"));
    const env = { GIT_SSL_CAINFO: git.ca };
    const yard = (address: string) =>
      pluginYard({ env, guard: { resolve: async () => [address], allowPrivate: true } });
    const [here, elsewhere] = [await yard("127.0.0.1"), await yard("127.0.0.2")];
    try {
      expect((await here.installer.install({ source: git.url })).lock?.commit).toMatch(/^[0-9a-f]{40}$/);
      // The name leads to the server all the same: git does not look it up again.
      expect(await failureText(elsewhere.installer.install({ source: git.url }))).toContain("cannot clone");
      // The yard of the other tests is as a server without --allow-private-hooks.
      git.asked.length = 0;
      expect(await failureText(it.installer.install({ source: git.url }))).toMatch(/^forbidden: .* no public address/);
      expect(git.asked).toEqual([]);
    } finally {
      await Promise.all([here.close(), elsewhere.close(), git.stop()]);
    }
  });

  test("is not fetched by a redirect, nor without encryption, nor from inside", async () => {
    host.override.set("/ana/hello/info/refs", () => Response.redirect("https://github.com/ana/hello/info/refs", 301));
    const open = await pluginYard({ guard: { resolve: async () => ["127.0.0.1"], allowPrivate: true } });
    expect(await failureText(open.installer.install({ source: `${host.url}/ana/hello` }))).toMatch(
      /leads to another one/,
    );
    await open.close();
    host.asked.length = 0;
    const refusals = [
      [`${host.url}/ana/hello`, /^forbidden: "http:" is not encrypted: use https or ssh/],
      ["git://127.0.0.1/x.git", /^forbidden: "git:" is not encrypted/],
      ["https://169.254.169.254/x.git", /^forbidden: .* no public address/],
      ["https://[::1]/x.git", /^forbidden: .* no public address/],
    ] as const;
    for (const [source, text] of refusals) expect(await failureText(it.installer.install({ source }))).toMatch(text);
    expect(host.asked).toEqual([]);
  });

  test("cannot run programs by its address", async () => {
    const source = `ext::sh -c touch% ${folder}/run`;
    expect(await failureText(it.installer.install({ source }))).toContain("is not a source of a plugin");
  });
});
