import type { Signal } from "./shapes.ts";
import type { OtlpMetric, OtlpMetrics, OtlpPair } from "./model.ts";
import { explicitBuckets, exponentialBuckets, type RawBuckets } from "./metric-buckets.ts";
import { valueText } from "./values.ts";

/** A data point as the store of metrics takes it: with a name that says its type. */
export interface MetricPoint {
  metric: string;
  labels: Record<string, string>;
  /** Epoch milliseconds from when on a cumulative value counts; 0 where that is not said. */
  startMs: number;
  reading:
    | { type: "gauge"; value: number }
    | { type: "counter"; value: number; cumulative: boolean }
    | { type: "histogram"; buckets: RawBuckets; cumulative: boolean };
}

export interface ReadPoints {
  points: MetricPoint[];
  rejected: number;
  /** Why, without repetitions. */
  reasons: Set<string>;
}

export interface PointLimits {
  labelsMax: number;
  labelCharactersMax: number;
  bucketsMax: number;
}

const temporality = { delta: 1, cumulative: 2 } as const;
/** Bit 0 of the flags: the series has ended, and there is no value. */
const noValue = 1;

/** All data points of a request. What the store has no form for is counted as rejected. */
export function pointsOf(request: OtlpMetrics, limits: PointLimits): ReadPoints {
  const read: ReadPoints = { points: [], rejected: 0, reasons: new Set() };
  for (const { scopeMetrics = [] } of request.resourceMetrics ?? [])
    for (const { metrics = [] } of scopeMetrics) for (const metric of metrics) addMetric(read, metric, limits);
  return read;
}

/** How many points, records or spans a request of this kind counts in an answer. */
export const itemWord: Readonly<Record<Signal, string>> = {
  metrics: "data points",
  logs: "log records",
  traces: "spans",
};

function addMetric(read: ReadPoints, metric: OtlpMetric, limits: PointLimits): void {
  const name = storedName(metric.name ?? "");
  if (name === "") return void reject(read, "a metric has no name", metric);
  const add = (ending: Ending, point: { attributes?: OtlpPair[]; startTimeUnixNano?: number }, reading: Reading) => {
    if (reading.type !== "histogram" && !Number.isFinite(reading.value)) {
      read.rejected += 1;
      read.reasons.add(`${name}: a value is not a number`);
      return;
    }
    read.points.push({
      metric: named(name, ending),
      labels: labelsOf(point.attributes, limits),
      startMs: Math.floor((point.startTimeUnixNano ?? 0) / 1e6),
      reading,
    });
  };
  for (const point of alive(metric.gauge?.dataPoints)) add("", point, { type: "gauge", value: numberOf(point) });
  addSum(read, metric, add);
  addHistograms(read, metric, { name, add, limits });
  for (const point of alive(metric.summary?.dataPoints)) {
    add("_count_total", point, { type: "counter", value: point.count ?? 0, cumulative: true });
    if (point.sum !== undefined) add("_sum_total", point, { type: "counter", value: point.sum, cumulative: true });
    for (const { quantile = 0, value = Number.NaN } of point.quantileValues ?? []) {
      // The quantile has a place of its own among the labels, however many there are.
      const attributes = [
        ...(point.attributes ?? []).slice(0, limits.labelsMax - 1),
        { key: "quantile", value: { doubleValue: quantile } },
      ];
      add("", { ...point, attributes }, { type: "gauge", value });
    }
  }
}

type Reading = MetricPoint["reading"];
type Ending = "" | "_total" | "_histogram" | "_ms_histogram" | "_count_total" | "_sum_total";
type Add = (ending: Ending, point: { attributes?: OtlpPair[]; startTimeUnixNano?: number }, reading: Reading) => void;

function addSum(read: ReadPoints, { name = "", sum }: OtlpMetric, add: Add): void {
  if (sum === undefined) return;
  const cumulative = sum.aggregationTemporality === temporality.cumulative;
  for (const point of alive(sum.dataPoints)) {
    const value = numberOf(point);
    if (sum.isMonotonic === true && value < 0) {
      read.rejected += 1;
      read.reasons.add(`${name}: a counter is negative`);
    } else if (sum.isMonotonic === true) add("_total", point, { type: "counter", value, cumulative });
    // What goes up and down is a level, as long as all of it is sent.
    else if (cumulative) add("", point, { type: "gauge", value });
    else {
      read.rejected += 1;
      read.reasons.add(`${name}: a sum that goes up and down needs cumulative temporality`);
    }
  }
}

function addHistograms(
  read: ReadPoints,
  metric: OtlpMetric,
  { name, add, limits }: { name: string; add: Add; limits: PointLimits },
): void {
  const scale = millisecondsIn[metric.unit ?? ""];
  const ending = scale === undefined ? "_histogram" : "_ms_histogram";
  const refuse = () => {
    read.rejected += 1;
    read.reasons.add(`${name}: a histogram has no order in its buckets, or more than ${limits.bucketsMax}`);
  };
  const addOne = (point: { attributes?: OtlpPair[] }, buckets: RawBuckets | undefined, kind: number | undefined) => {
    if (buckets === undefined) refuse();
    else add(ending, point, { type: "histogram", buckets, cumulative: kind === temporality.cumulative });
  };
  for (const point of alive(metric.histogram?.dataPoints))
    addOne(point, explicitBuckets(point, scale ?? 1, limits.bucketsMax), metric.histogram?.aggregationTemporality);
  for (const point of alive(metric.exponentialHistogram?.dataPoints)) {
    const buckets = exponentialBuckets(point, scale ?? 1, limits.bucketsMax);
    addOne(point, buckets, metric.exponentialHistogram?.aggregationTemporality);
  }
}

/** Units of time as UCUM writes them; a histogram of one is kept in milliseconds. */
const millisecondsIn: Readonly<Record<string, number>> = {
  s: 1_000,
  ms: 1,
  us: 1e-3,
  ns: 1e-6,
  min: 60_000,
  h: 3_600_000,
};

function alive<P extends { flags?: number }>(points: readonly P[] | undefined): P[] {
  return (points ?? []).filter(({ flags = 0 }) => flags % 2 !== noValue);
}

const numberOf = ({ asDouble, asInt }: { asDouble?: number; asInt?: number }) => asDouble ?? asInt ?? 0;

function reject(read: ReadPoints, reason: string, metric: OtlpMetric): void {
  const kinds = [metric.gauge, metric.sum, metric.histogram, metric.exponentialHistogram, metric.summary];
  read.rejected += kinds.reduce((sum, kind) => sum + (kind?.dataPoints?.length ?? 0), 0);
  read.reasons.add(reason);
}

const nameCharactersMax = 255;

/** What a question can name: without commas, spaces and quotes. */
function storedName(name: string): string {
  return name.slice(0, nameCharactersMax).replaceAll(/[^\w./:-]/g, "_");
}

/** The ending of a name says its type, so one that only looks like it gets another. */
function named(name: string, ending: Ending): string {
  if (ending === "") return /_(?:total|histogram)$/.test(name) ? `${name}_value` : name;
  const stem = name.replace(/_(?:total|histogram)$/, "");
  return `${stem}${ending}`;
}

/** Words that questions have for the app itself. */
const taken = new Set(["app", "kind", "scope", "name", "replica"]);

function labelsOf(attributes: readonly OtlpPair[] | undefined, { labelsMax, labelCharactersMax }: PointLimits) {
  const labels: Record<string, string> = {};
  for (const { key = "", value } of (attributes ?? []).slice(0, labelsMax)) {
    const plain = key.slice(0, labelCharactersMax).replaceAll(/[^\w./:-]/g, "_");
    const name = taken.has(plain) ? `attribute.${plain}` : plain;
    if (name !== "") labels[name] = valueText(value).slice(0, labelCharactersMax);
  }
  return labels;
}
