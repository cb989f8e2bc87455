import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { makeFolders } from "../../src/base/disk/root.ts";
import { fixtureImage } from "../support/manifests.ts";
import { acting, printing, testPlugins, writePlugin } from "../support/plugins.ts";
import { type Plane, startPlane } from "../support/socket-plane.ts";
import { waitFor } from "../support/wait.ts";

/** Plugins that do everything wrong that a process can do wrong, on real sockets. */
let plane: Plane;
const runVariable = `HOSTILE_${process.pid}_RUN_ID`;
const root = mkdtempSync(join(tmpdir(), "hostile-"));
const layout = layoutOf(root);
const yml = (command: string, timeout: string) => `name: p\ncommands:\n  - {name: ${command}, timeout: ${timeout}}\n`;

beforeAll(async () => {
  await makeFolders(layout);
  const limits = { pluginKillGraceMs: 300, pluginDrainMs: 300, pluginsAtOnceMax: 64 };
  plane = await startPlane({
    layout,
    plugins: testPlugins(layout, { limits, runVariable, controllerUrl: () => plane.front.url }),
  });
});
afterAll(async () => {
  await plane.close();
  rmSync(root, { recursive: true, force: true });
});
afterEach(async () => {
  // Whatever a plugin did: nothing of it runs on, and nothing of it is stored.
  await waitFor("no process of a plugin to be left", () => leftOver() === "");
  expect(plane.store.manifests.list()).toEqual([]);
  expect(plane.store.blocks.list()).toEqual([]);
  expect(plane.store.config.bucket("s", "web")).toEqual({});
});

/** Processes that carry the variable of a run, but those of this test's own shell. */
function leftOver(): string {
  const found = Bun.spawnSync(["sh", "-c", `grep -lz '^${runVariable}=' /proc/[0-9]*/environ 2>/dev/null`]);
  return found.stdout.toString();
}

async function post(path: string, body: unknown): Promise<{ status: number; text: string; ms: number }> {
  const begun = performance.now();
  const response = await fetch(`${plane.front.url}${path}`, { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, text: await response.text(), ms: performance.now() - begun };
}

/** Asks for something small again and again until `done`; the slowest answer, in milliseconds. */
async function slowestWhile(done: Promise<unknown>): Promise<number> {
  let isDone = false;
  void done.finally(() => (isDone = true));
  let slowest = 0;
  while (!isDone) {
    const begun = performance.now();
    expect((await fetch(`${plane.front.url}/health`)).status).toBe(200);
    slowest = Math.max(slowest, performance.now() - begun);
    await Bun.sleep(5);
  }
  return slowest;
}

const set = { type: "config_set", scope: "s", name: "web", kv: { A: "1" } };
const half = `{"status":"ok","data":{"actions":[${JSON.stringify(set)}`;
const tenThousand = `i=0; printf '{"status":"ok","data":['
while [ $i -lt 9999 ]; do printf '{"kind":"deployment","name":"d%s","spec":{"image":"a"}},' $i; i=$((i+1)); done
printf '{"kind":"deployment","name":"last","spec":{"image":"a"}}]}'`;
const manifest = (name: unknown) => ({ kind: "deployment", scope: "s", name, spec: { image: fixtureImage } });

/** [what, script, status, part of the error]: as a command and, where the error may differ, as `expand`. */
const corpus: [string, string, number, string][] = [
  ["hangs", "sleep 600", 500, "took longer than its time limit"],
  ["hangs and will not be asked", 'trap "" TERM HUP INT; while :; do sleep 1; done', 500, "took longer"],
  // 64 chains, each of whose processes leaves the next one and ends: without a bound, a busy machine has no process left.
  [
    "forks for ever",
    "f() { sleep 0.01; if [ $1 -gt 0 ]; then f $(($1 - 1)) & f $(($1 - 1)); else f 0 & fi; }; f 6 & sleep 600",
    500,
    "took longer",
  ],
  ["leaves children and hangs", "setsid sleep 600 & sleep 600 & sleep 600", 500, "took longer"],
  ["floods stdout", "exec cat /dev/zero", 400, "printed too much on standard output"],
  ["floods stderr", "exec cat /dev/zero >&2", 400, "printed too much on standard error"],
  ["prints 1 GB of lines", "yes 0123456789abcdef | head -c 1000000000", 400, "printed too much"],
  ["dies by a signal", "kill -SEGV $$", 400, "was ended by SIGSEGV"],
  ["prints half an answer", `printf '%s' '${half}'`, 400, "not one whole JSON object"],
  ["prints two answers", `${printing({ status: "ok" })}\n${acting([set])}`, 400, "not one whole JSON object"],
  ["prints no text", 'printf \'{"status":"ok\\377\\376"}\'', 400, "not UTF-8"],
  [
    "nests deeply",
    `printf '{"status":"ok","data":'; yes '[' | head -n 200000 | tr -d '\\n'`,
    400,
    "not one whole JSON",
  ],
  [
    "nests whole",
    `printf '{"status":"ok","data":'; for c in '[' ']'; do yes "$c" | head -n 5000 | tr -d '\\n'; done; printf '}'`,
    400,
    "nested too deeply",
  ],
  ["says another status", printing({ status: "fine", data: { actions: [set] } }), 400, 'status \\"fine\\"'],
  ["answers with a list", printing({ status: "ok", data: 7 }), 400, ""],
  ["reaches for the prototype", `echo '{"status":"ok","data":{"__proto__":{"x":1},"actions":[]}}'`, 400, "__proto__"],
  ["fails", "exit 7", 400, "exited 7: no output"],
];

for (const [what, script, status, error] of corpus) {
  // Only what hangs may meet its time limit, also on a busy machine.
  const timeLimit = status === 500 ? "1500ms" : "10s";
  test(`a plugin that ${what}, as a command`, async () => {
    writePlugin(layout, "p", { yml: yml("go", timeLimit), commands: { go: script } });
    const asked = post("/plugin/p/go", {});
    const slowest = await slowestWhile(asked);
    const answer = await asked;
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(error)]);
    expect(answer.ms).toBeLessThan(15_000);
    expect(slowest).toBeLessThan(5_000);
  });

  test(`a plugin that ${what}, as expand`, async () => {
    writePlugin(layout, "p", { yml: yml("expand", timeLimit), commands: { expand: script } });
    const asked = post("/apply", { kind: "p", scope: "s", name: "x", spec: {} });
    await slowestWhile(asked);
    const answer = await asked;
    expect(answer.status).toBe(status);
    expect(answer.text).toContain("p/s/x: ");
  });
}

/** [what, what it prints, part of the error] for blocks. */
const expansions: [string, string, string][] = [
  ["10,000 manifests", tenThousand, "10000 manifests in one apply; at most 1000"],
  [
    "its own kind again",
    printing({ status: "ok", data: [{ kind: "p", scope: "s", name: "x", spec: {} }] }),
    "expected a core kind",
  ],
  ["a path for a name", printing({ status: "ok", data: [manifest("../../etc/passwd")] }), "is not a name"],
  ["a number for a name", printing({ status: "ok", data: [manifest(7)] }), "expected string"],
  ["a path for a scope", printing({ status: "ok", data: [{ ...manifest("x"), scope: "../up" }] }), "is not a scope"],
  [
    "one that is right and one that is not",
    printing({ status: "ok", data: [manifest("a"), { ...manifest("b"), spec: { image: 7 } }] }),
    "spec.image",
  ],
  [
    "actions that are right and manifests that are not",
    printing({ status: "ok", data: { manifests: [manifest("")], actions: [set] } }),
    "a name is required",
  ],
  [
    "a thousand and one actions",
    printing({ status: "ok", data: { manifests: [], actions: Array.from({ length: 1001 }, () => set) } }),
    "1001 of them",
  ],
];

for (const [what, script, error] of expansions) {
  test(`an expansion into ${what}`, async () => {
    writePlugin(layout, "p", { commands: { expand: script } });
    const answer = await post("/apply", { kind: "p", scope: "s", name: "x", spec: {} });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(error)]);
  });
}

test("memory stays bounded, whatever is printed", async () => {
  writePlugin(layout, "p", { commands: { go: "yes 0123456789abcdef | head -c 1000000000 >&2; exec cat /dev/zero" } });
  const before = process.memoryUsage().rss;
  for (let round = 0; round < 3; round++) await post("/plugin/p/go", {});
  Bun.gc(true);
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
});

test("a plugin that calls itself through the controller comes to an end", async () => {
  const call = `#!/bin/bash
url=\${BERTH_CONTROLLER_URL#http://}
exec 3<>"/dev/tcp/\${url%:*}/\${url#*:}"
printf 'POST /plugin/p/go HTTP/1.0\\r\\nHost: localhost\\r\\nContent-Length: 2\\r\\n\\r\\n{}' >&3
read -r _ code _ <&3
[ "$code" = 200 ] || { echo "the one below said $code" >&2; exit 1; }`;
  writePlugin(layout, "p", { commands: { go: call } });
  const answer = await post("/plugin/p/go", {});
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("the one below said 400")]);
  expect(answer.ms).toBeLessThan(20_000);
});

test("50 at once, each with its own answer, and the plane answers meanwhile", async () => {
  writePlugin(layout, "p", { commands: { go: 'cat >/dev/null; sleep 0.2; echo "$1"' } });
  const asked = Promise.all(Array.from({ length: 50 }, (_, at) => post("/plugin/p/go", { args: [String(at)] })));
  const slowest = await slowestWhile(asked);
  const answers = (await asked).map(({ status, text }) => [status, JSON.parse(text).data?.message]);
  expect(answers).toEqual(Array.from({ length: 50 }, (_, at) => [200, String(at)]));
  expect(slowest).toBeLessThan(5_000);
});

test("more than may run at once are told to come back", async () => {
  writePlugin(layout, "p", { commands: { go: "sleep 1" } });
  const statuses = (await Promise.all(Array.from({ length: 80 }, () => post("/plugin/p/go", {})))).map(
    ({ status }) => status,
  );
  expect(statuses.filter((status) => status === 503).length).toBe(16);
  expect(statuses.filter((status) => status === 200).length).toBe(64);
});

test("names that are paths reach nothing", async () => {
  writePlugin(layout, "p", { commands: { go: "echo ran" } });
  for (const path of [
    "/plugin/..%2Fp/go",
    "/plugin/p/..%2Fgo",
    "/plugin/p/..%2F..%2F..%2Fbin%2Fsh",
    "/plugin/%00/go",
    "/plugin/.versions/go",
  ]) {
    expect((await post(path, {})).status).toBe(400);
  }
});

test("a client that leaves ends its command, unless the command says that it is long", async () => {
  writePlugin(layout, "p", {
    yml: "name: p\ncommands:\n  - {name: short}\n  - {name: lasting, long: true}\n",
    commands: {
      short: "sleep 600",
      lasting: 'sleep 1; cat >/dev/null; echo "{\\"status\\":\\"ok\\",\\"data\\":{\\"message\\":\\"whole\\"}}"',
    },
  });
  const statusOf = async (command: string) => {
    const { runs } = await plane.controller.listPluginRuns({ plugin: "p", limit: 100 });
    return runs.find((run) => run.command === command)?.status;
  };
  for (const command of ["short", "lasting"]) {
    const client = await plane.front.connect();
    client.send(`POST /plugin/p/${command} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}`);
    await waitFor("the command to run", async () => (await statusOf(command)) === "running");
    client.abort();
  }
  await waitFor("the short one to be ended", async () => (await statusOf("short")) === "cancelled");
  await waitFor("the lasting one to come to its end", async () => (await statusOf("lasting")) === "succeeded");
});

test("a server that stops ends what runs", async () => {
  writePlugin(layout, "p", { commands: { go: "setsid sleep 600 & sleep 600" } });
  const limits = { pluginKillGraceMs: 300, pluginDrainMs: 300 };
  const other = await startPlane({ layout, plugins: testPlugins(layout, { limits, runVariable }) });
  const asked = fetch(`${other.front.url}/plugin/p/go`, { method: "POST", body: "{}" }).catch(() => undefined);
  await waitFor("the command to run", () => leftOver() !== "");
  await other.close();
  await asked;
});
