import { readFileSync } from "node:fs";
import { limits } from "../../src/config/config.ts";
import { mapSecrets } from "../../src/orchestration/core/mask.ts";
import { loadKey } from "../../src/base/disk/key-file.ts";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { openDatabase } from "../../src/base/sqlite/database.ts";
import { stateMigrations } from "../../src/orchestration/store/migrations/all.ts";
import { openStore } from "../../src/orchestration/store/open-store.ts";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { world } from "../support/world.ts";
import { elapsed, median } from "./median.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const resources = 10_000;
const starts = 5;
const resyncs = 9;
const pods = 20;
const settleMs = 3_000;
/** Four rounds of samples, two of resyncs. */
const idleMs = 60_000;
const simulatedMs = 3_600_000;

/** What size costs: a start with many manifests, a look at many resources, an idle server. */
export async function run(): Promise<BenchRow[]> {
  return [await startRow(), await resyncRow(), ...(await idleRows())];
}

/** From the start of the process to its `ready` line, against reading the same rows through a bare connection. */
async function startRow(): Promise<BenchRow> {
  const berth = await rig();
  try {
    await berth.stop();
    await fill(berth.root);
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < starts; round++) {
      bare.push(readAll(layoutOf(berth.root).database));
      ours.push(await elapsed(() => berth.start()));
      const { body } = await berth.call("GET", "/apply?kind=deployment&scope=bench");
      mustBe("manifests of the server", (body.data as unknown as unknown[]).length, resources);
      await berth.stop();
    }
    const [value, baseline] = [median(ours), median(bare)];
    const name = `start with ${resources} manifests`;
    return { name, value, unit: "ms", baseline, ratio: value / baseline, wanted: "value <= 1000" };
  } finally {
    await berth.close();
  }
}

/** No replicas: what is measured ends before containers would matter. */
async function fill(root: string): Promise<void> {
  const layout = layoutOf(root);
  const store = openStore({
    path: layout.database,
    lockPath: layout.lock,
    key: await loadKey(layout),
    mapSecrets,
    limits,
    onListenerError: () => undefined,
  });
  await store.write((tx) => {
    for (let index = 0; index < resources; index++) {
      const {
        scope = "",
        name,
        spec,
      } = deployment("bench", `app${index}`, { replicas: 0, env: { INDEX: `${index}` } });
      tx.manifests.put({ kind: "deployment", scope, name, spec }, index);
    }
  });
  store.close();
}

/** Milliseconds to open the database and parse every spec. */
function readAll(path: string): number {
  const begun = performance.now();
  const db = openDatabase(path, stateMigrations);
  const specs = db.query<{ spec: string }, []>("select spec from manifests").all();
  if (specs.map(({ spec }) => JSON.parse(spec)).length !== resources) throw new Error("rows are missing");
  db.close();
  return performance.now() - begun;
}

/** CPU time of a resync where nothing moved, against listing the same containers and grouping them by resource. */
async function resyncRow(): Promise<BenchRow> {
  const place = await world();
  try {
    for (let index = 0; index < resources; index += 1_000) {
      await place.apply(Array.from({ length: 1_000 }, (_, step) => deployment("many", `app${index + step}`)));
    }
    await place.settle(simulatedMs);
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < resyncs; round++) {
      bare.push(
        await cpuMs(async () => mustBe("resources with containers", grouped(await place.runtime.observe()), resources)),
      );
      place.runtime.calls.length = 0;
      ours.push(await cpuMs(() => place.running.reconciler.resync()));
      mustBe("what a resync asked the engine", place.runtime.calls, ["observe"]);
    }
    const [value, baseline] = [median(ours), median(bare)];
    const name = `resync over ${resources} resources`;
    return { name, value, unit: "ms CPU", baseline, ratio: value / baseline, wanted: "value <= 200" };
  } finally {
    await place.close();
  }
}

function grouped(containers: readonly { labels: Record<string, string>; state: string }[]): number {
  const groups = new Map<string, string[]>();
  for (const { labels, state } of containers) {
    const key = `${labels["berth.kind"]}/${labels["berth.scope"]}/${labels["berth.name"]}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [state]);
    else group.push(state);
  }
  return groups.size;
}

async function cpuMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Resident memory and CPU of the server while it keeps its silent pods running, against the same server without any. */
async function idleRows(): Promise<BenchRow[]> {
  const berth = await rig();
  try {
    const before = await idleFigures(berth);
    const apps = Array.from({ length: pods / 2 }, (_, index) => deployment("idle", `app${index}`, { replicas: 2 }));
    await berth.apply(...apps);
    for (const { scope = "", name } of apps) await berth.ready("deployment", scope, name, 120_000);
    mustBe("pods of the server", (await berth.pods("idle")).length, pods);
    const after = await idleFigures(berth);
    const row = (what: keyof typeof after, unit: string, wanted: string): BenchRow => {
      const [value, baseline] = [after[what], before[what]];
      return {
        name: `${what} of the idle server, ${pods} pods`,
        value,
        unit,
        baseline,
        ratio: value / baseline,
        wanted,
      };
    };
    return [
      row("memory", "MiB", "value <= 90"),
      row("memory later", "MiB", "value <= 100"),
      row("CPU of the first minute", "% of a core", "value <= 1"),
      row("CPU of the second minute", "% of a core", "value <= 0.5"),
    ];
  } finally {
    await berth.close();
  }
}

async function idleFigures(berth: Rig) {
  await Bun.sleep(settleMs);
  const memory = residentMib(berth);
  const first = await idleShare(berth);
  const second = await idleShare(berth);
  return {
    ...{ memory, "memory later": residentMib(berth) },
    ...{ "CPU of the first minute": first, "CPU of the second minute": second },
  };
}

/** Share of a core in percent. The first minute still compiles what a start and an apply have run; after it a server is idle. */
async function idleShare(berth: Rig): Promise<number> {
  const [begun, usedMs] = [performance.now(), processMs(berth)];
  await Bun.sleep(idleMs);
  return ((processMs(berth) - usedMs) / (performance.now() - begun)) * 100;
}

/** CPU time of all threads so far, in ticks of 10 ms. Source: proc(5). */
function processMs({ server }: Rig): number {
  const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function residentMib({ server }: Rig): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1];
  return Number(kib) / 1024;
}
