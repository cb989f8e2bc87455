import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Ask, fetchPlane, plane, type PlaneAnswer } from "../support/plane.ts";
import { helloPlugin, type PluginYard, pluginYard, writeTree } from "../support/plugin-yard.ts";
import { testPlugins } from "../support/plugins.ts";
import { gitRepository, type ReleaseServer, releaseServer, sha256 } from "../support/release-server.ts";
import { waitFor } from "../support/wait.ts";
import { world, type World } from "../support/world.ts";

let it: World;
let ask: Ask;
let yard: PluginYard;
let host: ReleaseServer;

beforeEach(async () => {
  host = releaseServer();
  yard = await pluginYard({ guard: { resolve: async () => ["127.0.0.1"], allowPrivate: true }, releasesUrl: host.url });
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
const asks = (actions: string, more = "") => ({
  yml: `permissions: {actions: [${actions}], scopes: [data]${more}}`,
});

/** A hook that leaves a trace outside of the package, and says something. */
const hook = () => `#!/bin/sh\necho making ready\necho ran >> ${yard.root}/hook-ran\n`;
const hookRan = () => existsSync(join(yard.root, "hook-ran"));

/** A release with a program for the machine of the tests; unchecked without sums. */
function release(version: string, { isChecked = true, extra = {} as Record<string, string> } = {}) {
  const program = `#!/bin/sh\necho tool ${version}\n`;
  const name = "tool_linux_amd64";
  return {
    files: {
      "plugin.yml": `name: tool\nversion: ${version}\nentrypoint: bin/tool\ncommands: [{name: go}]\npermissions: {actions: [run_job], scopes: [data], docker: true}\n`,
      ...extra,
    },
    assets: { [name]: program, ...(isChecked ? { "checksums.txt": `${sha256(program)}  ${name}\n` } : {}) },
  };
}

/** Everything below the folder of the plugins, with what each entry is. */
function everything(): string[] {
  const entries = readdirSync(yard.plugins, { recursive: true, encoding: "utf8" }).sort();
  return entries.map((path) => {
    const { mode, mtimeMs, size } = lstatSync(join(yard.plugins, path));
    return `${path} ${mode} ${path === ".staging" ? "" : `${mtimeMs} ${size}`}`;
  });
}

/** Processes that were started for plugins of this yard. */
function processes(): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return ["cmdline", "environ"].some((file) => readFileSync(`/proc/${pid}/${file}`, "utf8").includes(yard.root));
    } catch {
      return false;
    }
  });
}

const messages = ({ status, error }: PlaneAnswer) => [status, error];
const preview = (body: Record<string, unknown>) => ask("POST /plugins/install", { ...body, preview: true });

describe("a preview of an install", () => {
  test("tells what a release is and asks for, with its program and its hook, and changes nothing", async () => {
    host.releases["ana/tool"] = { v1: release("1", { isChecked: false, extra: { install: hook() } }) };
    const before = everything();
    const { status, data } = await preview({ source: "ana/tool", version: "1" });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      preview: true,
      name: "tool",
      version: "1",
      source: "ana/tool",
      requested: "1",
      commit: "a".repeat(40),
      grant: { actions: ["run_job"], scopes: ["data"], docker: true },
      full_grant: false,
      hooks: ["install"],
      warnings: [
        "tool_linux_amd64 is taken as it came: the release has no checksum file",
        expect.stringContaining("the release is not signed"),
      ],
    });
    expect(data.digest).toMatch(/^[0-9a-f]{64}$/);
    expect([data.more, data.replaces, data.installed_at]).toEqual([undefined, undefined, undefined]);
    expect([everything(), processes(), hookRan()]).toEqual([before, [], false]);
    expect((await ask("GET /plugins")).data).toEqual({ plugins: [], errors: [] });
    expect(it.events().filter(({ action }) => action.startsWith("plugin."))).toEqual([]);
    const installed = await ask("POST /plugins/install", { source: "ana/tool", expect: data.digest });
    // That nothing is signed was told before the answer.
    const warnings = (data.warnings as string[]).slice(0, -1);
    expect(installed.data).toMatchObject({ name: "tool", origin: "installed", warnings });
    expect(hookRan()).toBe(true);
  });

  test("tells what is there of its name, and what is new of what it asks for", async () => {
    await ask("POST /plugins/install", { source: packageOf(helloPlugin("1", asks("config_set"))) });
    const before = everything();
    const source = packageOf(helloPlugin("2", asks("config_set, run_job", ", docker: true")));
    expect((await preview({ source })).data).toMatchObject({
      version: "2",
      replaces: { version: "1", origin: "installed" },
      more: ["run_job", "docker"],
      hooks: [],
      warnings: [],
    });
    const all = packageOf(helloPlugin("3"));
    expect((await preview({ source: all })).data).toMatchObject({ full_grant: true, grant: { scopes: ["*"] } });
    expect(everything()).toEqual(before);
  });

  test("of a git repository tells the commit", async () => {
    const source = gitRepository(join(yard.root, "repository"), { v1: helloPlugin("1"), v2: helloPlugin("2") });
    const { data } = await preview({ source, version: "1" });
    expect(data.version).toBe("1");
    expect(data.commit).toMatch(/^[0-9a-f]{40}$/);
    expect([everything().filter((line) => line.startsWith(".staging/")), processes()]).toEqual([[], []]);
    const installed = await ask("POST /plugins/install", { source, version: "1", expect: data.digest });
    expect(installed.data).toMatchObject({ version: "1", commit: data.commit });
  });

  test("of a linked folder has a digest of what it asks for", async () => {
    const source = packageOf(helloPlugin("1", asks("run_job")));
    const { data } = await preview({ source, link: true });
    expect(data).toMatchObject({ hooks: [], warnings: [expect.stringContaining("its files are not locked")] });
    packageOf(helloPlugin("1", asks("run_job, exec_local")));
    expect((await ask("POST /plugins/install", { source, link: true, expect: data.digest })).status).toBe(409);
    expect((await ask("GET /plugins")).data.plugins).toEqual([]);
    packageOf(helloPlugin("1", asks("run_job")));
    const linked = await ask("POST /plugins/install", { source, link: true, expect: data.digest });
    expect(linked.data).toMatchObject({ origin: "linked" });
  });

  test.each([
    ["no source", () => ({})],
    ["a source that is none", () => ({ source: "one two" })],
    ["no folder", () => ({ source: "/no/such" })],
    ["no repository", () => ({ source: "ana/none" })],
    ["no version", () => ({ source: "ana/tool", version: "9" })],
    ["another version inside", () => ({ source: "ana/tool", version: "2" })],
    ["a sum that does not match", () => ({ source: "ana/tool", version: "3" })],
    ["a name that is taken", () => ({ source: packageOf({ "plugin.yml": "name: x\naliases: [hi]", "bin/x": "" }) })],
    ["a missing program", () => ({ source: packageOf({ "plugin.yml": "name: x\nrequires: {programs: [nope]}" }) })],
    ["nothing to run", () => ({ source: packageOf({ "plugin.yml": "name: x\ncommands: [go]" }) })],
    ["a folder to link that is none", () => ({ source: "ana/tool", link: true })],
  ])("of %s fails as the install does, and leaves nothing", async (_, make) => {
    const wrong = {
      ...release("3"),
      assets: { ...release("3").assets, "checksums.txt": `${"0".repeat(64)}  tool_linux_amd64` },
    };
    host.releases["ana/tool"] = { v1: release("1"), v2: release("1"), v3: wrong };
    await ask("POST /plugins/install", { source: writeTree(join(yard.root, "hello"), helloPlugin("1")) });
    const before = everything();
    const body = make();
    const shown = await preview(body);
    expect(shown.status).toBe(400);
    expect(everything()).toEqual(before);
    expect(messages(await ask("POST /plugins/install", body))).toEqual(messages(shown));
    expect(everything().length).toBe(before.length);
  });

  test.each([
    [{ preview: "yes" }, "preview: expected boolean"],
    [{ preview: 1 }, "preview: expected boolean"],
    [{ expect: "abc" }, "expect: expected the digest of a preview, 64 hex digits"],
    [{ expect: 7 }, "expect: expected the digest"],
    [{ expect: "A".repeat(64) }, "expect: expected the digest"],
    [{ preview: true, expect: "a".repeat(64) }, "expect: a preview changes nothing; leave it out"],
  ])("with %p is a 400 that says why", async (more, text) => {
    const source = packageOf(helloPlugin("1"));
    const answer = await ask("POST /plugins/install", { source, ...more });
    expect(messages(answer)).toEqual([400, expect.stringContaining(text)]);
    expect((await ask("GET /plugins")).data.plugins).toEqual([]);
  });
});

describe("what is expected", () => {
  test("and is not what comes is a 409: nothing runs, and the old version works on", async () => {
    host.releases["ana/tool"] = { v1: release("1") };
    await ask("POST /plugins/install", { source: "ana/tool" });
    host.releases["ana/tool"] = { v2: release("2", { extra: { install: hook() } }) };
    const { data } = await preview({ source: "ana/tool" });
    // The same version, the same permissions, another program.
    const swapped = release("2", { isChecked: false, extra: { install: hook() } });
    host.releases["ana/tool"] = { v2: { ...swapped, assets: { tool_linux_amd64: "#!/bin/sh\necho evil\n" } } };
    const before = everything();
    const answer = await ask("POST /plugins/install", { source: "ana/tool", expect: data.digest });
    expect(messages(answer)).toEqual([
      409,
      'what "ana/tool" holds now is not what was shown; nothing was changed, look at it again',
    ]);
    expect([everything().length, hookRan()]).toEqual([before.length, false]);
    expect(await yard.say("tool", "go")).toBe("tool 1");
    const update = await ask("POST /plugins/tool/update", { expect: data.digest });
    expect([update.status, hookRan()]).toEqual([409, false]);
    host.releases["ana/tool"] = { v2: release("2", { extra: { install: hook() } }) };
    expect((await ask("POST /plugins/tool/update", { expect: data.digest })).data).toMatchObject({ version: "2" });
    expect(await yard.say("tool", "go")).toBe("tool 2");
  });

  test("comes before any other fault of what was swapped in", async () => {
    const { data } = await preview({ source: packageOf(helloPlugin("1")) });
    const source = packageOf({
      ...helloPlugin("1"),
      "plugin.yml": "name: hello\nrequires: {programs: [no-such-thing]}",
    });
    expect((await ask("POST /plugins/install", { source, expect: data.digest })).status).toBe(409);
    expect(readdirSync(join(yard.plugins, ".versions"))).toEqual([]);
  });
});

describe("an update that wants more", () => {
  const wanted = { actions: ["config_set", "run_job"], scopes: ["data"], docker: false };
  beforeEach(async () => {
    await ask("POST /plugins/install", { source: packageOf(helloPlugin("1", asks("config_set"))) });
    packageOf(helloPlugin("2", asks("config_set, run_job")));
  });

  test("is refused with the way out, shown by a preview, and comes in with the grant", async () => {
    expect(messages(await ask("POST /plugins/hi/update"))).toEqual([
      403,
      '2 wants more than "hello" was granted: run_job; to grant that: berth plugins update hello --yes, or install it again',
    ]);
    const before = everything();
    const { data } = await ask("POST /plugins/hi/update", { preview: true });
    expect(data).toMatchObject({ preview: true, name: "hello", version: "2", more: ["run_job"], grant: wanted });
    expect(everything()).toEqual(before);
    const part = { ...wanted, actions: ["exec_local"] };
    expect((await ask("POST /plugins/hi/update", { grant: part })).status).toBe(403);
    expect(await yard.say("hello", "hello")).toBe("hello 1");
    const updated = await ask("POST /plugins/hi/update", { grant: data.grant, expect: data.digest });
    expect(updated.data).toMatchObject({ version: "2", permissions: wanted, warnings: [], previous: "1" });
  });

  test("of everything is granted by what its preview tells", async () => {
    packageOf(helloPlugin("3"));
    const { data } = await ask("POST /plugins/hi/update", { preview: true });
    expect([data.full_grant, (data.more as string[]).includes("scope *")]).toEqual([true, true]);
    const { data: updated } = await ask("POST /plugins/hi/update", { grant: data.grant });
    expect([updated.version, updated.full_grant, updated.permissions]).toEqual(["3", true, data.grant]);
  });

  test("needs only the difference granted: what it had it keeps", async () => {
    const grant = { actions: ["run_job"], scopes: [], docker: false };
    expect((await ask("POST /plugins/hi/update", { grant })).data).toMatchObject({ version: "2", permissions: wanted });
  });

  test("gets no more than it asks for, whatever is granted", async () => {
    const all = { actions: [...wanted.actions, "exec_local", "fetch_file"], scopes: ["*"], docker: true };
    expect((await ask("POST /plugins/hi/update", { grant: all })).data).toMatchObject({ permissions: wanted });
  });

  test.each([
    [[], 'expected an object such as {"preview": true}, or no body'],
    ["text", "expected an object"],
    [{ preview: "true" }, "preview: expected boolean"],
    [{ preview: true, grant: wanted }, "grant: a preview changes nothing"],
    [{ grant: true }, "grant: expected an object with actions, scopes and docker"],
    [{ grant: { ...wanted, actions: "all" } }, "grant.actions: expected a list of texts"],
    [{ grant: { ...wanted, actions: ["run_jobs"] } }, 'grant.actions: unknown action "run_jobs"; known are config_set'],
    [{ grant: { ...wanted, scopes: [1] } }, "grant.scopes: expected a list"],
    [{ grant: { ...wanted, scopes: Array(201).fill("a") } }, "grant.scopes: expected a list of at most 200 texts"],
    [{ grant: { ...wanted, docker: "no" } }, "grant.docker: expected boolean"],
    [{ grant: { ...wanted, server_env: "A" } }, "grant.server_env: expected a list of at most 200 texts"],
  ])("with %p is a 400 that says why", async (body, text) => {
    const sent = typeof body === "string" ? JSON.stringify(body) : body;
    expect(messages(await ask("POST /plugins/hi/update", sent))).toEqual([400, expect.stringContaining(text)]);
    expect(await yard.say("hello", "hello")).toBe("hello 1");
  });

  test("of an unknown plugin is a 404, with a preview too", async () => {
    expect((await ask("POST /plugins/none/update", { preview: true })).status).toBe(404);
  });
});

describe("progress", () => {
  const headers = { accept: "application/x-ndjson" };
  const post = (path: string, body: unknown) => fetchPlane(it, `POST ${path}`, { headers, body: JSON.stringify(body) });
  const linesOf = async (answer: Response) =>
    (await answer.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  test("of an install is told line by line, then its result", async () => {
    host.releases["ana/tool"] = { v1: release("1", { extra: { install: hook() } }) };
    const answer = await post("/plugins/install", { source: "ana/tool" });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
    const lines = await linesOf(answer);
    expect(lines.slice(0, -1)).toEqual(
      [
        "ana/tool v1",
        `tool_linux_amd64: sha256 ${sha256("#!/bin/sh\necho tool 1\n")}`,
        "running the install hook of tool",
        "making ready",
      ].map((text) => ({ type: "progress", text })),
    );
    expect(lines.at(-1)).toMatchObject({
      type: "result",
      code: 200,
      status: "ok",
      data: { name: "tool", origin: "installed", warnings: [] },
    });
  });

  test("of a preview and of an update is told as well", async () => {
    host.releases["ana/tool"] = { v1: release("1") };
    const shown = await linesOf(await post("/plugins/install", { source: "ana/tool", preview: true }));
    expect(shown[0]).toEqual({ type: "progress", text: "ana/tool v1" });
    expect(shown.at(-1)).toMatchObject({ code: 200, data: { preview: true } });
    await ask("POST /plugins/install", { source: "ana/tool" });
    host.releases["ana/tool"].v2 = release("2");
    const updated = await linesOf(await post("/plugins/tool/update", {}));
    expect(updated.at(-1)).toMatchObject({ type: "result", code: 200, data: { version: "2" } });
  });

  test("ends with the status and the text of what failed; a fault before the first line is a plain answer", async () => {
    const plain = await post("/plugins/install", { source: "ana/none" });
    expect([plain.status, plain.headers.get("content-type")]).toEqual([400, "application/json"]);
    const source = packageOf(helloPlugin("1", { files: { install: "#!/bin/sh\necho no\nexit 3\n" } }));
    const lines = await linesOf(await post("/plugins/install", { source }));
    expect(lines.at(-1)).toEqual({
      type: "result",
      code: 400,
      status: "error",
      error: 'the install hook of "hello" failed with exit code 3:\nno',
    });
    expect(readdirSync(join(yard.plugins, ".versions"))).toEqual([]);
  });

  test("that nobody reads any more ends the hook and all that it started", async () => {
    const install = "#!/bin/sh\nsleep 600 &\necho begun\nsleep 600\n";
    await ask("POST /plugins/install", { source: packageOf(helloPlugin("1")) });
    const before = everything();
    const answer = await post("/plugins/install", { source: packageOf(helloPlugin("2", { files: { install } })) });
    const reader = answer.body?.getReader();
    const decoder = new TextDecoder();
    let said = "";
    while (!said.includes("begun")) said += decoder.decode((await reader?.read())?.value);
    await waitFor("the shell and both that sleep", () => processes().length === 3);
    await reader?.cancel();
    await waitFor("the install to be taken back", () => everything().length === before.length);
    await waitFor("its processes to end", () => processes().length === 0);
    expect(await yard.say("hello", "hello")).toBe("hello 1");
  });

  test.each([
    ["with progress", headers],
    ["without", {}],
  ])("%s of a preview that nobody waits for any more ends git", async (_, wanted) => {
    const asked = Promise.withResolvers<void>();
    host.override.set("/slow.git/info/refs", () => {
      asked.resolve();
      return new Promise<Response>(() => undefined);
    });
    const leaving = new AbortController();
    const body = JSON.stringify({ source: `${host.url}/slow.git`, preview: true });
    const answer = fetchPlane(it, "POST /plugins/install", { headers: wanted, body, signal: leaving.signal });
    await asked.promise;
    expect(processes().length).toBeGreaterThan(0);
    leaving.abort();
    await answer;
    await waitFor("git to end", () => processes().length === 0);
    await waitFor("its folder to go", () => everything().every((line) => !line.startsWith(".staging/")));
  });
});
