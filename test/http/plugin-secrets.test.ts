import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFolders } from "../../src/base/disk/root.ts";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { Failure } from "../../src/base/wire/failure.ts";
import { serveOptions } from "../../src/config/config.ts";
import { createPluginRoom } from "../../src/daemon/plugins.ts";
import { noPlugins } from "../../src/orchestration/controller/state/plugin-room.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { fixtureImage } from "../support/manifests.ts";
import { type Ask, plane } from "../support/plane.ts";
import { writeTree } from "../support/plugin-yard.ts";
import { printing } from "../support/plugins.ts";
import { silentLog } from "../support/silent-log.ts";
import { waitFor } from "../support/wait.ts";
import { world, type World } from "../support/world.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

/** What the server was started with: everything with "hush" in it is for no plugin. */
const secrets: Record<string, string> = {
  BERTH_SMTP_URL: "smtp://mailer:hush-mail@mail.test:587",
  BERTH_TOKEN: "hush-token",
  BERTH_PLUGIN_RELEASES: "https://user:hush-mirror@mirror.test",
  DATABASE_URL: "postgres://app:hush-database@db.test/app",
  AWS_SECRET_ACCESS_KEY: "hush-aws",
  GITHUB_TOKEN: "hush-github",
  SSH_AUTH_SOCK: "/run/hush-agent",
  https_proxy: "http://proxy:hush-p@ss/word@127.0.0.1:9",
  ALL_PROXY: "proxy:hush-all@127.0.0.1:9",
  LISTED_FOR_NOBODY: "hush-unlisted",
};
const listed = { LISTED_KEY: "given-listed", LC_TEST: "given-locale" };

const root = mkdtempSync(join(tmpdir(), "secrets-"));
const seen = join(root, "seen");
const before = { ...process.env };
let it: World;
let ask: Ask;

/** A line of a script that writes down the environment of the process that runs it. */
const dump = (kind: string) => `env >"${seen}/${kind}"`;

beforeAll(async () => {
  mkdirSync(seen);
  const bin = join(root, "bin");
  writeTree(bin, { git: `#!/bin/sh\n${dump("git")}\nPATH="${before.PATH}" exec git "$@"\n` });
  Object.assign(process.env, secrets, listed, { PATH: `${bin}:${before.PATH}` });
  const layout = layoutOf(join(root, "server"));
  await makeFolders(layout);
  const room = await createPluginRoom({
    layout,
    names: naming(),
    installationId: "secrets-test",
    options: serveOptions({ root: layout.root }, {}),
    log: silentLog,
    controllerUrl: () => undefined,
    configOf: (plugin) => it.store.pluginConfig.of(plugin),
    callbacks: noPlugins().callbacks,
    onChange: () => undefined,
  });
  it = await world({ plugins: () => room });
  ask = plane(it);
});
afterAll(async () => {
  for (const name of [...Object.keys(secrets), ...Object.keys(listed)]) delete process.env[name];
  Object.assign(process.env, before);
  await it.close();
  rmSync(root, { recursive: true, force: true });
});

/** A package whose every program writes down what it was given. */
function packageOf(more = ""): string {
  const spec = { image: fixtureImage, replicas: 1 };
  const expansion = printing({ status: "ok", data: [{ kind: "statefulset", name: "main", spec }] });
  const script = (kind: string, rest = "") => `#!/bin/sh\n${dump(kind)}\n${rest}\n`;
  return writeTree(join(root, "source"), {
    "plugin.yml": `name: leak
version: 1.0.0
attend: {command: attend, unready: 1s}
permissions: {actions: [], scopes: ["*"], docker: false, root: true}
commands: [{name: expand}, {name: attend}, {name: look}]
${more}`,
    install: script("install"),
    uninstall: script("uninstall"),
    "bin/expand": script("expand", expansion),
    "bin/attend": script("attend", `cat >/dev/null; echo '{"status":"ok","data":{}}'`),
    "bin/look": script("command-$1", "echo fine"),
    "tests/look.json": JSON.stringify({ command: "look", args: ["tested"], expect: { exit: 0 } }),
  });
}

const environments = () =>
  Object.fromEntries(readdirSync(seen).map((kind) => [kind, readFileSync(join(seen, kind), "utf8")]));

async function runGit(folder: string) {
  const git = ["git", "-c", "user.name=t", "-c", "user.email=t@test"];
  for (const words of [
    ["init", "-q"],
    ["add", "-A"],
    ["commit", "-q", "-m", "one"],
  ]) {
    const { exitCode } = Bun.spawnSync([...git, ...words], {
      cwd: folder,
      env: { PATH: before.PATH ?? "", HOME: root },
    });
    expect(exitCode).toBe(0);
  }
}

/** One process of each kind that a plugin runs. */
async function runEverything(source: string): Promise<void> {
  const installed = await ask("POST /plugins/install", { source });
  expect({ status: installed.status, error: installed.error }).toEqual({ status: 200, error: "" });
  expect((await ask("POST /plugins/leak/config", { vars: { OWN_KEY: "given-own" } })).status).toBe(200);
  const applied = await ask("POST /apply", { kind: "leak", scope: "data", name: "main", spec: {} });
  expect({ status: applied.status, error: applied.error }).toEqual({ status: 200, error: "" });
  await it.settle();
  expect((await ask("POST /plugin/leak/look", { args: ["plain"] })).status).toBe(200);
  // As a container of the block asks.
  const own = { restart: false, actor: "pod", only: [{ scope: "data", name: "main" }] };
  await it.controller.dispatchPlugin({ plugin: "leak", command: "look", body: { args: ["callback"] } }, own);
  it.runtime.fail("create", new Failure("unavailable", "no room"));
  await it.runtime.remove(podRef("data-main.0"));
  await waitFor("the plugin to be asked", async () => {
    await it.advance(1_000);
    return existsSync(join(seen, "attend"));
  });
  it.runtime.fail("create", undefined);
  await it.settle();
  const main = join(import.meta.dir, "../../src/main.ts");
  const tested = Bun.spawnSync([process.execPath, main, "plugins", "test", source.replace(/^file:\/\//, "")], {
    env: { ...process.env },
  });
  expect([tested.exitCode, tested.stderr.toString()]).toEqual([0, ""]);
  expect((await ask("DELETE /plugins/leak")).status).toBe(200);
}

test("no process that a plugin runs has a secret of the server, and each has what it was granted", async () => {
  const folder = packageOf("server_env: [LISTED_KEY]\n");
  await runGit(folder);
  await runEverything(`file://${folder}`);
  const found = environments();
  const own = ["attend", "command-callback", "command-plain", "expand", "install", "uninstall"];
  expect(Object.keys(found).sort()).toEqual([...own, "command-tested", "git"].sort());
  for (const [kind, text] of Object.entries(found)) {
    expect([kind, text.match(/.*hush.*/g)]).toEqual([kind, null]);
    expect([kind, /^PATH=./m.test(text), text.includes("LC_TEST=given-locale")]).toEqual([kind, true, true]);
    expect([kind, text.match(/^https_proxy=.*$/m)?.[0]]).toEqual([kind, "https_proxy=http://127.0.0.1:9"]);
    expect([kind, text.match(/^ALL_PROXY=.*$/m)?.[0]]).toEqual([kind, "ALL_PROXY=127.0.0.1:9"]);
    expect([kind, text.includes("LISTED_KEY=given-listed")]).toEqual([kind, own.includes(kind)]);
    const isConfigured = own.includes(kind) && kind !== "install";
    expect([kind, text.includes("OWN_KEY=given-own")]).toEqual([kind, isConfigured]);
  }
}, 60_000);

test("a proxy with its password is for plugins that list the variable, and no record shows it", async () => {
  const source = packageOf("server_env: [https_proxy]\n");
  writeFileSync(join(source, "bin/look"), `#!/bin/sh\n${dump("proxy")}\necho "by $https_proxy" >&2; exit 1\n`);
  chmodSync(join(source, "bin/look"), 0o755);
  const seenFirst = await ask("POST /plugins/install", { source, preview: true });
  expect(seenFirst.data).toMatchObject({ server_env: ["https_proxy"], grant: { server_env: ["https_proxy"] } });
  await ask("POST /plugins/install", { source });
  const failed = await ask("POST /plugin/leak/look");
  expect(failed.error).toContain("by ********");
  expect(readFileSync(join(seen, "proxy"), "utf8")).toContain(`https_proxy=${secrets.https_proxy}`);
  expect(JSON.stringify((await ask("GET /plugins/runs")).data)).not.toContain("hush");
});

test("a variable that an update asks for needs its grant, and names of the server are refused with their path", async () => {
  const source = packageOf();
  await ask("POST /plugins/install", { source });
  writeTree(source, {
    "plugin.yml": "name: leak\nserver_env: [LISTED_KEY]\ncommands: [look]\npermissions: {actions: [], docker: false}\n",
  });
  const refused = await ask("POST /plugins/leak/update");
  expect([refused.status, refused.error]).toEqual([
    403,
    expect.stringContaining("LISTED_KEY of the server's environment"),
  ]);
  const { data } = await ask("POST /plugins/leak/update", { preview: true });
  expect(data.more).toEqual(["LISTED_KEY of the server's environment"]);
  const { digest, grant } = data;
  const updated = await ask("POST /plugins/leak/update", { expect: digest, grant });
  expect(updated.data).toMatchObject({ permissions: { server_env: ["LISTED_KEY"] } });
  for (const name of ["BERTH_SMTP_URL", "LD_PRELOAD", "PATH", "a b", "LISTED_KEY"]) {
    writeTree(source, { "plugin.yml": `name: leak\nserver_env: [LISTED_KEY, "${name}"]\ncommands: [look]\n` });
    const { status, error } = await ask("POST /plugins/install", { source });
    expect([status, error]).toEqual([400, expect.stringContaining(`server_env[1]: "${name}" `)]);
  }
});
