import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApiError, createClient } from "../../src/base/wire/client.ts";
import { dispatchPlugin } from "../../src/orchestration/api/dispatch.ts";
import { system } from "../../src/orchestration/api/health.ts";
import { acceptPlugin, installPlugin, pluginChanges, removePlugin } from "../../src/orchestration/api/plugins.ts";
import { limits, serveOptions } from "../../src/config/config.ts";
import { type Daemon, startDaemon } from "../../src/daemon/start.ts";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { createLog } from "../../src/base/words/log.ts";
import { createCgroups } from "../../src/orchestration/plugins/cgroups.ts";
import { createHost } from "../../src/orchestration/plugins/host.ts";
import { writeTree } from "../support/plugin-yard.ts";
import { isAlive, waitFor } from "../support/wait.ts";

/** A server without an engine, and plugins that try to get out of what they are held in. */
const above = mkdtempSync(join(tmpdir(), "held-"));
// Made by the server: it lets plugins through.
const root = join(above, "root");
const packages = mkdtempSync(join(tmpdir(), "packages-"));
const layout = layoutOf(root);
let daemon: Daemon;
let client: ReturnType<typeof createClient>;

const attempts: Record<string, string> = {
  who: "id -u; id -g; id -G; grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status",
  reach: `for path in "$BERTH_ROOT/key" "$BERTH_ROOT/state.db" "$BERTH_PLUGINS_ROOT/.state/low.json" "$BERTH_PLUGINS_ROOT/other/secret"; do
    cat "$path" >/dev/null 2>&1 && echo "read $path"
  done
  ls "$BERTH_PLUGINS_ROOT/other/" "$BERTH_ROOT/run" "$BERTH_ROOT/backups" 2>/dev/null
  curl -s -o /dev/null --unix-socket "$BERTH_ROOT/run/berth.sock" http://localhost/health && echo socket
  curl -s -o /dev/null -w '%{http_code}\\n' "$BERTH_CONTROLLER_URL/health"`,
  write: 'echo more > kept; cat kept; echo "$HOME"; touch "$HOME/a" "${TMPDIR:-/tmp}/held-$$" && rm "/tmp/held-$$"',
  leave: "env -i setsid sleep 6541 </dev/null >/dev/null 2>&1 & echo $!",
  hide: `env -i setsid sh -c 'trap "" TERM; while :; do env -i setsid sleep 6542 & sleep 0.01; done' </dev/null >/dev/null 2>&1 & echo $!; sleep 0.3`,
  fork: 'i=0; while [ $i -lt 3000 ]; do sleep 6543 & i=$((i+1)); done 2>/dev/null; echo "$i"',
  eat: "exec 2>/dev/null; tail /dev/zero; echo $?; exit 1",
  flood: "exec yes 0123456789012345678901234567890123456789",
  mutter: "exec yes 0123456789012345678901234567890123456789 >&2",
};
const bin = Object.fromEntries(Object.entries(attempts).map(([name, text]) => [`bin/${name}`, `#!/bin/sh\n${text}\n`]));

beforeAll(async () => {
  chmodSync(above, 0o711);
  const flags = {
    root,
    addr: "127.0.0.1:0",
    identityAddr: "",
    observabilityAddr: "",
    dockerHost: "unix:///nowhere.sock",
    ingressHttpAddr: "",
    ingressHttpsAddr: "",
    callbackPort: "off",
  };
  daemon = await startDaemon(
    serveOptions(flags, {}),
    createLog(() => undefined, "error"),
  );
  client = createClient({
    baseUrl: `http://${daemon.addresses.orchestration[0]}`,
    fetch: (to, init) => fetch(to, init),
  });
  const install = "#!/bin/sh\nid -u > installed-as\n";
  const held = "permissions: { actions: [], scopes: [data] }";
  writeTree(join(packages, "low"), { ...bin, install, "plugin.yml": `name: low\nversion: '1'\n${held}\n` });
  writeTree(join(packages, "other"), {
    "bin/who": bin["bin/who"] ?? "",
    secret: "s",
    "plugin.yml": `name: other\n${held}\n`,
  });
  writeTree(join(packages, "old"), { ...bin, install, "plugin.yml": "name: old\nversion: '1'\n" });
  for (const name of ["low", "other", "old"]) {
    const installed = await client.call(installPlugin, { body: { source: join(packages, name) } });
    expect("warnings" in installed ? installed.warnings : []).toEqual([]);
  }
});
afterAll(async () => {
  await daemon.stop();
  rmSync(above, { recursive: true, force: true });
  rmSync(packages, { recursive: true, force: true });
});

async function say(plugin: string, command: string): Promise<string> {
  const { message } = await client.call(dispatchPlugin, { params: { name: plugin, command } });
  return message.trim();
}

const refusal = (plugin: string, command: string) =>
  say(plugin, command).then(
    (text) => `it went well: ${text}`,
    (error: unknown) => (error instanceof ApiError ? `${error.status} ${error.message}` : String(error)),
  );

describe("a plugin that may not be root", () => {
  test("runs what its owner edited and accepted as its own user, whoever may read the file before", async () => {
    const source = writeTree(join(packages, "edited"), {
      "bin/who": "#!/bin/sh\nid -u\n",
      "plugin.yml": "name: edited\npermissions: { actions: [], scopes: [data] }\n",
    });
    await client.call(installPlugin, { body: { source } });
    const before = await say("edited", "who");
    const program = join(layout.plugins, "edited/bin/who");
    // As an editor of root writes: another file, which nobody else may read.
    rmSync(program);
    writeFileSync(program, "#!/bin/sh\necho mine; id -u\n", { mode: 0o600 });
    expect(await refusal("edited", "who")).toContain("berth plugins accept edited");
    const { digest } = await client.call(pluginChanges, { params: { name: "edited" } });
    await client.call(acceptPlugin, { params: { name: "edited" }, body: { expect: digest } });
    expect(await say("edited", "who")).toBe(`mine\n${before}`);
    expect(Number(before)).toBeGreaterThanOrEqual(2_000_000_000);
    await client.call(removePlugin, { params: { name: "edited" } });
  });

  test("has a user, and nothing else: no group, no capability, no way to one", async () => {
    const [uid, gid, groups, ...status] = (await say("low", "who")).split("\n");
    expect(Number(uid)).toBeGreaterThanOrEqual(2_000_000_000);
    expect([gid, groups]).toEqual([uid, uid]);
    expect(status.map((line) => line.split(/\s+/)[1]).toSorted()).toEqual([
      "0000000000000000",
      "0000000000000000",
      "1",
    ]);
    expect(await Bun.file(join(layout.plugins, "low/installed-as")).text()).toBe(`${uid}\n`);
    expect((await say("other", "who")).split("\n")[0]).not.toBe(uid);
  });

  test("reads neither key nor state nor other plugins, and reaches the server by its own address alone", async () => {
    expect(await say("low", "reach")).toBe("200");
  });

  test("keeps what it likes in its folder", async () => {
    expect(await say("low", "write")).toBe(`more\n${realpathSync(join(layout.plugins, "low"))}`);
  });
});

test("an update takes edits over as the plugin's own user: a link to the key file brings nothing", async () => {
  const held = "permissions: { actions: [], scopes: [data] }";
  const files = (version: string) => ({
    "plugin.yml": `name: sly\nversion: '${version}'\n${held}\n`,
    "conf/key": "default",
    "bin/link": '#!/bin/sh\nmv conf away && ln -s "$BERTH_ROOT" conf\n',
    "bin/look": "#!/bin/sh\ncat conf/key\n",
  });
  const body = { source: join(packages, "sly") };
  writeTree(body.source, files("1"));
  await client.call(installPlugin, { body });
  await say("sly", "link");
  writeTree(body.source, files("2"));
  await expect(client.call(installPlugin, { body })).rejects.toThrow("cannot be taken over");
  expect(await refusal("sly", "look")).toContain("Permission denied");
});

test("a plugin that says nothing of its needs runs as it always did, its hook too", async () => {
  const [uid, , , ...status] = (await say("old", "who")).split("\n");
  expect(uid).toBe("0");
  expect(status.join("\n")).toMatch(/NoNewPrivs:\s+0/);
  expect(await Bun.file(join(layout.plugins, "old/installed-as")).text()).toBe("0\n");
});

describe.each(["low", "old"])("whoever it runs as (%s)", (plugin) => {
  test("nothing outlives its run, in another group and without its environment", async () => {
    for (const command of ["leave", "hide"]) {
      const pid = Number(await say(plugin, command));
      await waitFor("it to be gone", () => !isAlive(pid));
    }
    const left = await Bun.$`pgrep -f 'sleep 654[12]'`.nothrow().text();
    expect(left).toBe("");
  });

  test("it has so many processes and no more, and all of them end with it", async () => {
    expect(await refusal(plugin, "fork")).toMatch(/^(400 .*exited|it went well)/);
    expect(await Bun.$`pgrep -f 'sleep 6543'`.nothrow().text()).toBe("");
  }, 60_000);
});

test("a run has so much memory and no more", async () => {
  expect(await refusal("low", "eat")).toContain("used more memory than a run may");
}, 120_000);

test("a control group of version 2 holds a run as well", async () => {
  const mount = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].find((path) =>
    existsSync(join(path, "cgroup.controllers")),
  );
  if (mount === undefined) throw new Error("this machine has no control groups of version 2");
  const name = `berth-test-${crypto.randomUUID()}`;
  const cgroups = createCgroups({ mount, name, limits });
  const host = createHost({ limits, runVariable: "HELD_RUN_ID", owner: "held", cgroups });
  const run = { id: "one", folder: "/", env: { PATH: "/usr/bin:/bin" }, stdin: undefined, timeoutMs: 10_000 };
  const leave = "env -i setsid sleep 604 </dev/null >/dev/null 2>&1 & cat /proc/self/cgroup; echo $!";
  const { stdout } = await host.run({ ...run, argv: ["/bin/sh", "-c", leave] });
  const said = new TextDecoder().decode(stdout).trim().split("\n");
  expect(said).toContain(`0::/${name}/held.one`);
  await waitFor("it to be gone", () => !isAlive(Number(said.at(-1))));
  expect(readdirSync(join(mount, name), { withFileTypes: true }).filter((it) => it.isDirectory())).toEqual([]);
  // What a server that died left in there.
  mkdirSync(join(mount, name, "held.two"));
  const left = Bun.spawn(["sleep", "605"]);
  writeFileSync(join(mount, name, "held.two/cgroup.procs"), String(left.pid));
  await host.endLeftovers();
  expect(await left.exited).not.toBe(0);
  expect(existsSync(join(mount, name, "held.two"))).toBe(false);
  await host.close();
  rmdirSync(join(mount, name));
});

test("what prints without end is ended, and the server does not grow", async () => {
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  for (const command of ["flood", "mutter"]) {
    expect(await refusal("low", command)).toMatch(/printed too much on standard (output|error)/);
  }
  // Without a bound on what waits it was more than 300. The collector decides how much of the rest it gives back.
  expect((process.memoryUsage.rss() - before) / 1024 / 1024).toBeLessThan(250);
}, 60_000);

test("no group is left, and a plugin that is removed leaves nothing", async () => {
  const groups = ["", "pids", "memory", "unified"]
    .map((hierarchy) => join("/sys/fs/cgroup", hierarchy, "berth-plugins"))
    .filter((path) => existsSync(path));
  expect(groups.length).toBeGreaterThan(0);
  await client.call(removePlugin, { params: { name: "low" } });
  expect(existsSync(join(layout.plugins, ".versions/low"))).toBe(false);
  // Other servers of this machine have theirs in the same folders.
  const { installation } = await client.call(system);
  const ours = groups.flatMap((path) => readdirSync(path).filter((name) => name.startsWith(`${installation}.`)));
  expect(ours).toEqual([]);
});
