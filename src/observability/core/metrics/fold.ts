import { createHistogram, type Histogram, mergeHistogram, quantile, upperEnd } from "../../../base/pure/histogram.ts";
import type { aggregates } from "../../api/boards.ts";
import type { MetricType } from "./catalogue.ts";
import type { Chunk } from "./chunk.ts";
import type { Plan } from "./plan.ts";
import { bucketAt } from "./rollup.ts";
import { slotsPerChunk, type Tier } from "./tiers.ts";

export type Aggregate = (typeof aggregates)[number];

const shares: Partial<Record<AnyAggregate, number>> = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99 };

/** `level`: the means of the series added up, which is how much all of them have, or gain per sample. */
export type AnyAggregate = Aggregate | "level";

/** What one series, or several together, came to in each bucket of a plan. */
export interface Folded {
  count: Float64Array;
  sum: Float64Array;
  min: Float64Array;
  max: Float64Array;
  /** Sums over the series of their mean and their last value: levels of several replicas together. */
  level: Float64Array;
  last: Float64Array;
  histograms: (Histogram | undefined)[];
  /** End of the newest slot with a sample; 0 without one. */
  until: number;
}

export function createFolded({ from, to, stepMs }: Plan): Folded {
  const length = Math.max(0, Math.round((to - from) / stepMs));
  const zeros = () => new Float64Array(length);
  return {
    count: zeros(),
    sum: zeros(),
    min: zeros().fill(Number.POSITIVE_INFINITY),
    max: zeros().fill(Number.NEGATIVE_INFINITY),
    level: zeros(),
    last: zeros(),
    histograms: Array.from({ length }, () => undefined),
    until: 0,
  };
}

interface Part {
  tier: Tier;
  start: number;
  chunk: Chunk;
}

/** Adds what a chunk of a series holds of the plan's span. `within`: only slots that begin in it. */
export function foldChunk(
  folded: Folded,
  plan: Plan,
  { tier, start, chunk }: Part,
  within?: { from: number; to: number },
): void {
  const [from, to] = [Math.max(plan.from, within?.from ?? 0), Math.min(plan.to, within?.to ?? plan.to)];
  const first = Math.max(0, Math.floor((from - start) / tier.slotMs));
  const end = Math.min(slotsPerChunk, Math.ceil((to - start) / tier.slotMs));
  for (let slot = first; slot < end; slot++) {
    const at = start + slot * tier.slotMs;
    const place = Math.floor((at - plan.from) / plan.stepMs);
    if (place < 0 || place >= folded.count.length) continue;
    if (foldSlot(folded, place, chunk, slot)) folded.until = Math.max(folded.until, at + tier.slotMs);
  }
}

/** Whether the slot had anything. */
function foldSlot(folded: Folded, place: number, chunk: Chunk, slot: number): boolean {
  if (chunk.form === "histogram") {
    const histogram = chunk.slots[slot];
    if (histogram === undefined) return false;
    const sum = folded.histograms[place] ?? createHistogram();
    mergeHistogram(sum, histogram);
    folded.histograms[place] = sum;
    return true;
  }
  const bucket = bucketAt(chunk, slot);
  if (bucket === undefined) return false;
  folded.count[place] = at(folded.count, place) + bucket.count;
  folded.sum[place] = at(folded.sum, place) + bucket.sum;
  folded.min[place] = Math.min(at(folded.min, place), bucket.min);
  folded.max[place] = Math.max(at(folded.max, place), bucket.max);
  folded.last[place] = bucket.last;
  return true;
}

const at = (column: Float64Array, place: number) => column[place] ?? 0;

/** Once all chunks of one series are folded: its mean is its level. */
export function finishSeries(folded: Folded): void {
  folded.level = folded.sum.map((sum, place) => (at(folded.count, place) === 0 ? 0 : sum / at(folded.count, place)));
}

/** Adds a finished series, or group, to a group. */
export function addFolded(group: Folded, other: Folded): void {
  for (let place = 0; place < group.count.length; place++) {
    const histogram = other.histograms[place];
    if (histogram !== undefined) {
      const sum = group.histograms[place] ?? createHistogram();
      mergeHistogram(sum, histogram);
      group.histograms[place] = sum;
    }
    if (at(other.count, place) === 0) continue;
    group.count[place] = at(group.count, place) + at(other.count, place);
    group.sum[place] = at(group.sum, place) + at(other.sum, place);
    group.min[place] = Math.min(at(group.min, place), at(other.min, place));
    group.max[place] = Math.max(at(group.max, place), at(other.max, place));
    group.level[place] = at(group.level, place) + at(other.level, place);
    group.last[place] = at(group.last, place) + at(other.last, place);
  }
  group.until = Math.max(group.until, other.until);
}

/** One point of a chart. */
export interface Point {
  /** Beginning of its bucket. */
  at: number;
  value: number;
}

/** The buckets that hold something, as points. `undefined` where the aggregate makes no sense for the type. */
export function pointsOf(
  folded: Folded,
  plan: Plan,
  { type, aggregate }: { type: MetricType; aggregate: AnyAggregate },
): Point[] | undefined {
  const worth = type === "histogram" ? histogramValue(aggregate) : numberValue(type, aggregate);
  if (worth === undefined) return undefined;
  const points: Point[] = [];
  for (let place = 0; place < folded.count.length; place++) {
    const begin = plan.from + place * plan.stepMs;
    // The newest bucket is not over: what it holds belongs to the part of it that has passed.
    const seconds = Math.min(plan.stepMs, Math.max(1_000, folded.until - begin)) / 1_000;
    const value = worth(folded, place, seconds);
    if (value !== undefined) points.push({ at: begin, value });
  }
  return points;
}

type Worth = (folded: Folded, place: number, seconds: number) => number | undefined;

function numberValue(type: MetricType, aggregate: AnyAggregate): Worth | undefined {
  const held =
    (value: Worth): Worth =>
    (folded, place, seconds) =>
      at(folded.count, place) === 0 ? undefined : value(folded, place, seconds);
  const isCounter = type === "counter";
  const worths: Partial<Record<AnyAggregate, Worth | undefined>> = {
    level: held((folded, place) => at(folded.level, place)),
    avg: held((folded, place) => at(folded.sum, place) / at(folded.count, place)),
    min: held((folded, place) => at(folded.min, place)),
    max: held((folded, place) => at(folded.max, place)),
    sum: held((folded, place) => at(isCounter ? folded.sum : folded.level, place)),
    last: held((folded, place) => at(folded.last, place)),
    count: held((folded, place) => at(folded.count, place)),
    rate: isCounter ? held((folded, place, seconds) => at(folded.sum, place) / seconds) : undefined,
  };
  return worths[aggregate];
}

function histogramValue(aggregate: AnyAggregate): Worth | undefined {
  const all: typeof shares = { ...shares, min: 0, max: 1 };
  const share = all[aggregate];
  if (share !== undefined) return (folded, place) => quantileOf(folded.histograms[place], share);
  if (aggregate === "avg") return (folded, place) => mean(folded.histograms[place]);
  if (aggregate === "count" || aggregate === "sum") return (folded, place) => folded.histograms[place]?.total;
  if (aggregate !== "rate") return undefined;
  return (folded, place, seconds) => {
    const total = folded.histograms[place]?.total;
    return total === undefined ? undefined : total / seconds;
  };
}

const quantileOf = (histogram: Histogram | undefined, share: number) => histogram && quantile(histogram, share);

function mean(histogram: Histogram | undefined): number | undefined {
  if (histogram === undefined || histogram.total === 0) return undefined;
  let sum = 0;
  for (const [bucket, count] of histogram.counts) sum += middle(bucket) * count;
  return sum / histogram.total;
}

/** Between the largest value of the bucket before and its own. */
function middle(bucket: number): number {
  return bucket === 0 ? 0 : (upperEnd(bucket - 1) + 1 + upperEnd(bucket)) / 2;
}
