import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

const Filters = {
  scope: Text("exact scope"),
  name: Text("exact name of the app"),
  pod: Text("name of a container: the samples of its replica while it ran"),
};

const chartQuery = Type.Object({
  source: Type.String({ description: "system, pod, app, ingress, server or custom" }),
  metric: Type.String({ description: "name of the metric; the catalogue lists them" }),
  ...Filters,
  range: Text("length of the span that ends now: 15m, 1h, 24h, 7d, 90d (default 1h)"),
  interval: Text("width of a point: auto, 15s, 1m, 5m, 1h (default auto, which gives at most 300 points)"),
});

const TimedValue = Type.Object({ ts: Type.String(), value: Type.Number() });

export const MetricChart = Type.Object({
  metric: Type.String(),
  interval_seconds: Type.Number(),
  available_from: Type.Optional(Type.String({ description: "of the series that were asked for" })),
  truncated: Type.Boolean({ description: "the span begins before there are samples" }),
  series: Type.Array(TimedValue, { description: "beginning of each bucket, and its mean; empty buckets are left out" }),
  latest: Type.Optional(TimedValue),
});
export type MetricChart = Static<typeof MetricChart>;

const questionQuery = Type.Object({
  metric: Type.String({ description: "SOURCE.NAME, several with commas: pod.cpu_percent,ingress.req_5xx" }),
  from: Text("time, unix seconds, or how long ago: 1h, 7d (default 1h)"),
  until: Text("the same; not included (default now)"),
  step: Text("width of a bucket: 15s, 1m, 1h (default: at most 300 buckets)"),
  agg: Text("avg, min, max, sum, last, rate, count, p50, p90, p95 or p99 (default: what the metric's type asks for)"),
  group_by: Text(
    "app, kind, scope, name, replica or a label such as host, ingress, mount, device; several with commas",
  ),
  app: Text("SCOPE or SCOPE/NAME"),
  where: Text("labels, replica or kind that a series must have: host=shop.example,replica=0"),
});

export const MetricAnswers = Type.Object({
  from: Type.String({ description: "beginning of the first bucket" }),
  until: Type.String(),
  step_seconds: Type.Number(),
  results: Type.Array(
    Type.Object({
      metric: Type.String(),
      agg: Type.String(),
      type: Type.String(),
      unit: Type.Optional(Type.String()),
      available_from: Type.Optional(Type.String()),
      truncated: Type.Boolean(),
      more: Type.Integer({ description: "groups that are left out because there are too many" }),
      series: Type.Array(
        Type.Object({
          group: Type.Record(Type.String(), Type.String()),
          values: Type.Array(Type.Union([Type.Number(), Type.Null()]), { description: "one per bucket" }),
        }),
      ),
    }),
  ),
});
export type MetricAnswers = Static<typeof MetricAnswers>;

export const MetricCatalogue = Type.Object({
  metrics: Type.Array(
    Type.Object({
      source: Type.String(),
      name: Type.String(),
      type: Type.String(),
      unit: Type.Optional(Type.String()),
      help: Type.Optional(Type.String()),
      labels: Type.Array(Type.String()),
      series: Type.Integer({ description: "series that are stored now" }),
    }),
  ),
  tiers: Type.Array(Type.Object({ name: Type.String(), step_seconds: Type.Number(), kept_seconds: Type.Number() })),
  store: Type.Object({
    bytes: Type.Integer(),
    bytes_max: Type.Integer(),
    series: Type.Integer(),
    series_max: Type.Integer(),
    refused: Type.Integer({ description: "samples that were turned away since the start, because of a limit" }),
    expired: Type.Integer({ description: "chunks that were deleted for their age since the start" }),
    shed: Type.Integer({ description: "chunks that were deleted for want of room since the start" }),
    disk: Type.String({ description: "ok, low (detail is deleted), or full (nothing is stored)" }),
    clock_trusted: Type.Boolean({ description: "false: the clock has jumped, and nothing is deleted for its age" }),
    tended_at: Type.Optional(Type.String()),
  }),
});
export type MetricCatalogue = Static<typeof MetricCatalogue>;

const dumpQuery = Type.Object({
  since: Text("unix seconds; samples after it (default: all raw samples that are kept)"),
});

export const getMetrics = planeEndpoint({
  method: "GET",
  path: "/metrics",
  scope: "read",
  summary: "One metric as points of a chart",
  query: chartQuery,
  data: MetricChart,
});

export const dumpMetrics = planeEndpoint({
  method: "GET",
  path: "/metrics/dump",
  scope: "read",
  summary: "Raw samples as JSON lines, oldest first: one line for the machine, each pod and each ingress per sample",
  query: dumpQuery,
  stream: "application/x-ndjson; charset=utf-8",
});

export const queryMetrics = planeEndpoint({
  method: "GET",
  path: "/query",
  scope: "read",
  summary: "Several metrics over any span, aggregated and grouped",
  query: questionQuery,
  data: MetricAnswers,
});

export const listMetrics = planeEndpoint({
  method: "GET",
  path: "/metrics/catalogue",
  scope: "read",
  summary: "Known metrics with their units and labels, and the state of their store",
  query: Type.Object({ app: Text("SCOPE or SCOPE/NAME: only series of this app are counted") }),
  data: MetricCatalogue,
});

export const exposeMetrics = planeEndpoint({
  method: "GET",
  path: "/metrics.prom",
  scope: "read",
  summary: "The newest samples in the text format of Prometheus",
  stream: "text/plain; version=0.0.4; charset=utf-8",
});

export const metricEndpoints = [getMetrics, dumpMetrics, queryMetrics, listMetrics, exposeMetrics];
