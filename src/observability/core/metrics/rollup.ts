import { createHistogram, mergeHistogram } from "../../../base/pure/histogram.ts";
import { type Chunk, createHistograms, createRolled, type HistogramChunk, type RolledChunk } from "./chunk.ts";
import { chunkMs, chunkStart, coarser, slotOf, slotsPerChunk, type Tier } from "./tiers.ts";

/** What the samples of one span came to. */
export interface Bucket {
  count: number;
  sum: number;
  min: number;
  max: number;
  last: number;
}

/** A chunk with where it begins. */
export interface Placed<C extends Chunk = Chunk> {
  start: number;
  chunk: C;
}

/** One slot of a chunk; undefined without a sample, and for histograms. */
export function bucketAt(chunk: Chunk, slot: number): Bucket | undefined {
  if (chunk.form === "raw") {
    const value = chunk.values[slot] ?? Number.NaN;
    return Number.isNaN(value) ? undefined : { count: 1, sum: value, min: value, max: value, last: value };
  }
  if (chunk.form === "histogram") return undefined;
  const count = chunk.count[slot] ?? 0;
  if (count === 0) return undefined;
  const { sum, min, max, last } = chunk;
  return { count, sum: at(sum, slot), min: at(min, slot), max: at(max, slot), last: at(last, slot) };
}

const at = (column: Float64Array, slot: number) => column[slot] ?? Number.NaN;

/** The chunk of the next coarser tier that begins at `start`, from all chunks of `tier` within it; undefined when they hold nothing. */
export function rollUp(tier: Tier, start: number, parts: readonly Placed[]): Chunk | undefined {
  const into = coarser(tier);
  if (into === undefined) return undefined;
  const within = parts.filter((part) => chunkStart(into, part.start) === start);
  const histograms = within.flatMap(({ start: from, chunk }) =>
    chunk.form === "histogram" ? [{ start: from, chunk }] : [],
  );
  if (histograms.length > 0) return mergeSlots(tier, into, histograms);
  const rolled = createRolled();
  for (const part of within.toSorted((a, b) => a.start - b.start)) foldInto(rolled, { tier, into }, part);
  return rolled.count.some((count) => count > 0) ? rolled : undefined;
}

function foldInto(rolled: RolledChunk, { tier, into }: { tier: Tier; into: Tier }, { start, chunk }: Placed): void {
  for (let slot = 0; slot < slotsPerChunk; slot++) {
    const bucket = bucketAt(chunk, slot);
    if (bucket === undefined) continue;
    addTo(rolled, slotOf(into, start + slot * tier.slotMs), bucket);
  }
}

/** Buckets come in the order of time. */
function addTo({ count, sum, min, max, last }: RolledChunk, slot: number, bucket: Bucket): void {
  const isFirst = (count[slot] ?? 0) === 0;
  count[slot] = (count[slot] ?? 0) + bucket.count;
  sum[slot] = isFirst ? bucket.sum : at(sum, slot) + bucket.sum;
  min[slot] = isFirst ? bucket.min : Math.min(at(min, slot), bucket.min);
  max[slot] = isFirst ? bucket.max : Math.max(at(max, slot), bucket.max);
  last[slot] = bucket.last;
}

function mergeSlots(tier: Tier, into: Tier, parts: readonly Placed<HistogramChunk>[]): HistogramChunk {
  const merged = createHistograms();
  for (const { start, chunk } of parts) {
    chunk.slots.forEach((histogram, slot) => {
      if (histogram === undefined) return;
      const place = slotOf(into, start + slot * tier.slotMs);
      const known = merged.slots[place] ?? createHistogram();
      mergeHistogram(known, histogram);
      merged.slots[place] = known;
    });
  }
  return merged;
}

/** `over` on top of `under`, slot by slot: a clock that was set back fills the same slots again. */
export function overlay(under: Chunk, over: Chunk): Chunk {
  if (under.form === "histogram" && over.form === "histogram") {
    return { form: "histogram", slots: over.slots.map((slot, place) => slot ?? under.slots[place]) };
  }
  if (under.form === "raw" && over.form === "raw") {
    return {
      form: "raw",
      values: over.values.map((value, slot) => (Number.isNaN(value) ? at(under.values, slot) : value)),
    };
  }
  return over;
}

/** Chunks of the finer tier that a chunk of the coarser one is made of, by where they begin. */
export function partsOf(tier: Tier, start: number): number[] {
  const into = coarser(tier);
  if (into === undefined) return [];
  return Array.from({ length: chunkMs(into) / chunkMs(tier) }, (_, index) => start + index * chunkMs(tier));
}
