import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type BackupRun,
  listBackupRuns,
  listSnapshots,
  putBackupTarget,
  runBackup,
} from "../../src/backups/api/backups.ts";
import { beginRestore, listRestores, undoRestore } from "../../src/backups/api/restore.ts";
import { createClient } from "../../src/base/wire/client.ts";
import { apply, deleteManifest } from "../../src/orchestration/api/apply.ts";
import { setConfig } from "../../src/orchestration/api/config.ts";
import { describe } from "../../src/orchestration/api/describe.ts";
import { dispatchPlugin, listPluginRuns } from "../../src/orchestration/api/dispatch.ts";
import { serveOptions } from "../../src/config/config.ts";
import { type Daemon, startDaemon } from "../../src/daemon/start.ts";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { createLog } from "../../src/base/words/log.ts";
import { fixtureImage } from "../support/manifests.ts";
import { printing, writePlugin } from "../support/plugins.ts";
import { testDockerHost } from "../support/dockerd.ts";
import { waitFor } from "../support/wait.ts";

/** A whole server on a real engine, with a plugin whose pods call back. Its own prefix keeps it apart from others. */
const root = mkdtempSync(join(tmpdir(), "plugins-"));
const prefix = `p${process.pid.toString(36)}x`;
const layout = layoutOf(root);
let daemon: Daemon;

function engine(): string {
  if (testDockerHost === undefined) throw new Error("BERTH_TEST_DOCKER_HOST names no engine; test/run starts one");
  return testDockerHost;
}

let client: ReturnType<typeof createClient>;

beforeAll(async () => {
  // Without them it has ports 80 and 443 of every address, and its HAProxy keeps them after the server has ended.
  const noIngress = { ingressHttpAddr: "", ingressHttpsAddr: "" };
  const flags = { root, addr: "127.0.0.1:0", dockerHost: engine(), prefix, callbackPort: "0", ...noIngress };
  daemon = await startDaemon(
    serveOptions(flags, {}),
    createLog(() => undefined, "error"),
  );
  const baseUrl = `http://${daemon.addresses.orchestration[0]}`;
  client = createClient({ baseUrl, fetch: (url, init) => fetch(url, init) });
});
afterAll(async () => {
  await client
    .call(deleteManifest, { query: { kind: "beacon", scope: "data", name: "light", prune: true } })
    .catch(() => undefined);
  await daemon.stop();
  Bun.spawnSync(["docker", "-H", engine(), "network", "rm", `${prefix}0`]);
  rmSync(root, { recursive: true, force: true });
});

const loop = `while :; do
  wget -q -O - --post-data '{"args":["'"$TOKEN"'"]}' "$${prefix.toUpperCase()}_CONTROLLER_URL/plugin/beacon/ping"
  wget -q -O - "$${prefix.toUpperCase()}_CONTROLLER_URL/apply" && echo WRONG
  sleep 0.2
done`;

test("a block's pods call their plugin back, and the block goes with them", async () => {
  const pods = {
    kind: "deployment",
    name: "light",
    spec: { image: fixtureImage, command: ["sh", "-c", loop], stop_grace: "1s" },
  };
  const folder = writePlugin(layout, "beacon", {
    yml: "name: beacon\nversion: '1'\n",
    commands: {
      expand: printing({
        status: "ok",
        data: {
          manifests: [pods],
          actions: [{ type: "config_set", scope: "data", name: "light", kv: { TOKEN: "first" } }],
        },
      }),
      ping: 'cat >/dev/null; echo "$1" >> pings',
      turn: `cat >/dev/null; echo '{"status":"ok","data":{"message":"turned","actions":[{"type":"config_set","scope":"data","name":"light","kv":{"TOKEN":"second"}}]}}'`,
    },
  });
  const block = { kind: "beacon", scope: "data", name: "light", spec: {} };
  const applied = await client.call(apply, { body: block });
  expect(applied.plugin_expansions).toEqual([{ from: "beacon/data/light", to: ["deployment/data/light"] }]);

  const pings = async () =>
    (
      await Bun.file(join(folder, "pings"))
        .text()
        .catch(() => "")
    ).split("\n");
  await waitFor("a pod to call", async () => (await pings()).includes("first"), 60_000);
  const { runs } = await client.call(listPluginRuns, { query: { plugin: "beacon" } });
  expect(runs.find(({ command }) => command === "ping")?.actor).toMatch(/^pod data-light\./);

  // What a command sets reaches the pods, without anything else being touched.
  const turned = await client.call(dispatchPlugin, { params: { name: "beacon", command: "turn" } });
  expect(turned).toMatchObject({ message: "turned", applied: ["config_set data/light"] });
  await waitFor("the new replica to call", async () => (await pings()).includes("second"), 60_000);

  const described = await client.call(describe, { query: { kind: "beacon", name: "light" } });
  expect(described.status).toMatchObject({ plugin: "beacon", children: [{ ref: "deployment/data/light" }] });
  expect(described.pods.length).toBeGreaterThan(0);
  const logs = Bun.spawnSync(["docker", "-H", engine(), "logs", described.pods[0]?.name ?? ""]);
  expect(logs.stdout.toString()).not.toContain("WRONG");

  const gone = await client.call(deleteManifest, {
    query: { kind: "beacon", scope: "data", name: "light", prune: true },
  });
  expect(gone).toMatchObject({
    pruned: { config_wiped: true },
    deleted: ["deployment/data/light", "beacon/data/light"],
  });
  await client.call(setConfig, { query: { scope: "data", name: "light" }, body: { A: "1" } });
}, 180_000);

test("a pod that a restore stopped through the engine stays stopped until its files are in place", async () => {
  const state = `docker -H ${engine()} inspect -f '{{.State.Status}}' data-store.0`;
  writePlugin(layout, "store", {
    yml: "name: store\nversion: '1'\n",
    commands: {
      expand: printing({
        status: "ok",
        data: {
          kind: "statefulset",
          name: "store",
          spec: { image: fixtureImage, command: ["sleep", "600"], stop_grace: "1s" },
        },
      }),
      restore: `docker stop -t 1 data-store.0 >/dev/null\nsleep 4\n${state}\ndocker start data-store.0 >/dev/null`,
    },
  });
  await client.call(apply, { body: { kind: "store", scope: "data", name: "store", spec: {} } });
  const running = async () => {
    const { pods } = await client.call(describe, { query: { kind: "statefulset", scope: "data", name: "store" } });
    return pods[0]?.state === "running";
  };
  await waitFor("the pod to run", running, 60_000);
  for (let round = 0; round < 3; round++) {
    const answer = await client.call(dispatchPlugin, { params: { name: "store", command: "restore" } });
    expect(answer.message.trim()).toBe("exited");
  }
  await client.call(deleteManifest, { query: { kind: "store", scope: "data", name: "store", prune: true } });
}, 120_000);

test("a plugin's own commands back its block up and bring it back; a dump that fails is no copy", async () => {
  const target = mkdtempSync(join(tmpdir(), "plugin-copies-"));
  const inPod = async (script: string) => {
    const query = { kind: "statefulset", scope: "data", name: "ledger" };
    const pod = (await client.call(describe, { query })).pods.find(({ state }) => state === "running");
    return Bun.spawnSync(["docker", "-H", engine(), "exec", pod?.name ?? "none", "sh", "-c", script]).stdout.toString();
  };
  const copy = async () => {
    const { since } = await client.call(runBackup, { query: { app: "data/ledger" } });
    let run: BackupRun | undefined;
    await waitFor("the copy", async () => {
      const { runs } = await client.call(listBackupRuns, { query: {} });
      run = runs.find(({ what, started_at }) => what === "data/ledger/+dump" && started_at >= since);
      return run !== undefined;
    });
    return run;
  };
  const ended = async ({ group }: { group: string }) => {
    const rows = async () => (await client.call(listRestores, { query: { group } })).restores;
    await waitFor("the restore", async () => (await rows()).every(({ ended_at: at }) => at !== undefined), 60_000);
    return (await rows()).map(({ state, error }) => error ?? state);
  };
  try {
    writePlugin(layout, "ledger", {
      yml: [
        "name: ledger",
        "permissions: { actions: [], root: true, backup: true }",
        "backup:",
        "  dump: [sh, -c, 'cat /data/rows; [ ! -e /data/torn ] || { echo torn >&2; exit 3; }']",
        "  check: [grep, -q, '^end$']",
        "  restore: [sh, -c, 'cat >/data/new && mv /data/new /data/rows']",
      ].join("\n"),
      commands: {
        expand: printing({
          status: "ok",
          data: {
            kind: "statefulset",
            name: "ledger",
            spec: {
              ...{ image: fixtureImage, command: ["sleep", "600"], stop_grace: "1s", backup: {} },
              volume_claims: [{ name: "data", mount_path: "/data" }],
            },
          },
        }),
      },
    });
    await client.call(apply, { body: { kind: "ledger", scope: "data", name: "ledger", spec: {} } });
    await waitFor("the pod to run", async () => (await inPod("echo up")) === "up\n", 60_000);
    await inPod("seq 200000 >/data/rows; echo end >>/data/rows");
    await client.call(putBackupTarget, { params: { name: "disk" }, body: { url: target } });
    expect(await copy()).toMatchObject({ bytes: 1_288_899, snapshot: expect.any(String) });

    const held = async () => {
      const { snapshots } = await client.call(listSnapshots, { query: {} });
      return snapshots.flatMap(({ what, id }) => (what === "data/ledger/+dump" ? [id] : []));
    };
    const good = await held();
    await inPod("touch /data/torn");
    expect((await copy())?.error).toContain(
      "the command dump of the plugin failed: exit code 3; it printed last: torn",
    );
    await inPod("rm /data/torn; echo bad >/data/rows");
    expect((await copy())?.error).toContain("the command check of the plugin failed: exit code 1");
    // Copies of one hour give way to the newest of it, and nothing else comes.
    const left = await held();
    expect([left.length > 0, left.filter((id) => !good.includes(id))]).toEqual([true, []]);

    const body = { scope: "data", name: "ledger", way: "in_place" } as const;
    const [refused] = await ended(await client.call(beginRestore, { body }));
    expect(refused).toContain("what is there cannot be kept, so it stays: the command check of the plugin failed");
    await inPod("echo end >>/data/rows");
    expect(await ended(await client.call(beginRestore, { body }))).toEqual(["done"]);
    expect(await inPod("wc -l </data/rows; tail -1 /data/rows")).toBe("200001\nend\n");
    expect(await ended(await client.call(undoRestore, { body: { scope: "data", name: "ledger" } }))).toEqual([
      "undone",
    ]);
    expect(await inPod("cat /data/rows")).toBe("bad\nend\n");

    // Its machine burns: the pod waits for its volume, gets an empty one, and then the dump.
    const volume = `${prefix}-data-ledger-data-0`;
    const gone = `docker -H ${engine()} ps -aq --filter volume=${volume} | xargs -r docker -H ${engine()} rm -f; docker -H ${engine()} volume rm ${volume}`;
    await waitFor("the volume to go", async () => Bun.spawnSync(["sh", "-c", gone]).success, 60_000);
    expect(await ended(await client.call(beginRestore, { body: { scope: "data", name: "ledger" } }))).toEqual(["done"]);
    expect(await inPod("wc -l </data/rows; tail -1 /data/rows")).toBe("200001\nend\n");
    expect(readdirSync(join(root, "copies/dumps")).filter((name) => name.startsWith("dump-"))).toEqual([]);
  } finally {
    await client
      .call(deleteManifest, { query: { kind: "ledger", scope: "data", name: "ledger", prune: true } })
      .catch(() => undefined);
    rmSync(target, { recursive: true, force: true });
  }
}, 300_000);
