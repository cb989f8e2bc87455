import { createHistogram, type Histogram, mergeHistogram } from "../../../base/pure/histogram.ts";
import { bucketsSince, type RawBuckets, storedHistogram } from "../../core/otlp/metric-buckets.ts";
import type { MetricPoint, ReadPoints } from "../../core/otlp/metric-points.ts";
import { type Sample, type Series, seriesKey } from "../../core/metrics/series.ts";
import type { Collector } from "../metrics/collector.ts";

/** Whose points they are. */
interface PointOwner {
  kind: string;
  scope: string;
  name: string;
  /** The place of the replica; empty for what is not a replica. */
  replica: string;
  /** The container: a counter of its successor starts again. */
  container: string;
}

/** Takes data points of apps, and hands them to the next round of samples. */
export interface MetricIntake extends Collector {
  /** What was not kept is added to `rejected` and `reasons`. */
  add(owner: PointOwner, read: ReadPoints, now: number): void;
  collect(at: number): Sample[];
}

interface IntakeParts {
  /** Whether the store has room for this series; it then counts as one. */
  admits: (series: Series, at: number) => boolean;
  /** Counters that began later than this are known from their beginning. */
  startedAt: number;
  limits: { countersMax: number; counterKeptMs: number };
}

interface Counter {
  startMs: number;
  value: number | RawBuckets;
  seenAt: number;
}

export function createMetricIntake({ admits, startedAt, limits }: IntakeParts): MetricIntake {
  const pending = new Map<string, Sample>();
  const counters = new Map<string, Counter>();

  /** What a cumulative reading says since the one before; undefined for the first of a series that is older than we are. */
  function since(key: string, { startMs, reading }: MetricPoint, now: number): number | RawBuckets | undefined {
    const value = reading.type === "histogram" ? reading.buckets : reading.value;
    const before = counters.get(key);
    counters.delete(key);
    counters.set(key, { startMs, value, seenAt: now });
    if (before === undefined) {
      const [oldest] = counters.size > limits.countersMax ? counters.keys() : [];
      if (oldest !== undefined) counters.delete(oldest);
      return startMs >= startedAt ? value : undefined;
    }
    if (startMs > before.startMs) return value;
    if (typeof value === "number") {
      return typeof before.value === "number" && value >= before.value ? value - before.value : value;
    }
    return typeof before.value === "number" ? value : (bucketsSince(value, before.value) ?? value);
  }

  function keep(series: Series, key: string, point: MetricPoint): void {
    const { reading } = point;
    if (reading.type === "gauge") return void pending.set(key, { series, value: reading.value });
    const known = pending.get(key)?.value;
    const gained = reading.type === "counter" ? reading.value : storedHistogram(reading.buckets);
    pending.set(key, { series, value: sumOf(known, gained) });
  }

  return {
    name: "apps",
    add(owner, read, now) {
      const { container, ...app } = owner;
      for (const point of read.points) {
        const series: Series = { source: "custom", ...app, metric: point.metric, labels: point.labels };
        const key = seriesKey(series);
        if (!pending.has(key) && !admits(series, now)) {
          read.rejected += 1;
          read.reasons.add("the app has too many series of its own: use fewer attributes");
          continue;
        }
        const { reading } = point;
        if (reading.type === "gauge" || !reading.cumulative) {
          keep(series, key, point);
          continue;
        }
        const gained = since(`${container} ${key}`, point, now);
        if (gained === undefined) continue;
        if (typeof gained === "number")
          keep(series, key, { ...point, reading: { type: "counter", value: gained, cumulative: false } });
        else keep(series, key, { ...point, reading: { type: "histogram", buckets: gained, cumulative: false } });
      }
    },
    collect(at) {
      const samples = [...pending.values()];
      pending.clear();
      for (const [key, { seenAt }] of counters) {
        if (at - seenAt <= limits.counterKeptMs) break;
        counters.delete(key);
      }
      return samples;
    },
  };
}

function sumOf(known: number | Histogram | undefined, gained: number | Histogram): number | Histogram {
  if (typeof gained === "number") return typeof known === "number" ? known + gained : gained;
  const sum = createHistogram();
  if (known !== undefined && typeof known !== "number") mergeHistogram(sum, known);
  mergeHistogram(sum, gained);
  return sum;
}
