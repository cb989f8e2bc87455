import { Failure } from "../../../base/wire/failure.ts";
import { latencyNames, type MetricType, typeOf } from "../../core/metrics/catalogue.ts";
import {
  addFolded,
  type AnyAggregate,
  createFolded,
  finishSeries,
  type Folded,
  foldChunk,
  type Point,
  pointsOf,
} from "../../core/metrics/fold.ts";
import type { Plan } from "../../core/metrics/plan.ts";
import type { Series, Source } from "../../core/metrics/series.ts";
import type { KnownSeries, SeriesTable } from "./series-table.ts";
import type { Span, TierChunk } from "./read.ts";

/** One metric, asked for over a plan. */
export interface MetricQuestion {
  source: Source;
  metric: string;
  /** Undefined: `rate` for counters, `p95` for histograms, else `avg`. */
  aggregate: AnyAggregate | undefined;
  /** Names of what sets groups apart: `app`, `replica`, or a label. */
  groupBy: readonly string[];
  /** Which series count. */
  accepts: (series: Series) => boolean;
  /** Only samples of this span; undefined: all of the plan. */
  within?: Span;
}

export interface GroupAnswer {
  group: Record<string, string>;
  points: Point[];
}

export interface MetricAnswer {
  metric: string;
  aggregate: AnyAggregate;
  groups: GroupAnswer[];
  /** Groups that are left out because there are too many. */
  more: number;
  /** The first instant of which there can be samples; undefined without a series. */
  availableFrom: number | undefined;
}

interface QueryParts {
  table: SeriesTable;
  read: (series: number, plan: Plan) => TierChunk[];
  /** Where the first chunk of the plan's tier, or a finer one, begins. */
  oldest: (plan: Plan) => number | undefined;
  steady: () => number;
  pause: () => Promise<void>;
  limits: { querySeriesMax: number; queryGroupsMax: number; queryTurnMs: number };
}

/** Fails `invalid` for an aggregate that the metric does not have, and for too many series. */
export async function answerMetric(parts: QueryParts, question: MetricQuestion, plan: Plan): Promise<MetricAnswer> {
  const share = question.source === "ingress" ? latencyNames[question.metric] : undefined;
  const metric = share === undefined ? question.metric : "latency_ms";
  const found = matching(parts, { ...question, metric });
  const type = typeOf(question.source, metric);
  const aggregate = share === undefined ? (question.aggregate ?? usual(type)) : latencyAggregate(question.metric);
  const groups = await foldGroups(parts, { found, question, plan });
  const kept = [...groups.values()].slice(0, parts.limits.queryGroupsMax);
  return {
    metric: question.metric,
    aggregate,
    groups: kept.map(({ group, folded }) => ({
      group,
      points: pointsFor(folded, plan, { type, aggregate }, question),
    })),
    more: groups.size - kept.length,
    availableFrom: availableFrom(parts, found, plan),
  };
}

function matching({ table, limits }: QueryParts, { source, metric, accepts }: MetricQuestion): KnownSeries[] {
  const found: KnownSeries[] = [];
  for (const known of table.all()) {
    const { series } = known;
    if (series.source !== source || series.metric !== metric || !accepts(series)) continue;
    found.push(known);
    if (found.length > limits.querySeriesMax) {
      throw new Failure("invalid", `"${metric}" has more than ${limits.querySeriesMax} series: name a scope or an app`);
    }
  }
  return found;
}

function pointsFor(
  folded: Folded,
  plan: Plan,
  how: { type: MetricType; aggregate: AnyAggregate },
  { metric }: MetricQuestion,
) {
  const points = pointsOf(folded, plan, how);
  if (points !== undefined) return points;
  const kinds =
    how.type === "histogram"
      ? "avg, min, max, count, rate, p50, p90, p95 and p99"
      : "avg, min, max, sum, last and count";
  const also = how.type === "counter" ? ", and rate" : "";
  throw new Failure(
    "invalid",
    `"${how.aggregate}" cannot be computed of the ${how.type} "${metric}": use ${kinds}${also}`,
  );
}

const usual = (type: MetricType): AnyAggregate => (type === "counter" ? "rate" : type === "histogram" ? "p95" : "avg");

function latencyAggregate(metric: string): AnyAggregate {
  const found = (["p50", "p90", "p95", "p99", "max"] as const).find((one) => metric === `latency_${one}_ms`);
  return found ?? "p95";
}

interface Group {
  group: Record<string, string>;
  folded: Folded;
}

async function foldGroups(
  parts: QueryParts,
  { found, question, plan }: { found: readonly KnownSeries[]; question: MetricQuestion; plan: Plan },
): Promise<Map<string, Group>> {
  const groups = new Map<string, Group>();
  let since = parts.steady();
  for (const { id, series } of found) {
    const folded = createFolded(plan);
    for (const chunk of parts.read(id, plan)) foldChunk(folded, plan, chunk, question.within);
    finishSeries(folded);
    const group = groupOf(series, question.groupBy);
    const key = JSON.stringify(group);
    const known = groups.get(key) ?? { group, folded: createFolded(plan) };
    if (folded.until > 0) groups.set(key, known);
    addFolded(known.folded, folded);
    if (parts.steady() - since > parts.limits.queryTurnMs) {
      await parts.pause();
      since = parts.steady();
    }
  }
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function groupOf(series: Series, groupBy: readonly string[]): Record<string, string> {
  return Object.fromEntries(groupBy.map((name) => [name, fieldOf(series, name)]));
}

function fieldOf(series: Series, name: string): string {
  if (name === "app") return series.name === "" ? "" : `${series.scope}/${series.name}`;
  if (name === "kind" || name === "scope" || name === "name" || name === "replica") return series[name];
  return series.labels[name] ?? "";
}

function availableFrom(parts: QueryParts, found: readonly KnownSeries[], plan: Plan): number | undefined {
  const born = found.reduce((least, { createdAt }) => Math.min(least, createdAt), Number.POSITIVE_INFINITY);
  if (!Number.isFinite(born)) return undefined;
  return Math.max(born, parts.oldest(plan) ?? born);
}
