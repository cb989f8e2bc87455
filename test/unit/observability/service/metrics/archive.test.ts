import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addDuration, createHistogram } from "../../../../../src/base/pure/histogram.ts";
import { createLog } from "../../../../../src/base/words/log.ts";
import { metricLimits } from "../../../../../src/config/metric-limits.ts";
import { planQuery } from "../../../../../src/observability/core/metrics/plan.ts";
import type { Sample, Series } from "../../../../../src/observability/core/metrics/series.ts";
import {
  type Archive,
  type ArchiveLimits,
  openArchive,
} from "../../../../../src/observability/service/metrics/archive.ts";
import type { MetricQuestion } from "../../../../../src/observability/service/metrics/query.ts";
import { createFakeClock, type FakeClock } from "../../../../support/fake-clock.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const folders: string[] = [];
const open: Archive[] = [];
afterEach(() => {
  for (const archive of open.splice(0)) archive.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

interface World {
  clock: FakeClock;
  file: string;
  archive: Archive;
  logged: string[];
  /** Opens again what was closed, or was killed. */
  again(): World;
  /** Samples each 15 s for `ms`, then tends once an hour. */
  live(ms: number, samples: (at: number) => Sample[]): Promise<void>;
}

function world(limits: Partial<ArchiveLimits> = {}, before?: World, free = () => 1e12): World {
  const folder = before === undefined ? mkdtempSync(join(tmpdir(), "metrics-")) : undefined;
  if (folder !== undefined) folders.push(folder);
  const clock = before?.clock ?? createFakeClock();
  const file = before?.file ?? join(folder ?? "", "metrics.db");
  const logged: string[] = [];
  const log = createLog((line) => logged.push(JSON.parse(line).message));
  const archive = openArchive({
    ...{ file, clock, log, freeBytes: free },
    pause: () => Promise.resolve(),
    limits: { ...metricLimits, ...limits },
  });
  open.push(archive);
  const made: World = {
    ...{ clock, file, archive, logged },
    again: () => world(limits, made, free),
    async live(ms, samples) {
      const end = clock.steady() + ms;
      while (clock.steady() < end) {
        archive.record(clock.now(), samples(clock.now()));
        clock.moveTo(clock.steady() + 15_000);
        if (clock.now() % hour < 15_000) {
          clock.moveTo(clock.steady() + 30_000);
          await archive.tend();
        }
      }
    },
  };
  return made;
}

const web: Series = {
  source: "pod",
  kind: "deployment",
  scope: "shop",
  name: "web",
  replica: "0",
  metric: "cpu_percent",
  labels: {},
};

const all: MetricQuestion = {
  source: "pod",
  metric: "cpu_percent",
  aggregate: "avg",
  groupBy: [],
  accepts: () => true,
};

async function ask(one: World, question: Partial<MetricQuestion>, span: { from: number; to: number; step?: number }) {
  const now = one.clock.now();
  const limits = { now, ...metricLimits };
  const plan = planQuery({ from: span.from, to: span.to, stepMs: span.step }, limits);
  if (!plan.ok) throw new Error(plan.error);
  return one.archive.ask({ ...all, ...question }, plan.value);
}

const values = (answer: Awaited<ReturnType<typeof ask>>) =>
  answer.groups.map(({ points }) => points.map(({ value }) => value));

describe("samples", () => {
  test("are there at once, and once more after a kill", async () => {
    const first = world();
    const start = first.clock.now();
    first.archive.record(start, [{ series: web, value: 12.5 }]);
    const span = { from: start, to: start + minute, step: 15_000 };
    expect(values(await ask(first, {}, span))).toEqual([[12.5]]);
    // Nothing is closed: that is how a killed server leaves its files.
    const second = first.again();
    expect(values(await ask(second, {}, span))).toEqual([[12.5]]);
  });

  test("become chunks after their hour, and are the same ones", async () => {
    const one = world();
    const start = one.clock.now();
    await one.live(hour, (at) => [{ series: web, value: (at - start) / 15_000 }]);
    expect(one.archive.store.counts()).toMatchObject({ chunks: { 0: 1 }, tailRows: 0 });
    const answer = await ask(one, {}, { from: start, to: start + hour, step: 15_000 });
    expect(answer.groups[0]?.points).toHaveLength(240);
    expect(answer.groups[0]?.points[239]).toEqual({ at: start + hour - 15_000, value: 239 });
  });

  test("are asked for over the seam of memory, hours, minutes and quarters as if there were none", async () => {
    const one = world();
    const start = one.clock.now();
    await one.live(8 * day, () => [{ series: web, value: 1 }]);
    await one.live(20 * minute, () => [{ series: web, value: 1 }]);
    for (const step of [15 * minute, hour, 6 * hour]) {
      const answer = await ask(one, { aggregate: "count" }, { from: start, to: one.clock.now(), step });
      const points = answer.groups[0]?.points ?? [];
      expect(points.length).toBe(Math.ceil((one.clock.now() - start) / step));
      // Each hour lost the samples of the half minute that the test waits for the chunks.
      for (const { value } of points.slice(0, -1)) expect(value).toBeGreaterThanOrEqual((step / 15_000) * 0.96);
    }
  }, 60_000);

  test("of a counter add up over replicas and time, whatever the step", async () => {
    const one = world();
    const start = one.clock.now();
    const counter = (replica: string): Series => ({ ...web, metric: "net_rx_delta_bytes", replica });
    await one.live(6 * hour, () => [
      { series: counter("0"), value: 150 },
      { series: counter("1"), value: 300 },
    ]);
    const question = { metric: "net_rx_delta_bytes", aggregate: "rate" } as const;
    const rates = values(await ask(one, question, { from: start + hour, to: start + 2 * hour, step: minute }))[0] ?? [];
    expect(rates.at(-5)).toBe(30);
    const byReplica = await ask(
      one,
      { ...question, groupBy: ["replica"] },
      { from: start + 4 * minute, to: start + 6 * minute, step: minute },
    );
    expect(byReplica.groups.map(({ group, points }) => [group.replica, points[0]?.value])).toEqual([
      ["0", 10],
      ["1", 20],
    ]);
  });

  test("of the latency give true percentiles over any span", async () => {
    const one = world();
    const start = one.clock.now();
    const series: Series = {
      ...web,
      source: "ingress",
      replica: "",
      metric: "latency_ms",
      labels: { host: "a.example" },
    };
    const slow = (at: number) => ((at - start) / 15_000) % 10 === 9;
    await one.live(5 * hour, (at) => {
      const histogram = createHistogram();
      for (let n = 0; n < 10; n++) addDuration(histogram, slow(at) ? 900 : 10);
      return [{ series, value: histogram }];
    });
    const answer = async (aggregate: "p50" | "p99") => {
      const question = { source: "ingress", metric: "latency_ms", aggregate } as const;
      return values(await ask(one, question, { from: start, to: start + 4 * hour, step: hour }))[0]?.[0] ?? 0;
    };
    expect(await answer("p50")).toBe(10);
    expect(await answer("p99")).toBeWithin(900, 960);
  });
});

describe("limits", () => {
  test("ten thousand names are refused politely and counted", () => {
    const one = world({ seriesMax: 100 });
    const samples = Array.from({ length: 10_000 }, (_, n) => ({ series: { ...web, metric: `m${n}` }, value: n }));
    one.archive.record(one.clock.now(), samples);
    expect(one.archive.table.size).toBe(100);
    expect(one.archive.table.refused).toBe(9_900);
  });

  test("one app cannot take the room of the others with its own metrics", () => {
    const one = world({ customSeriesPerAppMax: 10 });
    const custom = (name: string) =>
      Array.from({ length: 50 }, (_, n) => ({
        series: { ...web, source: "custom" as const, name, metric: `m${n}` },
        value: n,
      }));
    one.archive.record(one.clock.now(), [...custom("web"), ...custom("api")]);
    expect(one.archive.table.size).toBe(20);
  });

  test("two readings of a counter in one slot add up, also after a kill; of a gauge the last one counts", async () => {
    const own = { ...web, source: "custom" as const };
    const reading = (count: number, level: number) => [
      { series: { ...own, metric: "orders_total" }, value: count },
      { series: { ...own, metric: "queue" }, value: level },
    ];
    const one = world();
    const at = Math.floor(one.clock.now() / 15_000) * 15_000;
    one.archive.record(at, reading(2, 5));
    one.archive.record(at + 4_000, reading(3, 6));
    const again = one.again();
    again.archive.record(at + 9_000, reading(4, 7));
    const [orders, queue] = [...again.archive.table.all()].map(({ id }) => {
      const [chunk] = again.archive.raw(id, { from: at, to: at + 15_000 });
      return chunk?.chunk.form === "raw" ? chunk.chunk.values.filter((value) => !Number.isNaN(value)) : undefined;
    });
    expect([orders, queue]).toEqual([Float64Array.of(9), Float64Array.of(7)]);
  });

  test("age: raw samples go after two days, and minutes are still there", async () => {
    const one = world();
    const start = one.clock.now();
    await one.live(3 * day, () => [{ series: web, value: 2 }]);
    expect(one.archive.store.firstStart({ name: "raw", id: 0, slotMs: 15_000 })).toBeGreaterThan(start + 23 * hour);
    expect(values(await ask(one, {}, { from: start, to: start + 4 * hour, step: minute }))[0]?.[0]).toBe(2);
  }, 60_000);

  test("bytes: detail goes first, and the janitor says so", async () => {
    const one = world({ bytesMax: 500_000 });
    const start = one.clock.now();
    const series = Array.from({ length: 20 }, (_, n) => ({ ...web, name: `web-${n}` }));
    await one.live(2 * day, (at) => series.map((each, n) => ({ series: each, value: Math.sin(at * (n + 1)) * 1e6 })));
    const { bytes, shed } = one.archive.report();
    expect(bytes).toBeLessThanOrEqual(500_000);
    expect(shed).toBeGreaterThan(0);
    expect(one.logged).toContain("metrics shed");
    expect(start).toBeLessThan(one.clock.now());
  }, 60_000);

  test("disk: a full one stores nothing and fails nothing, and goes on when there is room", async () => {
    let free = 1e6;
    const one = world({}, undefined, () => free);
    await one.archive.tend();
    expect(one.archive.report().disk).toBe("full");
    one.archive.record(one.clock.now(), [{ series: web, value: 1 }]);
    expect(one.archive.store.counts().tailRows).toBe(0);
    free = 1e12;
    await one.archive.tend();
    one.archive.record(one.clock.now(), [{ series: web, value: 1 }]);
    expect(one.archive.store.counts().tailRows).toBe(1);
  });
});

describe("a bad day", () => {
  test("a damaged file is set aside and said, and the rest goes on", async () => {
    const one = world();
    one.archive.record(one.clock.now(), [{ series: web, value: 1 }]);
    one.archive.close();
    open.length = 0;
    const bytes = readFileSync(one.file);
    writeFileSync(one.file, bytes.fill(0x61, 0, 4_096));
    const next = one.again();
    expect(existsSync(`${one.file}.damaged`)).toBe(true);
    expect(next.logged).toContain("metrics database set aside, an empty one begins");
    next.archive.record(one.clock.now(), [{ series: web, value: 3 }]);
    const at = one.clock.now();
    expect(values(await ask(next, {}, { from: at, to: at + minute, step: 15_000 }))).toEqual([[3]]);
  });

  test("a clock that jumps to 2030 and back loses no history, and the future goes away", async () => {
    const one = world();
    const start = one.clock.now();
    await one.live(5 * hour, () => [{ series: web, value: 1 }]);
    const years = 4 * 365 * day;
    one.clock.jump(years);
    await one.live(2 * hour, () => [{ series: web, value: 99 }]);
    expect(one.archive.report().isClockTrusted).toBe(false);
    one.clock.jump(-years);
    await one.live(26 * hour, () => [{ series: web, value: 1 }]);
    expect(one.archive.report().isClockTrusted).toBe(true);
    const answer = await ask(one, { aggregate: "max" }, { from: start, to: one.clock.now(), step: hour });
    expect(new Set(values(answer)[0])).toEqual(new Set([1]));
    expect(answer.groups[0]?.points[0]?.at).toBe(start);
    expect(one.archive.store.firstStart({ name: "raw", id: 0, slotMs: 15_000 }, start + years / 2)).toBeUndefined();
  }, 60_000);

  test("a clock that goes back an hour fills the same hours again", async () => {
    const one = world();
    const start = one.clock.now();
    await one.live(6 * hour, () => [{ series: web, value: 1 }]);
    one.clock.jump(-hour);
    await one.live(8 * hour, () => [{ series: web, value: 5 }]);
    const answer = await ask(one, { aggregate: "max" }, { from: start, to: start + 10 * hour, step: hour });
    expect(values(answer)[0]?.slice(0, 5)).toEqual([1, 1, 1, 1, 1]);
    expect(values(answer)[0]?.slice(6, 9)).toEqual([5, 5, 5]);
  }, 60_000);

  test("an hour that is sealed again after a kill in the middle is the same hour", async () => {
    const one = world();
    const start = one.clock.now();
    const many = Array.from({ length: 30 }, (_, n) => ({ ...web, name: `web-${n}` }));
    for (let at = start; at < start + hour; at += 15_000) {
      one.archive.record(
        at,
        many.map((series, n) => ({ series, value: n })),
      );
    }
    one.clock.moveTo(start + hour + minute);
    // As if it were killed before the rows went: the chunks of some series are there, and all rows.
    const { store } = one.archive;
    const tier = { name: "raw" as const, id: 0, slotMs: 15_000 };
    store.putChunk(tier, start, { series: 1, chunk: { form: "raw", values: new Float64Array(240).fill(0) } });
    const next = one.again();
    await next.archive.seal();
    expect(next.archive.store.counts()).toMatchObject({ chunks: { 0: 30 }, tailRows: 0 });
    const answer = await ask(next, { aggregate: "sum" }, { from: start, to: start + hour, step: 15_000 });
    expect(values(answer)[0]?.[0]).toBe((29 * 30) / 2);
  });
});
