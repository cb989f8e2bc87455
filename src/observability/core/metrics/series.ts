import type { Histogram } from "../../../base/pure/histogram.ts";

/** What is measured of what. A replica is a place ("0", "1", …), so that its history goes on after a deploy. */
export interface Series {
  /** See `catalogue.ts`; `custom` for what an app sends itself. */
  source: Source;
  /** Kind of the app; empty for what belongs to none. */
  kind: string;
  scope: string;
  name: string;
  /** Empty for what is measured of the app as a whole. */
  replica: string;
  metric: string;
  labels: Readonly<Record<string, string>>;
}

export const sources = ["system", "pod", "app", "ingress", "server", "custom"] as const;
export type Source = (typeof sources)[number];

/** One sample: a number, or a distribution of what happened since the sample before. */
export interface Sample {
  series: Series;
  value: number | Histogram;
}

/** Series are values that never change, and those of pods come again every few seconds. */
const keys = new WeakMap<Series, string>();

/** Equal series have equal texts. */
export function seriesKey(series: Series): string {
  const known = keys.get(series);
  if (known !== undefined) return known;
  const key = keyFrom(series);
  keys.set(series, key);
  return key;
}

function keyFrom({ source, kind, scope, name, replica, metric, labels }: Series): string {
  const rows = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([source, kind, scope, name, replica, metric, ...rows.flat()]);
}

/** Reads what `seriesKey` wrote; undefined for a text of something else. */
export function readSeriesKey(key: string): Series | undefined {
  const fields = fieldsOf(key);
  const [source, kind = "", scope = "", name = "", replica = "", metric = ""] = fields;
  const known = sources.find((one) => one === source);
  if (known === undefined || metric === "") return undefined;
  const labels: Record<string, string> = {};
  for (let at = 6; at + 1 < fields.length; at += 2) labels[fields[at] ?? ""] = fields[at + 1] ?? "";
  return { source: known, kind, scope, name, replica, metric, labels };
}

function fieldsOf(key: string): string[] {
  try {
    const parsed: unknown = JSON.parse(key);
    return Array.isArray(parsed) && parsed.every((field) => typeof field === "string") ? parsed : [];
  } catch {
    return [];
  }
}
