import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../src/config/config.ts";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { makeFolders } from "../../src/base/disk/root.ts";
import { tokenPrincipal } from "../../src/access/principal.ts";
import { createCallbackApp } from "../../src/orchestration/http/callbacks/app.ts";
import { createDoor, type Door } from "../../src/orchestration/http/callbacks/door.ts";
import { type RunDoor, startRunDoor } from "../../src/orchestration/http/callbacks/run-door.ts";
import { systemClock } from "../../src/base/words/clock.ts";
import { createLog } from "../../src/base/words/log.ts";
import { fixtureImage } from "../support/manifests.ts";
import { testPlugins, writePlugin } from "../support/plugins.ts";
import { type Plane, startPlane } from "../support/socket-plane.ts";
import { waitFor } from "../support/wait.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

/** The memory engine gives pods addresses on loopback, and this machine one among them. */
let plane: Plane;
let door: Door;
let runDoor: RunDoor | undefined;
let pod: string;
const root = mkdtempSync(join(tmpdir(), "callbacks-"));
const layout = layoutOf(root);
const stopping = new AbortController();
const peerHeader = "X-Berth-Peer";
let ended: Promise<void>;

const set = (name: string) => ({ kind: "statefulset", name, spec: { image: fixtureImage, command: ["sleep", "9"] } });

beforeAll(async () => {
  await makeFolders(layout);
  const plugins = testPlugins(layout, {
    callbacks: { url: () => door.url(), open: () => door.open() },
    controllerUrl: (token) => runDoor?.url(token),
  });
  plane = await startPlane({ layout, plugins });
  const log = createLog((line) => plane.log.push(JSON.parse(line)), "debug");
  const app = createCallbackApp({ callbacks: plane.callbacks, plane: plane.behind, peerHeader, log });
  door = createDoor({
    name: "callbacks",
    fetch: app.fetch,
    gateway: () => plane.runtime.networkGateway("berth0"),
    makeNetwork: () => plane.runtime.ensureNetwork("berth0"),
    port: 0,
    peerHeader,
    limits: { ...limits, callbackLookMs: 50 },
    clock: systemClock,
    log,
  });
  ended = door.run(stopping.signal);
  runDoor = await startRunDoor({
    calls: plane.runCalls,
    plane: plane.behind,
    takeover: plane.takeover,
    headerPrefix: "X-Berth",
    limits,
    log,
  });
  const expand = `name=$(sed 's/.*"name":"\\([^"]*\\)".*/\\1/'); cat <<END
${JSON.stringify({ status: "ok", data: { manifests: [set("NAME")], actions: null } }).replace("NAME", "$name")}
END`;
  writePlugin(layout, "redis", {
    yml: "name: redis\nversion: '7'\naliases: [cache]\n",
    commands: {
      expand,
      failover: 'echo "$1"',
      set: `echo '{"status":"ok","data":{"actions":[{"type":"config_set","scope":"data","name":"'"$2"'","kv":{"B":"1"},"skip_restart":true}]}}'`,
      look: `code() { curl -s -o /dev/null -w '%{http_code}' "$BERTH_CONTROLLER_URL/config?scope=$1&name=main"; }
        echo "$(code data) $(code other)"`,
      // It lasts until the test has asked, or 20 s.
      token: `rm -f heard; printf %s "$BERTH_CALLBACK_URL $BERTH_CALLBACK_TOKEN" > told
        i=0; while [ ! -e heard ] && [ $i -lt 400 ]; do sleep 0.05; i=$((i + 1)); done`,
    },
  });
  writePlugin(layout, "other", { commands: { go: "echo no" } });
  await plane.controller.apply(
    [
      { kind: "redis", scope: "data", name: "cache", spec: {} },
      { ...set("web"), scope: "data" },
    ],
    { dryRun: false, prune: false, actor: "t" },
  );
  await plane.controller.setConfig({ scope: "data", name: "cache" }, { A: "1" }, { restart: false, actor: "t" });
  await waitFor(
    "the pods to run",
    async () => (await plane.runtime.observe()).filter((it) => it.state === "running").length === 2,
  );
  pod = await addressOf("data-cache.0");
});
afterAll(async () => {
  stopping.abort();
  await ended;
  await runDoor?.stop(0);
  await plane.close();
  rmSync(root, { recursive: true, force: true });
});

async function addressOf(name: string): Promise<string> {
  return (await plane.runtime.inspect(podRef(name)))?.networks.berth0?.ipAddress ?? "";
}

/** Asks from an address of this machine. */
async function ask(from: string, path: string, more: string[] = []): Promise<{ status: number; text: string }> {
  const asked = Bun.spawn(["curl", "-s", "-w", "\n%{http_code}", "--interface", from, ...more, `${door.url()}${path}`]);
  const out = await new Response(asked.stdout).text();
  const at = out.lastIndexOf("\n");
  return { status: Number(out.slice(at + 1)), text: out.slice(0, at) };
}

test("what a block was expanded into knows where the controller is, and carries whose it is", async () => {
  const detail = await plane.runtime.inspect(podRef("data-cache.0"));
  expect(detail?.env.BERTH_CONTROLLER_URL).toBe(door.url());
  expect(detail?.labels).toMatchObject({ "berth.block": "redis/data/cache", "berth.plugin": "redis@7" });
  const other = await plane.runtime.inspect(podRef("data-web.0"));
  expect(other?.env.BERTH_CONTROLLER_URL).toBeUndefined();
  expect(other?.labels["berth.block"]).toBeUndefined();
});

test("its containers may describe and read what is theirs, and run commands of their plugin", async () => {
  const described = await ask(pod, "/describe?kind=statefulset&scope=data&name=cache");
  expect([described.status, JSON.parse(described.text).data.manifest.name]).toEqual([200, "cache"]);
  const config = await ask(pod, "/config?scope=data&name=cache");
  expect(JSON.parse(config.text)).toEqual({ status: "ok", data: { vars: { A: "1" } } });
  for (const name of ["redis", "cache"]) {
    const ran = await ask(pod, `/plugin/${name}/failover`, ["-d", '{"args":["data/cache"]}']);
    expect([ran.status, JSON.parse(ran.text).data.message]).toEqual([200, "data/cache"]);
  }
  const { runs } = await plane.controller.listPluginRuns({ plugin: "redis", limit: 1 });
  expect(runs[0]?.actor).toBe("pod data-cache.0");
});

test("a block whose operator tied it to another one may ask about that, and about no other of its plugin", async () => {
  const expand = (name: string) => ({ kind: "redis", scope: "data", name, spec: {} });
  const blocks = [
    { ...expand("watch"), spec: { monitor: "data/main" } },
    expand("main"),
    { ...expand("main"), scope: "other" },
  ];
  await plane.controller.apply(blocks, { dryRun: false, prune: false, actor: "t" });
  await plane.controller.setConfig({ scope: "other", name: "main" }, { PASSWORD: "s" }, { restart: false, actor: "t" });
  await waitFor(
    "its pod to run",
    async () => (await plane.runtime.inspect(podRef("data-watch.0")))?.state === "running",
  );
  const watch = await addressOf("data-watch.0");
  expect((await ask(watch, "/config?scope=data&name=main")).status).toBe(200);
  expect((await ask(watch, "/plugin/redis/failover", ["-d", '{"args":["data/main"]}'])).status).toBe(200);
  for (const path of ["/config?scope=other&name=main", "/describe?kind=statefulset&scope=other&name=main"]) {
    expect([path, (await ask(watch, path)).status]).toEqual([path, 403]);
  }
  for (const args of [["other/main"], ["-c", "--of=other/main"]]) {
    const refused = await ask(watch, "/plugin/redis/failover", ["-d", JSON.stringify({ args })]);
    expect([refused.status, JSON.parse(refused.text).error]).toEqual([
      403,
      '"other/main" is of another block than the pod that asks',
    ]);
  }
  // Nor by the plugin that it runs, whatever that plugin was granted.
  const asked = await ask(watch, "/plugin/redis/look", ["-d", "{}"]);
  expect(JSON.parse(asked.text).data.message).toBe("200 403");
});

test("nothing else", async () => {
  const refused: [string, string[]?][] = [
    ["/apply"],
    ["/pods"],
    ["/plugins"],
    ["/health"],
    ["/config?scope=data"],
    ["/config?scope=data&name=web"],
    ["/describe?kind=statefulset&scope=data&name=web"],
    ["/describe?kind=statefulset&name=cache"],
    ["/config?scope=data&name=cache", ["-d", '{"A":"2"}']],
    ["/plugin/other/go", ["-d", "{}"]],
    ["/plugins/exec", ["-d", '{"args":["redis","failover"]}']],
    ["/resource?scope=data&name=cache", ["-X", "DELETE"]],
    ["//apply"],
  ];
  for (const [path, more] of refused) {
    expect([path, (await ask(pod, path, more)).status]).toEqual([path, 403]);
  }
  // The listener refuses such a path before anything asks what the caller may do.
  expect((await ask(pod, "/plugin/%2e%2e/go", ["-d", "{}"])).status).toBe(400);
});

test("nobody else: other pods, other addresses, whatever they claim, and no browser", async () => {
  const path = "/config?scope=data&name=cache";
  expect((await ask(await addressOf("data-web.0"), path)).status).toBe(403);
  expect((await ask("127.0.0.1", path)).status).toBe(403);
  expect((await ask("127.0.0.1", path, ["-H", `${peerHeader}: ${pod}`])).status).toBe(403);
  expect((await ask("127.0.0.1", path, ["-H", `Authorization: Bearer ${"0".repeat(64)}`])).status).toBe(403);
  expect((await ask(pod, path, ["-H", "Origin: http://example.com"])).status).toBe(403);
  expect((await ask(pod, path, ["-H", "Host: anything.example"])).status).toBe(200);
});

test("a raw HTTP/1.0 request is answered with a status line", async () => {
  const script = `exec 3<>/dev/tcp/\${1%:*}/\${1#*:}; printf 'POST /plugin/redis/failover HTTP/1.0\\r\\nContent-Length: 2\\r\\n\\r\\n{}' >&3; head -n 1 <&3`;
  const asked = Bun.spawn(["bash", "-c", script, "-", door.url()?.replace("http://", "") ?? ""]);
  expect(await new Response(asked.stdout).text()).toMatch(/^HTTP\/1\.[01] 403/);
});

const tokenFolder = () => join(layout.plugins, "redis");

/** Address and token of the run that has just begun; `before` is what an earlier one told. */
function toldByRun(before: string): Promise<string[]> {
  return waitFor("the run to have begun", async () => {
    const text = await toldBefore();
    // The shell empties the file before it writes.
    return text !== before && text.includes(" ") && text.split(" ");
  });
}

async function toldBefore(): Promise<string> {
  const file = Bun.file(join(tokenFolder(), "told"));
  return (await file.exists()) ? file.text() : "";
}

const endRun = () => Bun.write(join(tokenFolder(), "heard"), "");

test("a run has a token for what it starts elsewhere, as long as it lasts", async () => {
  const before = await toldBefore();
  const running = fetch(`${plane.front.url}/plugin/redis/token`, { method: "POST", body: "{}" });
  const path = "/config?scope=data&name=cache";
  const [url, token] = await toldByRun(before);
  const headers = ["-H", `Authorization: Bearer ${token}`];
  expect([url, (await ask("127.0.0.1", path, headers)).status]).toEqual([door.url(), 200]);
  await endRun();
  expect((await running).status).toBe(200);
  expect((await ask("127.0.0.1", path, headers)).status).toBe(403);
});

test("what a run starts elsewhere reaches no more than the token that started the run", async () => {
  const by = tokenPrincipal({ scopes: ["actions"], apps: ["data/cache"] });
  const before = await toldBefore();
  const running = plane.controller.dispatchPlugin(
    { plugin: "redis", command: "token", body: {} },
    { actor: "t", by, restart: true },
  );
  const [, token] = await toldByRun(before);
  const set = async (name: string) => {
    const body = JSON.stringify({ args: ["data/cache", name] });
    return (await ask("127.0.0.1", "/plugin/redis/set", ["-H", `Authorization: Bearer ${token}`, "-d", body])).status;
  };
  expect([await set("cache"), await set("web")]).toEqual([200, 403]);
  await endRun();
  await running;
});

test("it follows the network: gone with it, and back", async () => {
  const before = door.url();
  expect(before).toStartWith("http://127.64.0.0:");
  for (const { id } of await plane.runtime.observe()) await plane.runtime.disconnectByHand(id, "berth0");
  plane.runtime.removeNetworkByHand("berth0");
  await waitFor("the listener to be gone", () => door.url() === undefined);
  await door.open();
  expect(door.url()).toStartWith("http://127.64.0.0:");
});
