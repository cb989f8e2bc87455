import { type Histogram, upperEnd } from "../../../base/pure/histogram.ts";
import { customType, type Metric, metricOf } from "./catalogue.ts";
import type { Series } from "./series.ts";

interface Total {
  series: Series;
  value: number | Histogram;
}

/** Upper ends of the buckets that scrapers get, in milliseconds. */
const bounds = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/**
 * The text format of Prometheus, version 0.0.4. Every name begins with `prefix`; counters end in `_total`, times are
 * seconds. A bucket ends within 1/16 of the bound that it names, because the server counts in buckets of its own. Labels
 * whose names become the same share one, with their values joined by ";".
 */
export function exposition(totals: readonly Total[], prefix: string): string {
  const families = new Map<string, { metric: Metric; rows: Total[] }>();
  for (const total of totals) {
    const { source, metric: own } = total.series;
    const metric = source === "custom" ? customMetric(own) : metricOf(source, own);
    if (metric === undefined) continue;
    const plain = familyName(metric, prefix);
    // Apps choose their names: one can say a type that another has taken.
    const isTaken = (families.get(plain)?.metric.type ?? metric.type) !== metric.type;
    const name = isTaken ? `${plain}_${metric.type}` : plain;
    const family = families.get(name) ?? { metric, rows: [] };
    families.set(name, family);
    family.rows.push(total);
  }
  const texts = [...families].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, family]) => familyText(name, family));
  return texts.join("");
}

/** A metric of an app: its name says what it is. */
function customMetric(name: string): Metric {
  const type = customType(name);
  const unit = name.endsWith("_ms_histogram") ? "milliseconds" : "count";
  const stem = type === "counter" ? name.replace(/_total$/, "") : name.replace(/(?:_ms)?_histogram$/, "");
  return { source: "custom", name: plainWord(stem), type, unit, help: "sent by apps", labels: [] };
}

const plainWord = (text: string) => text.replaceAll(/[^A-Za-z0-9_]/g, "_");

function familyName({ source, name, type, unit }: Metric, prefix: string): string {
  const plain = name.replace("_delta_", "_").replace(/_ms$/, "");
  const seconds = unit === "milliseconds" ? "_seconds" : "";
  return `${prefix}_${source}_${plain}${seconds}${type === "counter" ? "_total" : ""}`;
}

function familyText(name: string, { metric, rows }: { metric: Metric; rows: readonly Total[] }): string {
  const head = [`# HELP ${name} ${metric.help}`, `# TYPE ${name} ${metric.type}`];
  const written = new Set<string>();
  const lines = rows.flatMap(({ series, value }) => {
    const labels = labelsOf(series);
    const text = labelText(labels);
    // `a.b` and `a_b` of one app are the same here, and a scraper refuses a series that comes twice.
    if (written.has(text)) return [];
    written.add(text);
    if (typeof value !== "number") return histogramLines(name, { labels, unit: metric.unit }, value);
    return [`${name}${text} ${numberText(metric.unit === "milliseconds" ? value / 1_000 : value)}`];
  });
  return `${[...head, ...lines].join("\n")}\n`;
}

function histogramLines(
  name: string,
  { labels, unit }: { labels: Labels; unit: Metric["unit"] },
  histogram: Histogram,
): string[] {
  const divisor = unit === "milliseconds" ? 1_000 : 1;
  const sorted = [...histogram.counts].sort(([a], [b]) => a - b);
  const buckets = bounds.map((bound) => {
    const count = sorted.filter(([bucket]) => upperEnd(bucket) <= bound * (17 / 16)).reduce((sum, [, n]) => sum + n, 0);
    return `${name}_bucket${labelText([...labels, ["le", String(bound / divisor)]])} ${count}`;
  });
  const sum = sorted.reduce((total, [bucket, count]) => total + upperEnd(bucket) * count, 0);
  return [
    ...buckets,
    `${name}_bucket${labelText([...labels, ["le", "+Inf"]])} ${histogram.total}`,
    `${name}_sum${labelText(labels)} ${numberText(sum / divisor)}`,
    `${name}_count${labelText(labels)} ${histogram.total}`,
  ];
}

/** `NaN` is spelt as in JavaScript, what has no end is not. */
function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

type Labels = [name: string, value: string][];

function labelsOf({ kind, scope, name, replica, labels }: Series): Labels {
  const own: Labels = [
    ["kind", kind],
    ["scope", scope],
    ["name", name],
    ["replica", replica],
  ];
  const all = new Map(own.filter(([, value]) => value !== ""));
  for (const [label, value] of Object.entries(labels)) {
    const word = labelWord(label);
    const before = all.get(word);
    all.set(word, before === undefined ? value : `${before};${value}`);
  }
  return [...all];
}

/** Names that begin with two underscores are Prometheus's own, and so is `le`. No name begins with a digit. */
function labelWord(label: string): string {
  const word = plainWord(label);
  return /^(?:\d|__|le$)/.test(word) ? `label_${word}` : word;
}

function labelText(labels: Labels): string {
  if (labels.length === 0) return "";
  return `{${labels.map(([name, value]) => `${name}="${escaped(value)}"`).join(",")}}`;
}

const escaped = (value: string) => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
