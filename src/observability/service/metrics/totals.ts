import { createHistogram, type Histogram, mergeHistogram } from "../../../base/pure/histogram.ts";
import { typeOf } from "../../core/metrics/catalogue.ts";
import { type Sample, type Series, seriesKey } from "../../core/metrics/series.ts";

/** The newest value of a series as scrapers want it: counters and distributions are sums since the start of the server. */
export interface Total {
  series: Series;
  value: number | Histogram;
}

interface Totals {
  add(samples: readonly Sample[]): void;
  list(): Total[];
}

/** Rounds that a counter stays after its last sample: a scraper must see its end. */
const roundsKept = 20;

export function createTotals(): Totals {
  const known = new Map<string, Total & { round: number }>();
  let round = 0;
  return {
    add(samples) {
      round += 1;
      for (const { series, value } of samples) {
        const key = seriesKey(series);
        const total = known.get(key);
        if (total === undefined) known.set(key, { series, value: sumOf(series, undefined, value), round });
        else [total.value, total.round] = [sumOf(series, total.value, value), round];
      }
      for (const [key, { round: last, series }] of known) {
        if (last === round) continue;
        // Apps send their levels when they like, so those stay as well.
        const isLevel = series.source !== "custom" && typeOf(series.source, series.metric) === "gauge";
        const kept = isLevel ? 0 : roundsKept;
        if (round - last > kept) known.delete(key);
      }
    },
    list: () => [...known.values()].map(({ series, value }) => ({ series, value })),
  };
}

function sumOf(series: Series, before: Total["value"] | undefined, value: Sample["value"]): Total["value"] {
  if (typeof value !== "number") {
    const sum = createHistogram();
    if (before !== undefined && typeof before !== "number") mergeHistogram(sum, before);
    mergeHistogram(sum, value);
    return sum;
  }
  const isCounter = typeOf(series.source, series.metric) === "counter";
  return isCounter && typeof before === "number" ? before + value : value;
}
