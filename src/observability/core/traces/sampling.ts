import { addDuration, createHistogram, type Histogram, quantile } from "../../../base/pure/histogram.ts";
import { type Bucket, type Rate, takeMany } from "../tokens/bucket.ts";
import type { Span } from "./span.ts";

/** Keeps an app within its share of spans. */
export interface SpanSampler {
  /** What is kept of a batch: all of it, or whole traces while the share lasts. `now`: of a steady clock. */
  keep(spans: readonly Span[], now: number): Span[];
}

/** Durations after which older ones count half. */
const durationsMax = 10_000;
const slowShare = 0.95;

/**
 * When an app is over its share, traces with an error stay first, then slow ones, then those with the lowest ids: the
 * same in every batch and in every app, so that what stays is whole.
 */
export function createSpanSampler(rate: Rate): SpanSampler {
  let bucket: Bucket | undefined;
  let durations = createHistogram();

  return {
    keep(spans, now) {
      const slowMs = quantile(durations, slowShare) ?? Number.POSITIVE_INFINITY;
      for (const { parent, durationUs } of spans) if (parent === "") addDuration(durations, durationUs / 1_000);
      if (durations.total > durationsMax) durations = halved(durations);
      const all = takeMany(bucket, rate, { now, count: spans.length });
      bucket = all.bucket;
      if (all.waitMs === undefined) return [...spans];
      const traces = [...Map.groupBy(spans, ({ trace }) => trace)];
      const ranked = traces
        .map(([trace, own]) => ({ trace, own, rank: rankOf(own, slowMs) }))
        .sort((a, b) => a.rank - b.rank || (a.trace < b.trace ? -1 : 1));
      const kept: Span[] = [];
      for (const { own } of ranked) {
        const taken = takeMany(bucket, rate, { now, count: own.length });
        bucket = taken.bucket;
        if (taken.waitMs !== undefined) break;
        kept.push(...own);
      }
      return kept;
    },
  };
}

function rankOf(spans: readonly Span[], slowMs: number): number {
  if (spans.some(({ error }) => error)) return 0;
  return spans.some(({ durationUs }) => durationUs / 1_000 >= slowMs) ? 1 : 2;
}

function halved({ counts }: Histogram): Histogram {
  const half = createHistogram();
  for (const [bucket, count] of counts) {
    const less = Math.floor(count / 2);
    if (less === 0) continue;
    half.counts.set(bucket, less);
    half.total += less;
  }
  return half;
}
