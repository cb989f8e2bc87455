import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHostCollector } from "../../src/observability/collect/metrics/host.ts";
import { createPlaces } from "../../src/observability/collect/metrics/places.ts";
import { createPodCollector } from "../../src/observability/collect/metrics/pods.ts";
import type { Sample } from "../../src/observability/core/metrics/series.ts";
import type { PodMeasure } from "../../src/orchestration/api/pod-measure.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import type { PodUsage } from "../../src/orchestration/engine/pod.ts";
import { createUsage } from "../../src/orchestration/engine/docker/usage.ts";
import { testMetrics } from "../support/metrics.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const containers = 100;
const rounds = 60;
const intervalMs = 15_000;

/**
 * Processor time of one round of samples: the list of the engine, the counters of 100 containers, what is computed and
 * stored of them, beside reading the same files and nothing else. The files are those of control groups of version 2,
 * with what a kernel writes into them.
 */
export async function run(): Promise<BenchRow[]> {
  const root = mkdtempSync(join(tmpdir(), "bench-sampling-"));
  const metrics = testMetrics();
  try {
    const ids = Array.from({ length: containers }, (_, at) => at.toString(16).padStart(64, "0"));
    for (const id of ids) plant(join(root, "docker", id));
    const { usage } = createUsage(engineOf(root, ids));
    const read = (await usage()).map(({ id, memoryBytes, pids }) => ({ id, memoryBytes, pids }));
    mustBe(
      "what was read of the containers",
      read,
      ids.map((id) => ({ id, ...planted })),
    );
    let latest = { at: 0, pods: [] as PodMeasure[] };
    const measures = { latest: () => latest, replicas: () => [] };
    const collectors = [createHostCollector(), createPodCollector(measures, createPlaces(), () => undefined)];
    let reading = 0;
    let all = 0;
    for (let round = 0; round < rounds; round++) {
      metrics.clock.moveTo(metrics.clock.steady() + intervalMs);
      reading += await cpuOf(async () => readAll(root, ids));
      all += await cpuOf(async () => {
        const at = metrics.clock.now();
        latest = { at, pods: (await usage()).map((one, index) => measureOf(one, { index, at })) };
        const samples = await Promise.all(collectors.map((collector) => collector.collect(at)));
        const stored = samples.flat() as Sample[];
        const sampled = stored.flatMap(({ series: { source, name, replica } }) =>
          source === "pod" ? [`${name}.${replica}`] : [],
        );
        mustBe("containers in the samples", new Set(sampled).size, containers);
        metrics.room.record(at, stored);
        if (round % 20 === 19) await metrics.room.archive().tend();
      });
    }
    const [value, baseline] = [share(all), share(reading)];
    const name = `metrics: sampling ${containers} containers each 15 s`;
    return [{ name, value, unit: "% of a core", baseline, ratio: value / baseline, wanted: "value <= 1" }];
  } finally {
    metrics.remove();
    rmSync(root, { recursive: true, force: true });
  }
}

/** Percent of one core, from milliseconds of all rounds. */
const share = (ms: number) => (ms / rounds / intervalMs) * 100;

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function readAll(root: string, ids: readonly string[]): void {
  for (const id of ids) {
    const folder = join(root, "docker", id);
    for (const name of readdirSync(folder)) readFileSync(join(folder, name), "utf8");
  }
}

const labels = { createdby: "berth", "berth.kind": "deployment", "berth.scope": "shop", "berth.name": "web" };

/** An engine on this machine whose answers are text that is parsed each time, as from its socket. */
function engineOf(root: string, ids: readonly string[]): Parameters<typeof createUsage>[0] {
  const text = JSON.stringify(
    ids.map((Id) => ({
      ...{ Id, Names: [`/shop-web.${Id.slice(-5)}`], Labels: labels, Image: "web:1", ImageID: "sha256:1" },
      ...{ State: "running", Status: "Up 2 hours", Created: 1 },
    })),
  );
  const engine = { local: true, call: async () => JSON.parse(text) };
  const owner = { names: naming(), installationId: "i" };
  const inspect = async () => undefined;
  return { engine, owner, inspect, roots: { cgroup: root, proc: "/proc" } } as unknown as Parameters<
    typeof createUsage
  >[0];
}

function measureOf({ id, name, ...usage }: PodUsage, { index, at }: { index: number; at: number }): PodMeasure {
  const key = { kind: "deployment", scope: "shop", name: `app-${index % 25}` } as const;
  return {
    ...{ key, replicaId: id.slice(-5), ordinal: undefined, container: name, id, at, cpuPercent: at % 100 },
    ...{ memoryBytes: usage.memoryBytes, memoryLimitBytes: usage.memoryLimitBytes, pids: usage.pids, restarts: 0 },
    detail: usage.detail ?? {},
  };
}

/** Without the inactive part of the file cache, as Docker counts. */
const planted = { memoryBytes: 134_217_728 - 7_000_000, pids: 12 };

function plant(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const pressure = (total: number) =>
    ["some", "full"].map((word) => `${word} avg10=0.00 avg60=0.00 avg300=0.00 total=${total}\n`).join("");
  const stat = ["anon", "file", "kernel", "slab", "sock", "shmem", "inactive_file", "active_file", "pgfault"];
  const rest = Array.from({ length: 35 }, (_, at) => `workingset_${at} ${at * 4_096}`);
  const files = {
    "cpu.stat": "usage_usec 123456789\nuser_usec 1\nsystem_usec 2\nnr_periods 3\nthrottled_usec 4\n",
    "memory.current": "134217728\n",
    "memory.max": "536870912\n",
    "memory.stat": `${[...stat.map((name, at) => `${name} ${(at + 1) * 1_000_000}`), ...rest].join("\n")}\n`,
    "memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n",
    "io.stat": "8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n",
    "cpu.pressure": pressure(100),
    "memory.pressure": pressure(0),
    "io.pressure": pressure(7),
    "pids.current": "12\n",
    "cgroup.procs": "1\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}
