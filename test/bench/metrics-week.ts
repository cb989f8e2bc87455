import { Database } from "bun:sqlite";
import type { Sample, Series } from "../../src/observability/core/metrics/series.ts";
import type { BoardChart } from "../../src/observability/api/boards.ts";
import type { MetricAnswers } from "../../src/observability/api/metrics.ts";
import { builtInBoards } from "../../src/observability/core/boards.ts";
import { createMetricWorld, type MetricWorld } from "../support/metric-world.ts";
import { type PlaneWorld, planeWorld } from "../support/observability.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

/** BERTH_BENCH_HOURS=168 is the week that the promise is about. */
const hours = Number(process.env.BERTH_BENCH_HOURS ?? 24);
const pods = 50;
const ranges = ["1h", "24h", "7d"] as const;
const sampleMs = 15_000;

/**
 * The default boards over a history of 50 pods, asked over HTTP in process, beside the same averages from a table with
 * one row for each minute of one metric.
 */
export async function run(): Promise<BenchRow[]> {
  const plane = planeWorld();
  try {
    const table = createTable();
    const recordMs = await fill(plane, table);
    const token = await plane.token();
    const bytes = plane.metrics.archive().store.usedBytes();
    const samples = (hours * 3_600_000 * pods * 16) / sampleMs;
    const baseline = cpuMs(() => mustBe("whether the table has figures", table.answer() >= 25, true));
    const rows: BenchRow[] = [];
    for (const range of ranges) {
      const slowest = await slowestChart(plane, token, range);
      const name = `metrics: slowest chart of ${range}, ${pods} pods, ${hours} h`;
      rows.push({ name, value: slowest, unit: "ms cpu", baseline, ratio: slowest / baseline, wanted: "value <= 100" });
    }
    table.db.close();
    return [
      ...rows,
      ...[size(bytes, samples), { ...recording(recordMs), baseline: sampleMs, ratio: recordMs / sampleMs }],
    ];
  } finally {
    plane.close();
  }
}

function size(bytes: number, samples: number): BenchRow {
  const name = `metrics: database of ${pods} pods and ${hours} h`;
  const plain = samples * 16;
  return { name, value: bytes / 1e6, unit: "MB", baseline: plain / 1e6, ratio: bytes / plain, wanted: "<= 0.2" };
}

function recording(ms: number) {
  return { name: `metrics: storing one sample of ${pods} pods`, value: ms, unit: "ms cpu", wanted: "<= 0.01" };
}

/** What each pod is sampled for, and the machine; in the order of the generator. */
function seriesOf(world: MetricWorld): Series[] {
  return world.names.map((name) => {
    const [pod = "", metric = ""] = name.split(" ");
    const app = { kind: "deployment", scope: "shop", name: `app-${Number(pod.slice(4)) % 25}` };
    return { source: "pod", ...app, replica: pod, metric, labels: {} };
  });
}

function machine(n: number): Sample[] {
  const metrics = ["cpu_percent", "cpu_iowait_percent", "mem_used_bytes", "mem_total_bytes", "pressure_cpu_percent"];
  return [...metrics, "net_rx_delta_bytes", "net_tx_delta_bytes"].map((metric, index) => ({
    series: { source: "system", kind: "", scope: "", name: "", replica: "", metric, labels: {} },
    value: (n * (index + 7)) % 97,
  }));
}

/** Milliseconds of the processor for one sample of all, and for what is made of them each hour. */
async function fill(plane: PlaneWorld, table: Table): Promise<number> {
  const world = createMetricWorld(pods);
  const series = seriesOf(world);
  const rounds = (hours * 3_600_000) / sampleMs;
  const used = process.cpuUsage();
  let making = 0;
  for (let round = 0; round < rounds; round++) {
    const begun = process.cpuUsage();
    const values = world.next();
    const samples = series.map((one, index): Sample => ({ series: one, value: values[index] ?? 0 }));
    samples.push(...machine(round));
    if (round % 4 === 0) table.add(round / 4, series, values);
    making += cpuOf(begun);
    plane.clock.moveTo(plane.clock.steady() + sampleMs);
    plane.metrics.record(plane.clock.now(), samples);
    if (round % 240 === 239) await plane.metrics.archive().tend();
  }
  return (cpuOf(used) - making) / rounds;
}

async function slowestChart(plane: PlaneWorld, token: string, range: string): Promise<number> {
  let slowest = 0;
  for (const chart of builtInBoards.flatMap(({ charts }) => charts)) {
    const path = pathOf(chart, range);
    const took: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const begun = process.cpuUsage();
      const { status, text, data } = await plane.ask(`GET ${path}`, { token });
      took.push(cpuOf(begun));
      if (status !== 200) throw new Error(`${path}: ${text}`);
      requireFigures(chart, data as MetricAnswers);
    }
    slowest = Math.max(slowest, Math.min(...took));
  }
  return slowest;
}

/** An empty chart is fast. Those of disks and of visitors have no samples here. */
function requireFigures({ metric }: BoardChart, { results }: MetricAnswers): void {
  const recorded = [
    ...machine(0).map(({ series }) => `system.${series.metric}`),
    "pod.cpu_percent",
    "pod.mem_usage_bytes",
  ];
  const figures = results.map(({ series }) => series.some(({ values }) => values.some((value) => value !== null)));
  mustBe(
    `figures in ${metric}`,
    figures,
    metric.split(",").map((one) => recorded.includes(one)),
  );
}

function pathOf({ metric, agg, group_by: groupBy }: BoardChart, range: string): string {
  const query = new URLSearchParams({ metric, from: range });
  if (agg !== undefined) query.set("agg", agg);
  if (groupBy !== undefined) query.set("group_by", groupBy);
  return `/query?${query}`;
}

interface Table {
  db: Database;
  add(minute: number, series: readonly Series[], values: Float64Array): void;
  /** How many rows it gave. */
  answer(): number;
}

/** One row for each minute and pod of one metric, in memory. */
function createTable(): Table {
  const db = new Database(":memory:");
  db.run(
    "create table minutes (app text, pod text, minute integer, value real, primary key (app, pod, minute)) without rowid",
  );
  const insert = db.query("insert into minutes values (?, ?, ?, ?)");
  const add = db.transaction((minute: number, series: readonly Series[], values: Float64Array) => {
    for (const [index, one] of series.entries())
      if (one.metric === "cpu_percent") insert.run(one.name, one.replica, minute, values[index] ?? 0);
  });
  const step = Math.ceil((hours * 60) / 300);
  const question = db.query(`select app, minute / ${step} as bucket, avg(value) from minutes group by app, bucket`);
  return { db, add, answer: () => question.all().length };
}

function cpuMs(work: () => void): number {
  const begun = process.cpuUsage();
  work();
  return cpuOf(begun);
}

function cpuOf(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
