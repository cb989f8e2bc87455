/**
 * Durations in whole milliseconds, counted in buckets that grow with the value: exact below 32 ms, then within 1/16
 * (6 %) of the value. Histograms of the same kind are merged by adding their counts, so quantiles over many replicas
 * or minutes are those of all requests together.
 */
export interface Histogram {
  /** Bucket number → count. Only buckets that hold something. */
  counts: Map<number, number>;
  total: number;
}

/** About 24 days; longer durations are counted as this. */
const valueMax = 2 ** 31 - 1;

const subBucketBits = 4;
const subBuckets = 2 ** subBucketBits;

export function createHistogram(): Histogram {
  return { counts: new Map(), total: 0 };
}

export function addDuration(histogram: Histogram, ms: number): void {
  addCounts(histogram, bucketOf(ms), 1);
}

/** Adds `count` durations of the same length. */
export function addValues(histogram: Histogram, ms: number, count: number): void {
  addCounts(histogram, bucketOf(ms), count);
}

/** Beyond it counts are not exact. Apps say what they like, and no sum of counts may become infinite. */
const countMax = Number.MAX_SAFE_INTEGER;

/** Adds `count` durations of one bucket. */
export function addCounts(histogram: Histogram, bucket: number, count: number): void {
  histogram.counts.set(bucket, Math.min(countMax, (histogram.counts.get(bucket) ?? 0) + count));
  histogram.total = Math.min(countMax, histogram.total + count);
}

/** Adds the counts of `other` to `histogram`. */
export function mergeHistogram(histogram: Histogram, other: Histogram): void {
  for (const [bucket, count] of other.counts) addCounts(histogram, bucket, count);
}

/**
 * The smallest duration that at least `share` of all do not exceed (0.5: the median), as the upper end of its bucket.
 * Undefined for an empty histogram.
 */
export function quantile(histogram: Histogram, share: number): number | undefined {
  if (histogram.total === 0) return undefined;
  const rank = Math.max(1, Math.ceil(share * histogram.total));
  let seen = 0;
  let last: number | undefined;
  for (const bucket of [...histogram.counts.keys()].sort((a, b) => a - b)) {
    seen += histogram.counts.get(bucket) ?? 0;
    last = upperEnd(bucket);
    if (seen >= rank) return last;
  }
  return last;
}

/** Buckets and counts in turns, for storing: `[3, 10, 40, 1]`. */
export function packHistogram(histogram: Histogram): number[] {
  return [...histogram.counts].sort(([a], [b]) => a - b).flat();
}

/** The bucket that counts a duration. */
function bucketOf(ms: number): number {
  // Also false for a value that is not a number.
  const value = ms > 0 ? Math.min(valueMax, Math.floor(ms)) : 0;
  if (value < 2 * subBuckets) return value;
  const shift = 31 - Math.clz32(value) - subBucketBits;
  return shift * subBuckets + (value >>> shift);
}

/** Largest value of a bucket. */
export function upperEnd(bucket: number): number {
  if (bucket < 2 * subBuckets) return bucket;
  const shift = Math.floor(bucket / subBuckets) - 1;
  const first = (bucket - shift * subBuckets) * 2 ** shift;
  return first + 2 ** shift - 1;
}
