import { afterAll, beforeAll, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveOptions } from "../../src/config/config.ts";
import { noPlugins } from "../../src/orchestration/controller/state/plugin-room.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createPluginRoom } from "../../src/daemon/plugins.ts";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { makeFolders } from "../../src/base/disk/root.ts";
import { createLog } from "../../src/base/words/log.ts";
import { type Call, cli } from "../support/cli.ts";
import { fixtureImage } from "../support/manifests.ts";
import { helloPlugin, writeTree } from "../support/plugin-yard.ts";
import { printing, writePlugin } from "../support/plugins.ts";
import { type Plane, startPlane } from "../support/socket-plane.ts";
import { waitFor } from "../support/wait.ts";

/** The plane on real sockets, with the registry, the installer and the host that the daemon has. */
const root = mkdtempSync(join(tmpdir(), "live-"));
const layout = layoutOf(root);
let plane: Plane;
beforeAll(async () => {
  await makeFolders(layout);
  const plugins = await createPluginRoom({
    layout,
    names: naming(),
    installationId: "live-test",
    options: serveOptions({ root }, {}),
    log: createLog(() => undefined, "error"),
    controllerUrl: () => plane.front.url,
    configOf: (plugin) => plane.store.pluginConfig.of(plugin),
    callbacks: noPlugins().callbacks,
    onChange: () => undefined,
  });
  plane = await startPlane({ layout, plugins });
});
afterAll(async () => {
  await plane.close();
  rmSync(root, { recursive: true, force: true });
});

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${plane.front.url}${path}`, { method, headers, ...sent });
  return {
    status: response.status,
    body: (await response.json()) as { data: Record<string, unknown>; error?: string },
  };
}

test("what a plugin writes by a callback is there for its next one, and for its own answer", async () => {
  const curl = 'curl -fsS -X "$1" "$BERTH_CONTROLLER_URL$2"';
  writePlugin(layout, "pg", {
    commands: {
      promote: `call() { ${curl} "$3" "$4"; }
call POST "/config?scope=data&name=main&restart=false" -d '{"PRIMARY":"1"}' >&2
call GET "/config?scope=data&name=main" >&2
call DELETE "/resource?scope=data&name=gone&prune=true" >&2 || echo missing >&2
${printing({ status: "ok", data: { message: "ok", actions: [{ type: "config_set", scope: "data", name: "main", kv: { LAST: "yes" } }] } })}`,
    },
  });
  const { status, body } = await ask("POST", "/plugin/pg/promote", {});
  expect([status, body.error]).toEqual([200, undefined]);
  const runs = (await ask("GET", "/plugins/runs?plugin=pg")).body.data.runs as { tail: string[] }[];
  expect(runs[0]?.tail.join("\n")).toContain('{"status":"ok","data":{"vars":{"PRIMARY":"1"}}}');
  expect(runs[0]?.tail.at(-1)).toBe("missing");
  expect(plane.store.config.bucket("data", "main")).toEqual({ PRIMARY: "1", LAST: "yes" });
});

test("progress arrives while the command runs", async () => {
  writePlugin(layout, "slow", {
    commands: { go: "echo begun >&2; while [ ! -e go-on ] && [ -e bin ]; do sleep 0.05; done; echo done" },
  });
  const headers = { accept: "application/x-ndjson" };
  const response = await fetch(`${plane.front.url}/plugin/slow/go`, { method: "POST", headers });
  const reader = response.body?.getReader();
  const first = new TextDecoder().decode((await reader?.read())?.value);
  expect(JSON.parse(first)).toEqual({ type: "progress", text: "begun" });
  await Bun.write(join(layout.plugins, "slow", "go-on"), "");
  const second = new TextDecoder().decode((await reader?.read())?.value);
  expect(JSON.parse(second)).toMatchObject({ type: "result", code: 200, data: { message: "done" } });
  expect((await reader?.read())?.done).toBe(true);
});

test("a block brings its plugin along; a plugin that changes its own files is not run again", async () => {
  const set = { kind: "statefulset", name: "cache", spec: { image: fixtureImage, command: ["sleep", "9"] } };
  const source = writePlugin({ ...layout, plugins: join(root, "elsewhere") }, "cache", {
    yml: "name: cache\nversion: 1.0\nkinds: [cache]\n",
    commands: { expand: printing([set]), vandal: "echo '#' >> bin/expand; echo done" },
  });
  const block = { kind: "cache", scope: "data", name: "cache", spec: { plugin: { repo: source, version: "1.0" } } };
  const planned = await ask("POST", "/apply?dry_run=true", block);
  expect(planned.body.data.plugin_installs).toEqual([{ plugin: "cache", version: "1.0", source }]);
  expect((await ask("GET", "/plugins/cache")).status).toBe(404);
  const applied = await ask("POST", "/apply", block);
  expect(applied.body.data).toMatchObject({
    plugin_installs: [{ plugin: "cache", version: "1.0", source }],
    plugin_expansions: [{ from: "cache/data/cache", to: ["statefulset/data/cache"] }],
  });
  const again = await ask("POST", "/apply", block);
  expect(again.body.data.plugin_installs).toBeUndefined();

  expect((await ask("POST", "/plugin/cache/vandal", {})).status).toBe(200);
  const refused = await ask("POST", "/apply", block);
  expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining("bin/expand")]);

  // The source moves on, and the block asks for it.
  appendFileSync(join(source, "bin", "expand"), "# newer\n");
  await Bun.write(join(source, "plugin.yml"), "name: cache\nversion: 2.0\nkinds: [cache]\n");
  const newer = await ask("POST", "/apply", { ...block, spec: { plugin: { version: "2.0" } } });
  expect(newer.body.data).toMatchObject({ plugin_installs: [{ plugin: "cache", version: "2.0", source }] });
});

test("a source that holds nothing of the kind refuses the apply, and nothing is stored", async () => {
  const block = { kind: "queue", scope: "data", name: "q", spec: { plugin: { repo: join(root, "nowhere") } } };
  const { status, body } = await ask("POST", "/apply", block);
  expect([status, body.error]).toEqual([400, expect.stringMatching(/^queue\/data\/q: .*nowhere/)]);
  expect(plane.store.blocks.list({ kind: "queue" })).toEqual([]);
});

/** The client at a terminal, over real sockets. */
function operator(argv: string[], typed: string[]) {
  const server = async ({ method, path, query, body, accept }: Call) => {
    const headers: Record<string, string> = accept === undefined ? {} : { accept };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    return fetch(`${plane.front.url}${path}?${new URLSearchParams(query)}`, init);
  };
  return cli(["plugins", ...argv], { server, typed });
}

const asking = (version: string, actions: string) => {
  const install = `#!/bin/sh\necho making ${version} ready\n`;
  return helloPlugin(version, { yml: `permissions: {actions: [${actions}], scopes: [data]}`, files: { install } });
};

test("an operator sees what comes in before it runs, and is told how far it is", async () => {
  const source = writeTree(join(root, "hello-source"), asking("1", "run_job"));
  const no = await operator(["install", source], ["n"]);
  expect([no.code, no.err]).toEqual([5, expect.stringContaining("runs now  its install hook")]);
  expect(no.err).not.toContain("making 1 ready");
  expect((await ask("GET", "/plugins/hello")).status).toBe(404);
  const yes = await operator(["install", source], ["y"]);
  expect([yes.code, yes.out]).toEqual([0, "installed hello 1\n"]);
  expect(yes.err.indexOf("making 1 ready\n")).toBeGreaterThan(yes.err.indexOf("Install it? [y/N]"));

  writeTree(source, asking("2", "run_job, exec_local"));
  const refused = await operator(["update", "hello"], ["n"]);
  expect([refused.code, refused.err]).toEqual([5, expect.stringContaining("  new       exec_local\n")]);
  expect((await ask("GET", "/plugins/hello")).body.data.version).toBe("1");
  const updated = await operator(["update", "hello"], ["y"]);
  expect([updated.code, updated.out]).toEqual([0, "updated from 1 to hello 2\n"]);
  expect(updated.err).toContain("making 2 ready\n");
});

test("an install whose operator leaves is taken back; one that nobody watches goes on", async () => {
  const install = `#!/bin/sh\nwhile [ ! -e ${root}/go-on ] && [ -d ${root} ]; do sleep 0.05; done\n`;
  const source = writeTree(join(root, "late-source"), {
    "plugin.yml": "name: late\n",
    "bin/go": "#!/bin/sh\n",
    install,
  });
  const begin = (headers: Record<string, string>, signal: AbortSignal) =>
    fetch(`${plane.front.url}/plugins/install`, { method: "POST", headers, signal, body: JSON.stringify({ source }) });
  const versions = () => readdirSync(join(layout.plugins, ".versions")).filter((name) => name === "late");

  const watching = new AbortController();
  const answer = await begin({ accept: "application/x-ndjson" }, watching.signal);
  const first = new TextDecoder().decode((await answer.body?.getReader().read())?.value);
  expect(first).toContain("running the install hook of late");
  watching.abort();
  await waitFor("it to be taken back", () => versions().length === 0);

  const leaving = new AbortController();
  const left = begin({}, leaving.signal).catch((error: unknown) => error);
  await waitFor("its hook to run", () => versions().length === 1);
  leaving.abort();
  await left;
  await Bun.write(join(root, "go-on"), "");
  await waitFor("it to be there", async () => (await ask("GET", "/plugins/late")).status === 200);
});
