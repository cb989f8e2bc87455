import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { MetricAnswers, MetricCatalogue, MetricChart } from "../../api/metrics.ts";
import { catalogue, customType, latencyNames, metricOf, typeOf } from "../../core/metrics/catalogue.ts";
import { exposition } from "../../core/metrics/exposition.ts";
import type { AnyAggregate, Point } from "../../core/metrics/fold.ts";
import { type Plan, planQuery } from "../../core/metrics/plan.ts";
import type { Series, Source } from "../../core/metrics/series.ts";
import { tiers } from "../../core/metrics/tiers.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { MetricsRoom } from "./create.ts";
import { dumpRows } from "./dump.ts";
import type { GroupAnswer } from "./query.ts";
import {
  checkMetric,
  listOf,
  mayRead,
  readAggregate,
  readFilter,
  readMetrics,
  readSource,
  readStep,
  readTime,
} from "./questions.ts";

/** A query as it comes from the wire. */
type Query = Readonly<Record<string, string | undefined>>;

/** What can be asked of the metrics; `grant` says which apps may be seen. */
export interface MetricsAnswers {
  /** Fails `invalid` for a question that makes no sense, with the way out. */
  chart(query: Query, grant: Pick<Grant, "apps">): Promise<MetricChart>;
  query(query: Query, grant: Pick<Grant, "apps">): Promise<MetricAnswers>;
  catalogue(query: Query, grant: Pick<Grant, "apps">): MetricCatalogue;
  /** JSON lines, an hour at a time. */
  dump(query: Query, grant: Pick<Grant, "apps">): AsyncIterable<string>;
  exposition(grant: Pick<Grant, "apps">): string;
}

/** For the operator, who may see everything. */
export const everything: Pick<Grant, "apps"> = { apps: [] };

const hourMs = 3_600_000;

export function createMetricsAnswers(room: MetricsRoom, prefix: string): MetricsAnswers {
  return {
    chart: (query, grant) => chart(room, query, grant),
    query: (query, grant) => answer(room, query, grant),
    catalogue: (query, grant) => describe(room, query, grant),
    dump(query, grant) {
      const since = readUnixSeconds(query.since) ?? room.now() - room.limits.keptMs.raw;
      return dumpRows(room, { since, mayRead: (series) => mayRead(grant, series) });
    },
    exposition: (grant) =>
      exposition(
        room.totals().filter(({ series }) => mayRead(grant, series)),
        prefix,
      ),
  };
}

function readUnixSeconds(text: string | undefined): number | undefined {
  if (text === undefined || text === "" || text === "0") return undefined;
  if (/^\d{1,11}(\.\d{1,9})?$/.test(text)) return Number(text) * 1_000;
  throw new Failure("invalid", `since: "${text}" is not a number of unix seconds, such as 1767225600`);
}

function planOf(room: MetricsRoom, span: { from: number; to: number; stepMs: number | undefined }, path: string): Plan {
  const { keptMs, bucketsDefault, bucketsMax } = room.limits;
  const plan = planQuery(span, { now: room.now(), keptMs, bucketsDefault, bucketsMax });
  if (!plan.ok) throw new Failure("invalid", `${path}: ${plan.error}`);
  return plan.value;
}

const rangeMaxMs = 730 * 24 * hourMs;

async function chart(room: MetricsRoom, query: Query, grant: Pick<Grant, "apps">): Promise<MetricChart> {
  const source = readSource(query.source, "source");
  const metric = query.metric ?? "";
  checkMetric(source, metric, "metric");
  const rangeMs = readStep(query.range === "" ? undefined : query.range, "range") ?? hourMs;
  if (rangeMs > rangeMaxMs) throw new Failure("invalid", `range: "${query.range}" is longer than 730d`);
  const now = room.now();
  const plan = planOf(room, { from: now - rangeMs, to: now, stepMs: readStep(query.interval, "interval") }, "interval");
  const { accepts, within } = filterOf(room, { source, query, grant }, plan);
  const question = { source, metric, aggregate: usualOf(source, metric), groupBy: [], accepts };
  const found = await room.archive().ask({ ...question, ...(within === undefined ? {} : { within }) }, plan);
  const points = found.groups[0]?.points ?? [];
  const newest = await room.archive().ask(question, newestPlan(now));
  const latest = newest.groups[0]?.points.at(-1) ?? points.at(-1);
  const { availableFrom } = found;
  return {
    metric,
    interval_seconds: plan.stepMs / 1_000,
    ...(availableFrom === undefined ? {} : { available_from: isoTime(availableFrom) }),
    truncated: availableFrom !== undefined && now - rangeMs < availableFrom,
    series: points.map(timed),
    ...(latest === undefined ? {} : { latest: timed(latest) }),
  };
}

const timed = ({ at, value }: Point) => ({ ts: isoTime(at), value });

/** The raw slots of the last two minutes. */
function newestPlan(now: number): Plan {
  const [tier] = tiers;
  const to = Math.ceil((now + 1) / tier.slotMs) * tier.slotMs;
  return { tier, stepMs: tier.slotMs, from: to - 8 * tier.slotMs, to };
}

/** Levels are averaged over the replicas; what is counted adds up. */
function usualOf(source: Source, metric: string): AnyAggregate | undefined {
  const type = typeOf(source, metric);
  return type === "counter" ? "level" : type === "histogram" ? undefined : "avg";
}

function filterOf(
  room: MetricsRoom,
  { source, query, grant }: { source: Source; query: Query; grant: Pick<Grant, "apps"> },
  plan: Plan,
) {
  const { scope, name, pod } = query;
  const rows = pod === undefined || pod === "" ? undefined : room.archive().store.replicas.named(pod);
  const row = rows?.at(-1);
  // The disk of the machine is that of its root, unless a mount is asked for with /query.
  const isRoot = ({ labels }: Series) => source !== "system" || labels.mount === undefined || labels.mount === "/";
  const accepts = (series: Series) =>
    mayRead(grant, series) &&
    isRoot(series) &&
    (scope === undefined || scope === "" || series.scope === scope) &&
    (name === undefined || name === "" || series.name === name) &&
    (rows === undefined || (row !== undefined && isReplica(series, row)));
  const within = row === undefined ? undefined : { from: Math.min(row.beganAt, plan.to), to: row.seenAt + 1 };
  return { accepts, within };
}

function isReplica(series: Series, row: { kind: string; scope: string; name: string; replica: string }): boolean {
  const { kind, scope, name, replica } = row;
  return series.kind === kind && series.scope === scope && series.name === name && series.replica === replica;
}

async function answer(room: MetricsRoom, query: Query, grant: Pick<Grant, "apps">): Promise<MetricAnswers> {
  const now = room.now();
  const asked = readMetrics(query.metric ?? "", room.limits.queryMetricsMax);
  const from = readTime(query.from, "from", { now, fallback: now - hourMs });
  const to = readTime(query.until, "until", { now, fallback: now });
  const plan = planOf(room, { from, to, stepMs: readStep(query.step, "step") }, "step");
  const fits = readFilter({ app: query.app, where: query.where });
  const common = { aggregate: readAggregate(query.agg), groupBy: listOf(query.group_by ?? "") };
  const results: MetricAnswers["results"] = [];
  for (const { source, metric } of asked) {
    const accepts = (series: Series) => fits(series) && mayRead(grant, series);
    const found = await room.archive().ask({ source, metric, accepts, ...common }, plan);
    const known = metricOf(source, source === "ingress" && latencyNames[metric] !== undefined ? "latency_ms" : metric);
    results.push({
      metric: `${source}.${metric}`,
      agg: found.aggregate,
      type: known?.type ?? customType(metric),
      ...(known === undefined ? {} : { unit: known.unit }),
      ...(found.availableFrom === undefined ? {} : { available_from: isoTime(found.availableFrom) }),
      truncated: found.availableFrom !== undefined && plan.from < found.availableFrom,
      more: found.more,
      series: found.groups.map((group) => inBuckets(group, plan)),
    });
  }
  return { from: isoTime(plan.from), until: isoTime(plan.to), step_seconds: plan.stepMs / 1_000, results };
}

function inBuckets({ group, points }: GroupAnswer, { from, to, stepMs }: Plan) {
  const values: (number | null)[] = Array.from({ length: Math.round((to - from) / stepMs) }, () => null);
  for (const { at, value } of points) values[Math.round((at - from) / stepMs)] = value;
  return { group, values };
}

function describe(room: MetricsRoom, { app }: Query, grant: Pick<Grant, "apps">): MetricCatalogue {
  const { table } = room.archive();
  const fits = readFilter({ app, where: undefined });
  const counts = new Map<string, { series: Series; count: number }>();
  for (const { series } of table.all()) {
    if (!mayRead(grant, series) || !fits(series)) continue;
    const key = `${series.source} ${series.metric}`;
    counts.set(key, { series, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const own = catalogue.map(({ source, name, type, unit, help, labels }) => {
    return { source, name, type, unit, help, labels: [...labels], series: counts.get(`${source} ${name}`)?.count ?? 0 };
  });
  const custom = [...counts.values()].flatMap(({ series, count }) => {
    if (series.source !== "custom") return [];
    const { metric: name, labels } = series;
    return [{ source: "custom", name, type: customType(name), labels: Object.keys(labels), series: count }];
  });
  return { metrics: [...own, ...custom], tiers: tierRows(room), store: storeRow(room) };
}

const tierRows = ({ limits }: MetricsRoom) =>
  tiers.map(({ name, slotMs }) => ({ name, step_seconds: slotMs / 1_000, kept_seconds: limits.keptMs[name] / 1_000 }));

function storeRow(room: MetricsRoom): MetricCatalogue["store"] {
  const { at, bytesMax, expired, shed, disk, isClockTrusted } = room.archive().report();
  const { store, table } = room.archive();
  return {
    bytes: store.usedBytes(),
    bytes_max: bytesMax,
    series: table.size,
    series_max: room.limits.seriesMax,
    refused: table.refused,
    ...{ expired, shed, disk, clock_trusted: isClockTrusted },
    ...(at === undefined ? {} : { tended_at: isoTime(at) }),
  };
}
