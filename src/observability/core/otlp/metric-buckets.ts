import { addValues, createHistogram, type Histogram } from "../../../base/pure/histogram.ts";
import type { ExponentialPoint, HistogramPoint } from "./model.ts";

/** Buckets as an app has them. Two sets of the same layout can be subtracted. */
export interface RawBuckets {
  /** Equal layouts have equal texts. */
  layout: string;
  /** For exponential buckets: how fine they are. */
  scale?: number;
  /** Bucket → how many values. */
  counts: Map<number, number>;
  /** The largest value that a bucket holds. */
  upper: (bucket: number) => number;
}

/** Undefined for bounds without order, and for more than `bucketsMax`. `unit`: what a value is multiplied with. */
export function explicitBuckets(point: HistogramPoint, unit: number, bucketsMax: number): RawBuckets | undefined {
  const { bucketCounts = [], explicitBounds: bounds = [] } = point;
  const isOrdered = bounds.every((bound, index) => bound > (bounds[index - 1] ?? Number.NEGATIVE_INFINITY));
  if (!isOrdered || bounds.length >= bucketsMax) return undefined;
  // Without buckets, all that is known is how many there were.
  const given = bucketCounts.length === 0 ? [...bounds.map(() => 0), point.count ?? 0] : bucketCounts;
  if (given.length !== bounds.length + 1) return undefined;
  const last = Math.max(point.max || 0, bounds.at(-1) ?? 0);
  return {
    layout: bounds.join(" "),
    counts: filled(given.entries()),
    upper: (bucket) => (bounds[bucket] ?? last) * unit,
  };
}

/** Values below zero are counted as zero: what is kept are durations and sizes. */
export function exponentialBuckets(point: ExponentialPoint, unit: number, bucketsMax: number): RawBuckets | undefined {
  const { scale = 0, zeroCount = 0, positive, negative } = point;
  const given = positive?.bucketCounts ?? [];
  const below = (negative?.bucketCounts ?? []).reduce((sum, count) => sum + count, 0);
  if (given.length > bucketsMax || Math.abs(scale) > scaleMax) return undefined;
  const counts = filled(given.map((count, index): [number, number] => [(positive?.offset ?? 0) + index, count]));
  if (zeroCount + below > 0) counts.set(zero, zeroCount + below);
  return exponentialOf(counts, scale, unit);
}

/** The scale of OTLP is from -10 to 20. */
const scaleMax = 32;
const zero = Number.NEGATIVE_INFINITY;

function exponentialOf(counts: Map<number, number>, scale: number, unit: number): RawBuckets {
  const upper = (bucket: number) => (bucket === zero ? 0 : 2 ** ((bucket + 1) * 2 ** -scale) * unit);
  return { layout: `exponential ${scale}`, scale, counts, upper };
}

function filled(entries: Iterable<[number, number]>): Map<number, number> {
  return new Map([...entries].filter(([, count]) => count > 0));
}

/**
 * What came since `before`; undefined where the app counts from the beginning again. Buckets that became coarser in
 * between are compared as coarse ones.
 */
export function bucketsSince(now: RawBuckets, before: RawBuckets): RawBuckets | undefined {
  const known = asFineAs(before, now);
  if (known === undefined || known.layout !== now.layout) return undefined;
  const counts = new Map<number, number>();
  for (const [bucket, count] of known.counts) if ((now.counts.get(bucket) ?? 0) < count) return undefined;
  for (const [bucket, count] of now.counts) {
    const more = count - (known.counts.get(bucket) ?? 0);
    if (more > 0) counts.set(bucket, more);
  }
  return { ...now, counts };
}

function asFineAs(before: RawBuckets, now: RawBuckets): RawBuckets | undefined {
  if (before.scale === undefined || now.scale === undefined) return before;
  const coarser = before.scale - now.scale;
  if (coarser < 0) return undefined;
  const counts = new Map<number, number>();
  for (const [bucket, count] of before.counts) {
    const to = bucket === zero ? zero : Math.floor(bucket / 2 ** coarser);
    counts.set(to, (counts.get(to) ?? 0) + count);
  }
  return { ...now, counts };
}

/** As the store counts: each value as large as the end of its bucket. */
export function storedHistogram({ counts, upper }: RawBuckets): Histogram {
  const histogram = createHistogram();
  for (const [bucket, count] of counts) addValues(histogram, upper(bucket), count);
  return histogram;
}
