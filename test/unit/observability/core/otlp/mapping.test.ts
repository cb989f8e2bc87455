import { describe, expect, test } from "bun:test";
import { type Histogram, quantile } from "../../../../../src/base/pure/histogram.ts";
import { telemetryLimits } from "../../../../../src/config/telemetry-limits.ts";
import { createMetricIntake } from "../../../../../src/observability/collect/telemetry/metric-intake.ts";
import { readHistogram, writeHistogram } from "../../../../../src/observability/core/metrics/chunk.ts";
import { createByteReader, createByteWriter } from "../../../../../src/observability/core/metrics/varint.ts";
import { takenAsJson, takenAsProtobuf } from "../../../../../src/observability/core/otlp/answer.ts";
import { linesOf } from "../../../../../src/observability/core/otlp/log-lines.ts";
import { pointsOf } from "../../../../../src/observability/core/otlp/metric-points.ts";
import type { OtlpLogs, OtlpMetrics } from "../../../../../src/observability/core/otlp/model.ts";
import { decodeJson } from "../../../../../src/observability/core/otlp/json.ts";
import { requestShapes } from "../../../../../src/observability/core/otlp/shapes.ts";
import { logRecords, nanos, oneMetric, plenty, text } from "../../../../support/otlp.ts";

const { points: pointLimits, lines: lineLimits } = telemetryLimits.room.decode;
const owner = { kind: "deployment", scope: "shop", name: "web", replica: "0", container: "shop-web.a1" };

function intakeOf({ seriesMax = 100 } = {}) {
  const known = new Set<string>();
  const intake = createMetricIntake({
    admits(series) {
      if (known.size >= seriesMax) return false;
      known.add(JSON.stringify(series));
      return true;
    },
    startedAt: 1_000_000,
    limits: { countersMax: 100, counterKeptMs: 60_000 },
  });
  const send = (metric: Record<string, unknown>, from = owner) => {
    const request = decodeJson(requestShapes.metrics, oneMetric(metric), plenty()) as OtlpMetrics;
    const read = pointsOf(request, pointLimits);
    intake.add(from, read, 2_000_000);
    return { rejected: read.rejected, reasons: [...read.reasons] };
  };
  const values = () => Object.fromEntries(intake.collect(2_000_000).map(({ series, value }) => [series.metric, value]));
  return { intake, send, values };
}

const point = (value: number, more: Record<string, unknown> = {}) => ({ asDouble: value, ...more });
const counter = (value: number, startMs: number, more: Record<string, unknown> = {}) => ({
  name: "orders",
  sum: {
    isMonotonic: true,
    aggregationTemporality: 2,
    dataPoints: [point(value, { startTimeUnixNano: nanos(startMs) })],
    ...more,
  },
});

describe("metrics", () => {
  test("a gauge keeps its last value, and its name a word that is not of a counter", () => {
    const { send, values } = intakeOf();
    send({ name: "queue.length", gauge: { dataPoints: [point(3), { asInt: "7" }] } });
    send({ name: "seen_total", gauge: { dataPoints: [point(1)] } });
    expect(values()).toEqual({ "queue.length": 7, seen_total_value: 1 });
    expect(values()).toEqual({});
  });

  test("a cumulative counter is what was added; a restart and a first reading of an older one are known", () => {
    const { send, values } = intakeOf();
    send(counter(5, 500_000));
    expect(values()).toEqual({});
    send(counter(9, 500_000));
    send(counter(12, 500_000));
    expect(values()).toEqual({ orders_total: 7 });
    send(counter(2, 1_500_000));
    expect(values()).toEqual({ orders_total: 2 });
    // A counter that went back without saying so.
    send(counter(1, 1_500_000));
    expect(values()).toEqual({ orders_total: 1 });
    // Another container counts from its own beginning.
    send(counter(4, 1_600_000), { ...owner, container: "shop-web.b2" });
    expect(values()).toEqual({ orders_total: 4 });
  });

  test("deltas add up; a sum that goes up and down is a gauge, and refused as deltas", () => {
    const { send, values } = intakeOf();
    for (const value of [1, 2]) send(counter(value, 0, { aggregationTemporality: 1 }));
    send({ name: "open", sum: { aggregationTemporality: 2, dataPoints: [point(-2)] } });
    expect(values()).toEqual({ orders_total: 3, open: -2 });
    const { rejected, reasons } = send({ name: "open", sum: { aggregationTemporality: 1, dataPoints: [point(1)] } });
    expect([rejected, reasons]).toEqual([1, ["open: a sum that goes up and down needs cumulative temporality"]]);
  });

  test("a histogram of seconds is kept in milliseconds, as what was added", () => {
    const { send, values } = intakeOf();
    const histogram = (counts: number[]) => ({
      name: "http.server.request.duration",
      unit: "s",
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [{ startTimeUnixNano: nanos(2_000_000), explicitBounds: [0.1, 0.5], bucketCounts: counts, max: 2 }],
      },
    });
    send(histogram([1, 0, 0]));
    send(histogram([1, 8, 1]));
    const found = values()["http.server.request.duration_ms_histogram"];
    if (found === undefined || typeof found === "number") throw new Error("no histogram");
    expect(found.total).toBe(10);
    expect([0.1, 0.5, 1].map((share) => Math.round((quantile(found, share) ?? 0) / 50) * 50)).toEqual([
      100, 500, 2_050,
    ]);
  });

  test("exponential buckets that become coarser in between are still subtracted", () => {
    const { send, values } = intakeOf();
    const histogram = (scale: number, offset: number, counts: number[]) => ({
      name: "size",
      unit: "By",
      exponentialHistogram: {
        aggregationTemporality: 2,
        dataPoints: [{ startTimeUnixNano: nanos(500_000), scale, positive: { offset, bucketCounts: counts } }],
      },
    });
    send(histogram(1, 4, [2, 3]));
    send(histogram(0, 2, [6]));
    const found = values().size_histogram;
    expect(found !== undefined && typeof found !== "number" && [...found.counts.values()]).toEqual([1]);
  });

  test("counts and bounds that are no numbers of anything are written in a few bytes, and end", () => {
    const { send, values } = intakeOf();
    const histogram = (dataPoint: object) => ({
      name: "odd",
      histogram: { aggregationTemporality: 1, dataPoints: [dataPoint] },
    });
    const huge = { bucketCounts: [1.7e308, 1.7e308, 1.7e308], explicitBounds: [0.1, 0.2] };
    expect(send(histogram(huge)).rejected).toBe(0);
    expect(send(histogram(huge)).rejected).toBe(0);
    expect(send(histogram({ bucketCounts: [2, 2], explicitBounds: ["NaN"] })).rejected).toBe(1);
    expect(send(histogram({ bucketCounts: [0, 2], explicitBounds: [1], max: "NaN" })).rejected).toBe(0);
    const sum = values().odd_histogram as Histogram;
    expect([...sum.counts.keys()].filter((bucket) => bucket < 0)).toEqual([]);
    expect(sum.total).toBe(Number.MAX_SAFE_INTEGER);
    const writer = createByteWriter();
    writeHistogram(writer, sum);
    expect(readHistogram(createByteReader(writer.done()))).toEqual(sum);
  });

  test("over the cap of series the rest is rejected with a reason, and held nowhere", () => {
    const { intake, send } = intakeOf({ seriesMax: 10 });
    const dataPoints = Array.from({ length: 50 }, (_, id) => point(1, { attributes: [text("user", `u${id}`)] }));
    const { rejected, reasons } = send({ name: "logins", gauge: { dataPoints } });
    expect([rejected, reasons]).toEqual([40, ["the app has too many series of its own: use fewer attributes"]]);
    expect(intake.collect(0).length).toBe(10);
  });

  test("labels are bounded, and never named as the fields of a question", () => {
    const attributes = [text("name", "x"), text("route", "/a".repeat(100)), text("a,b", "1")];
    const request = oneMetric({ name: "m", gauge: { dataPoints: [point(1, { attributes })] } });
    const [found] = pointsOf(decodeJson(requestShapes.metrics, request, plenty()), pointLimits).points;
    expect(found?.labels).toEqual({ "attribute.name": "x", route: "/a".repeat(60), a_b: "1" });
  });
});

test("log records are lines with a level, and with fields where they have any", () => {
  const source = { id: "otlp c1", pod: "shop-web.a1", replica: "a1", release: "", role: "" };
  const now = 1_700_000_000_000;
  const request = logRecords(
    { timeUnixNano: nanos(now - 5), severityNumber: 17, body: { stringValue: "it broke" }, traceId: "ab".repeat(16) },
    { timeUnixNano: nanos(1), severityText: "WARN", body: { stringValue: "two\nlines" } },
    { body: { kvlistValue: { values: [text("event", "paid")] } }, attributes: [text("order", "7")] },
  );
  const lines = linesOf(decodeJson(requestShapes.logs, request, plenty()) as OtlpLogs, {
    source,
    now,
    limits: lineLimits,
  });
  expect(lines.map(({ at, level, text: words }) => [now - at, level, JSON.parse(words)])).toEqual([
    [5, "error", { message: "it broke", logger: "app", trace_id: "ab".repeat(16) }],
    [0, "warn", { message: "two\nlines", logger: "app" }],
    [0, "none", { event: "paid", order: "7", logger: "app" }],
  ]);
});

test("an answer is empty when everything was kept, and else says how much was not", () => {
  expect([
    takenAsJson("logs", { rejected: 0, message: "" }),
    takenAsProtobuf({ rejected: 0, message: "" }).length,
  ]).toEqual([{}, 0]);
  const taken = { rejected: 300, message: "no" };
  expect(takenAsJson("metrics", taken)).toEqual({
    partialSuccess: { rejectedDataPoints: "300", errorMessage: "no" },
  });
  expect([...takenAsProtobuf(taken)]).toEqual([0x0a, 7, 0x08, 0xac, 0x02, 0x12, 2, 110, 111]);
});
