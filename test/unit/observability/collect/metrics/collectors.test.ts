import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createHistogram } from "../../../../../src/base/pure/histogram.ts";
import { createDeltas } from "../../../../../src/observability/collect/metrics/deltas.ts";
import { createHostCollector } from "../../../../../src/observability/collect/metrics/host.ts";
import { createLoopWatch } from "../../../../../src/observability/collect/metrics/loop.ts";
import { createOwnCollector } from "../../../../../src/observability/collect/metrics/own.ts";
import { createPlaces } from "../../../../../src/observability/collect/metrics/places.ts";
import { createPodCollector, type ReplicaSeen } from "../../../../../src/observability/collect/metrics/pods.ts";
import { readDiskstats, readMounts, readNetwork } from "../../../../../src/observability/collect/metrics/proc.ts";
import { createVisitCollector } from "../../../../../src/observability/collect/metrics/visits.ts";
import { metricOf } from "../../../../../src/observability/core/metrics/catalogue.ts";
import type { Sample } from "../../../../../src/observability/core/metrics/series.ts";
import type { TakenFigures } from "../../../../../src/ingress/api/taken-figures.ts";
import type { PodMeasure } from "../../../../../src/orchestration/api/pod-measure.ts";
import { createFakeClock } from "../../../../support/fake-clock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "proc-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const plant = (files: Record<string, string>) => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
};

/** Metric, with its labels where it has some, and its value. */
const valuesOf = (samples: readonly Sample[]) =>
  Object.fromEntries(
    samples.map(({ series: { metric, labels }, value }) => [[metric, ...Object.values(labels)].join(" "), value]),
  );

describe("the machine", () => {
  const roots = () => ({ proc: join(folder, "proc"), sys: join(folder, "sys") });
  const network = (bytes: number) =>
    `head\nhead\n  eth0: ${bytes} 1 0 0 0 0 0 0 ${bytes * 2} 1 0 0 0 0 0 0\n    lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\nvethab: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n`;
  const at = (second: number) => {
    plant({
      "proc/stat": `cpu  ${100 + second * 30} 0 50 ${1_000 + second * 60} ${second * 10} 0 0 0 0 0\ncpu0 1 1 1 1\n`,
      "proc/loadavg": "0.50 0.40 0.30 1/200 4711\n",
      "proc/meminfo": "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 600 kB\nSwapTotal: 10 kB\nSwapFree: 4 kB\n",
      "proc/pressure/cpu": `some avg10=0.00 avg60=0.00 avg300=0.00 total=${second * 150_000}\n`,
      "proc/self/mounts": "overlay / overlay rw 0 0\nproc /proc proc rw 0 0\n",
      "proc/diskstats": ` 8 0 sda 1 0 ${second * 2} 0 1 0 ${second * 4} 0 0 ${second * 500} 0\n 8 1 sda1 1 0 9 0 1 0 9 0 0 9 0\n`,
      "proc/net/dev": network(second * 1_000),
      "proc/vmstat": `oom_kill ${second}\n`,
      "sys/block/sda/x": "",
    });
  };

  test("the first round has the levels, the second one what was added since", () => {
    const host = createHostCollector(roots());
    at(1);
    const first = valuesOf(host.collect(1_000) as Sample[]);
    expect(first).toMatchObject({ load_1: 0.5, mem_used_bytes: 409_600, swap_used_bytes: 6_144 });
    expect(first).not.toHaveProperty("cpu_percent");
    at(2);
    const second = valuesOf(host.collect(2_000) as Sample[]);
    expect(second).toMatchObject({ cpu_percent: 30, cpu_iowait_percent: 10, pressure_cpu_percent: 15, oom_kills: 1 });
    expect(second).toMatchObject({
      "net_rx_delta_bytes eth0": 1_000,
      "net_tx_delta_bytes eth0": 2_000,
      "block_read_delta_bytes sda": 1_024,
      "block_write_delta_bytes sda": 2_048,
      "disk_busy_percent sda": 50,
    });
    expect(second["disk_total_bytes /"]).toBeGreaterThan(0);
    expect(Object.keys(second).filter((name) => /lo|veth|sda1/.test(name.split(" ")[1] ?? ""))).toEqual([]);
  });

  test("a machine without these files has no samples, and no failure", () => {
    expect(createHostCollector(roots()).collect(1)).toEqual([]);
  });

  test("the real one gives what the catalogue knows", () => {
    const host = createHostCollector();
    host.collect(1_000);
    for (const { series } of host.collect(2_000) as Sample[]) {
      expect([series.metric, metricOf("system", series.metric) !== undefined]).toEqual([series.metric, true]);
      for (const label of Object.keys(series.labels))
        expect(metricOf("system", series.metric)?.labels).toContain(label);
    }
  });

  test("a device is counted where it is mounted first, and mounts with blanks are read", () => {
    const mounts =
      "/dev/sda1 / ext4 rw\n/dev/sdb1 /data\\040one ext4 rw\n/dev/sdb1 /data\\040one/bind ext4 rw\n/dev/loop1 /snap squashfs\n";
    expect(readMounts(mounts)).toEqual(["/", "/data one"]);
    expect(readDiskstats("nonsense\n")).toEqual([]);
    expect(readNetwork("a\nb\nc")).toEqual([]);
  });
});

describe("counters", () => {
  test("gain nothing at first, nor after they began again", () => {
    const deltas = createDeltas();
    expect([10, 15, 3, 4].map((value) => deltas.of("a", value))).toEqual([undefined, 5, undefined, 1]);
  });

  test("of one name belong to their owner", () => {
    const deltas = createDeltas();
    for (const [owner, value] of [
      ["a", 10],
      ["b", 100],
    ] as const)
      deltas.of("rx", value, owner);
    expect([deltas.of("rx", 11, "a"), deltas.of("rx", 150, "b"), deltas.of("rx", 5)]).toEqual([1, 50, undefined]);
  });

  test("are forgotten after some rounds of silence", () => {
    const deltas = createDeltas();
    deltas.of("a", 10);
    for (let round = 0; round < 7; round++) deltas.endRound();
    expect(deltas.of("a", 1_000)).toBeUndefined();
  });
});

describe("places", () => {
  test("a new replica takes over the place of the one that went", () => {
    const places = createPlaces();
    const place = (id: string) =>
      places.of({ kind: "deployment", scope: "shop", name: "web" }, { id, ordinal: undefined });
    expect([place("a"), place("b"), place("c")]).toEqual(["0", "1", "2"]);
    places.keep(new Set(["a", "c"]));
    expect([place("d"), place("a"), place("c")]).toEqual(["1", "0", "2"]);
    expect(places.of({ kind: "statefulset", scope: "shop", name: "db" }, { id: "x", ordinal: 4 })).toBe("4");
  });
});

const pod = (more: Partial<PodMeasure>): PodMeasure => ({
  key: { kind: "deployment", scope: "shop", name: "web" },
  ...{ replicaId: "r1", ordinal: undefined, container: "shop-web.r1", id: "id1", at: 0, cpuPercent: 5 },
  ...{ memoryBytes: 100, memoryLimitBytes: 1_000, pids: 3, restarts: 0, detail: {} },
  ...more,
});

describe("pods", () => {
  test("are sampled once per reading, with what was added and their share of time", () => {
    let latest = { at: 1_000, pods: [pod({ at: 1_000, detail: { netRxBytes: 100, throttledMicros: 0 } })] };
    const seen: ReplicaSeen[] = [];
    const key = { kind: "deployment", scope: "shop", name: "web" } as const;
    const collector = createPodCollector(
      { latest: () => latest, replicas: () => [{ key, ready: 1, wanted: 2 }] },
      createPlaces(),
      (one) => seen.push(one),
    );
    const first = valuesOf(collector.collect(1_500) as Sample[]);
    expect(first).toEqual({
      ...{ replicas_ready: 1, replicas_total: 2, cpu_percent: 5, mem_usage_bytes: 100, mem_limit_bytes: 1_000 },
      ...{ pids: 3, net_rx_bytes: 100 },
    });
    expect(seen).toEqual([{ container: "shop-web.r1", ...key, replica: "0", replicaId: "r1", at: 1_500 }]);
    // The same reading again: the engine is away.
    expect(valuesOf(collector.collect(16_500) as Sample[])).toEqual({ replicas_ready: 1, replicas_total: 2 });
    latest = {
      at: 11_000,
      pods: [
        pod({
          ...{ at: 11_000, restarts: 1, detail: { netRxBytes: 150, throttledMicros: 1e6 } },
          probes: { attempts: 4, failures: 1, tookMs: 7 },
        }),
      ],
    };
    expect(valuesOf(collector.collect(31_500) as Sample[])).toMatchObject({
      ...{ net_rx_delta_bytes: 50, restarts: 1, cpu_throttled_percent: 10, probe_ms: 7 },
    });
    latest = { at: 21_000, pods: [pod({ at: 21_000, probes: { attempts: 6, failures: 3, tookMs: 9 } })] };
    expect(valuesOf(collector.collect(46_500) as Sample[])).toMatchObject({
      ...{ probe_attempts: 2, probe_failures: 2, probe_ms: 9 },
    });
  });
});

describe("visitors", () => {
  const row = (requests: number): TakenFigures => ({
    ...{ ingress: "web", scope: "shop", host: "a.example", requests, failed: 0, held: 0, bytesIn: 1, bytesOut: 2 },
    app: { kind: "deployment", scope: "shop", name: "api" },
    byClass: [0, 0, requests, 0, 0, 0],
    latency: createHistogram(),
  });

  test("count for the app that answers, and go on with zeros when nobody comes", () => {
    let taken = [row(4)];
    const collector = createVisitCollector(() => taken);
    const samples = collector.collect(0) as Sample[];
    expect(samples[0]?.series).toMatchObject({ name: "api", labels: { ingress: "web", host: "a.example" } });
    expect(samples.find(({ series }) => series.metric === "req_2xx")?.value).toBe(4);
    taken = [];
    const quiet = collector.collect(1) as Sample[];
    expect(quiet.find(({ series }) => series.metric === "req_count")?.value).toBe(0);
    expect(quiet.some(({ series }) => series.metric === "latency_ms")).toBe(false);
  });

  test("that an hour has not seen have no more samples", () => {
    let taken = [row(1)];
    const collector = createVisitCollector(() => taken);
    collector.collect(0);
    taken = [];
    for (let round = 0; round < 250; round++) collector.collect(round);
    expect(collector.collect(251)).toEqual([]);
  });
});

describe("the server itself", () => {
  test("tells its memory, its CPU and the sizes of its databases", () => {
    plant({ "state.db": "x".repeat(10), "state.db-wal": "y".repeat(5) });
    const own = createOwnCollector({
      databases: { state: join(folder, "state.db"), missing: join(folder, "none.db") },
      archive: () => ({ series: 7, refused: 0 }),
      loopLagMs: () => 3,
    });
    own.collect(0);
    const values = valuesOf(own.collect(15_000) as Sample[]);
    expect(values).toMatchObject({ series: 7, loop_lag_ms: 3, "database_bytes state": 15, samples_refused: 0 });
    expect(values.rss_bytes).toBeGreaterThan(1e6);
    expect(values["database_bytes missing"]).toBeUndefined();
  });

  test("the event loop's longest hold-up is told once", async () => {
    const clock = createFakeClock();
    const stop = new AbortController();
    const watch = createLoopWatch();
    const running = watch.run(clock, stop.signal);
    clock.moveTo(clock.steady() + 1_700);
    await Bun.sleep(0);
    expect(watch.takeMs()).toBe(700);
    expect(watch.takeMs()).toBe(0);
    stop.abort();
    await running;
  });
});
