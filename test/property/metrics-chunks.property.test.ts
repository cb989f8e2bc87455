import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  addDuration,
  createHistogram,
  type Histogram,
  packHistogram,
  quantile,
} from "../../src/base/pure/histogram.ts";
import {
  type Chunk,
  createHistograms,
  createRaw,
  createRolled,
  decodeChunk,
  encodeChunk,
} from "../../src/observability/core/metrics/chunk.ts";
import { type Bucket, bucketAt, type Placed, rollUp } from "../../src/observability/core/metrics/rollup.ts";
import {
  chunkMs,
  coarser,
  rawTier,
  slotOf,
  slotsPerChunk,
  type Tier,
  tiers,
} from "../../src/observability/core/metrics/tiers.ts";

const absent = fc.constant(Number.NaN);
const percent = fc.integer({ min: 0, max: 20_000 }).map((value) => value / 100);
const bytes = fc.integer({ min: 0, max: 2 ** 50 });
const anything = fc.double().map((value) => (Object.is(value, -0) ? 0 : value));
const kindsOfValues = [percent, bytes, anything, fc.constant(7), fc.integer()];
const column = fc
  .constantFrom(...kindsOfValues)
  .chain((value) => fc.array(fc.oneof(value, absent), { minLength: slotsPerChunk, maxLength: slotsPerChunk }))
  .map((values) => Float64Array.from(values));

/** Typed arrays that hold NaN are never equal. */
const plain = (chunk: Chunk) =>
  Object.entries(chunk).map(([name, value]) => [name, value instanceof Float64Array ? [...value] : value]);

test("a raw chunk comes back exactly", () => {
  fc.assert(
    fc.property(column, (values) => {
      expect(plain(decodeChunk(encodeChunk({ form: "raw", values })))).toEqual(plain({ form: "raw", values }));
    }),
  );
});

test("a rolled chunk comes back exactly", () => {
  fc.assert(
    fc.property(column, column, column, column, (sum, min, max, last) => {
      const count = sum.map((value) => (Number.isNaN(value) ? 0 : 4));
      const chunk = { form: "rolled" as const, count, sum, min, max, last };
      expect(plain(decodeChunk(encodeChunk(chunk)))).toEqual(plain(chunk));
    }),
  );
});

const durations = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 30 });

function histogramOf(values: readonly number[]): Histogram {
  const histogram = createHistogram();
  for (const value of values) addDuration(histogram, value);
  return histogram;
}

test("a chunk of histograms comes back exactly", () => {
  fc.assert(
    fc.property(fc.array(durations, { maxLength: slotsPerChunk }), (all) => {
      const chunk = createHistograms();
      all.forEach((values, slot) => {
        if (values.length > 0) chunk.slots[slot] = histogramOf(values);
      });
      const back = decodeChunk(encodeChunk(chunk));
      const packed = (one: typeof chunk) => one.slots.map((slot) => slot && packHistogram(slot));
      expect(back.form === "histogram" && packed(back)).toEqual(packed(chunk));
    }),
  );
});

test("bytes of something else are a RangeError, never a wrong chunk without end", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
      try {
        decodeChunk(noise);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }),
  );
});

/** Samples at their times, over several raw chunks. */
const samples = fc.array(
  fc.record({
    slot: fc.integer({ min: 0, max: slotsPerChunk * 8 - 1 }),
    value: fc.integer({ min: -1_000, max: 1_000 }),
  }),
  { maxLength: 400 },
);

interface Sample {
  slot: number;
  value: number;
}

function rawChunks(all: readonly Sample[]): Placed[] {
  const chunks = new Map<number, ReturnType<typeof createRaw>>();
  for (const { slot, value } of all) {
    const start = Math.floor(slot / slotsPerChunk) * chunkMs(rawTier);
    const chunk = chunks.get(start) ?? createRaw();
    chunks.set(start, chunk);
    chunk.values[slot % slotsPerChunk] = value;
  }
  return [...chunks].map(([start, chunk]) => ({ start, chunk }));
}

function rollAll(tier: Tier, parts: readonly Placed[]): Placed[] {
  const into = coarser(tier);
  if (into === undefined) return [];
  const starts = new Set(parts.map(({ start }) => Math.floor(start / chunkMs(into)) * chunkMs(into)));
  return [...starts].flatMap((start) => {
    const chunk = rollUp(tier, start, parts);
    return chunk === undefined ? [] : [{ start, chunk }];
  });
}

/** The same from the samples themselves. */
function recomputed(tier: Tier, all: readonly Sample[]): Map<number, Bucket> {
  const latest = new Map(all.map(({ slot, value }) => [slot, value]));
  const buckets = new Map<number, Bucket>();
  for (const [slot, value] of [...latest].sort(([a], [b]) => a - b)) {
    const at = Math.floor((slot * rawTier.slotMs) / tier.slotMs) * tier.slotMs;
    const known = buckets.get(at);
    buckets.set(at, {
      count: (known?.count ?? 0) + 1,
      sum: (known?.sum ?? 0) + value,
      min: Math.min(known?.min ?? value, value),
      max: Math.max(known?.max ?? value, value),
      last: value,
    });
  }
  return buckets;
}

test("every tier, rolled up from the one below, equals the same worked out from the samples", () => {
  fc.assert(
    fc.property(samples, (all) => {
      let parts = rawChunks(all);
      for (const tier of tiers.slice(1)) {
        parts = rollAll(tiers[tier.id - 1] ?? rawTier, parts);
        const stored = new Map<number, Bucket>();
        for (const { start, chunk } of parts) {
          for (let slot = 0; slot < slotsPerChunk; slot++) {
            const bucket = bucketAt(chunk, slot);
            if (bucket !== undefined) stored.set(start + slot * tier.slotMs, bucket);
          }
        }
        const sorted = (buckets: Map<number, Bucket>) => [...buckets].sort(([a], [b]) => a - b);
        expect(sorted(stored)).toEqual(sorted(recomputed(tier, all)));
      }
    }),
  );
});

test("a quantile of merged slots is off by at most 1/16 from that of all durations", () => {
  fc.assert(
    fc.property(fc.array(durations, { minLength: 1, maxLength: 40 }), fc.constantFrom(0.5, 0.9, 0.99), (all, share) => {
      const sorted = all.flat().sort((a, b) => a - b);
      if (sorted.length === 0) return;
      const raw = createHistograms();
      all.forEach((values, slot) => {
        if (values.length > 0) raw.slots[slot] = histogramOf(values);
      });
      const rolled = rollUp(rawTier, 0, [{ start: 0, chunk: raw }]);
      const merged = createHistogram();
      if (rolled?.form !== "histogram") throw new Error("not a chunk of histograms");
      for (const slot of rolled.slots)
        for (const [bucket, count] of slot?.counts ?? [])
          merged.counts.set(bucket, (merged.counts.get(bucket) ?? 0) + count);
      merged.total = sorted.length;
      const exact = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? 0;
      const found = quantile(merged, share) ?? Number.NaN;
      expect(found).toBeGreaterThanOrEqual(exact);
      expect(found).toBeLessThanOrEqual(exact + exact / 16 + 1);
    }),
  );
});

test("slots of a tier begin at multiples of their length", () => {
  for (const tier of tiers) expect(slotOf(tier, chunkMs(tier) * 5 + tier.slotMs * 7)).toBe(7);
  expect(createRolled().count.length).toBe(slotsPerChunk);
});
