import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { telemetryLimits } from "../../../../../src/config/telemetry-limits.ts";
import { decodeJson } from "../../../../../src/observability/core/otlp/json.ts";
import type { OtlpTraces } from "../../../../../src/observability/core/otlp/model.ts";
import { requestShapes } from "../../../../../src/observability/core/otlp/shapes.ts";
import { spansOf } from "../../../../../src/observability/core/otlp/spans.ts";
import { createSpanSampler } from "../../../../../src/observability/core/traces/sampling.ts";
import { partsOf } from "../../../../../src/observability/core/traces/span.ts";
import { treeOf } from "../../../../../src/observability/core/traces/tree.ts";
import { nanos, oneTrace, plenty, text } from "../../../../support/otlp.ts";
import { traceWorld } from "../../../../support/trace-world.ts";

const now = 1_700_000_000_000;
const ids = { traceId: "5b8efff798038103d269b633813fc60c", spanId: "eee19b7ec3c1b174" };

test("spans are kept with bounded attributes; those without ids, and those of another time, are rejected", () => {
  const times = { startTimeUnixNano: nanos(now - 20), endTimeUnixNano: nanos(now - 8) };
  const attributes = Array.from({ length: 100 }, (_, at) => text(`key${at}`, "x".repeat(3_000)));
  const request = oneTrace(
    "storefront",
    { ...ids, ...times, name: "GET /pay", kind: 2, attributes, status: { code: 2, message: "no funds" } },
    { ...ids, ...times, traceId: "00".repeat(16) },
    { ...ids, ...times, spanId: "" },
    { ...ids, startTimeUnixNano: nanos(1_000) },
  );
  const parts = { app: "web", replica: "a1", now, limits: telemetryLimits.room.decode.spans };
  const { spans, rejected } = spansOf(decodeJson(requestShapes.traces, request, plenty()) as OtlpTraces, parts);
  expect(rejected).toBe(3);
  expect(spans).toEqual([
    expect.objectContaining({
      ...{ trace: ids.traceId, id: ids.spanId, parent: "", kind: "server", durationUs: 12_000, error: true },
      ...{ message: "no funds", service: "storefront", replica: "a1" },
    }),
  ]);
  const kept = Object.values(spans[0]?.attributes ?? {});
  expect([kept.length, String(kept[0]).length]).toEqual([65, 1_025]);
});

test("a span that ends in the far future ended now, so that its trace can be stored", () => {
  const times = { startTimeUnixNano: nanos(now - 20), endTimeUnixNano: 1e300 };
  const parts = { app: "web", replica: "a1", now, limits: telemetryLimits.room.decode.spans };
  const request = decodeJson(requestShapes.traces, oneTrace("web", { ...ids, ...times }), plenty());
  const { spans } = spansOf(request as OtlpTraces, parts);
  const [part] = partsOf(spans);
  expect(part?.untilUs).toBe((now + telemetryLimits.room.decode.spans.aheadMs) * 1_000);
});

test("a tree has every span once, each behind its parent, whatever the parents are", () => {
  const span = fc.record({ id: fc.nat(8).map(String), parent: fc.nat(10).map(String), atUs: fc.nat(50) });
  fc.assert(
    fc.property(fc.array(span, { maxLength: 12 }), (spans) => {
      const placed = treeOf(spans);
      expect(placed.map(({ span: { id } }) => id).toSorted()).toEqual(
        [...new Set(spans.map(({ id }) => id))].toSorted(),
      );
      for (const [at, { span: own, depth }] of placed.entries()) {
        if (depth === 0) continue;
        const parent = placed.slice(0, at).findLast((before) => before.depth === depth - 1);
        expect(parent?.span.id).toBe(own.parent);
      }
    }),
    { numRuns: 300 },
  );
});

describe("over its share of spans", () => {
  const rate = { burst: 1_000, perMinute: 60 };

  test("an app keeps whole traces, errors first, then slow ones, and the same ones in every batch", () => {
    const world = traceWorld(7);
    const sampler = createSpanSampler(rate);
    sampler.keep(world.batch(940), 0);
    const batch = world.batch(600);
    const kept = sampler.keep(batch, 0);
    const sizes = Map.groupBy(batch, ({ trace }) => trace);
    const keptSizes = Map.groupBy(kept, ({ trace }) => trace);
    expect(kept.length).toBeGreaterThan(40);
    expect(kept.length).toBeLessThanOrEqual(60);
    for (const [trace, spans] of keptSizes) expect(spans.length).toBe(sizes.get(trace)?.length ?? 0);
    const failed = partsOf(batch).filter(({ errors }) => errors > 0);
    expect(failed.length).toBeGreaterThan(0);
    for (const { trace } of failed) expect(keptSizes.has(trace)).toBe(true);
  });

  test("nothing is left out below it, and the share fills again", () => {
    const world = traceWorld(3);
    const sampler = createSpanSampler(rate);
    expect(sampler.keep(world.batch(500), 0).length).toBeGreaterThanOrEqual(500);
    sampler.keep(world.batch(500), 0);
    expect(sampler.keep(world.batch(300), 0).length).toBeLessThan(10);
    const later = world.batch(300);
    expect(sampler.keep(later, 10 * 60_000).length).toBe(later.length);
  });
});
