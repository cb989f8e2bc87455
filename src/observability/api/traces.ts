import { type Static, Type } from "@sinclair/typebox";
import { Flag, Text } from "../../base/wire/query.ts";
import { type PlaneEndpoint, planeEndpoint } from "./plane-endpoint.ts";

export const TraceRow = Type.Object({
  trace_id: Type.String(),
  at: Type.String({ description: "when its first span began" }),
  duration_ms: Type.Number(),
  root: Type.String({ description: "name of its root span; of its first span where the root did not come" }),
  apps: Type.Array(Type.String(), { description: "SCOPE/NAME, in the order in which they appear" }),
  spans: Type.Integer(),
  errors: Type.Integer({ description: "spans that failed" }),
});
export type TraceRow = Static<typeof TraceRow>;

const TracePage = Type.Object({
  traces: Type.Array(TraceRow, { description: "the newest first" }),
  cursor: Type.Optional(Type.String({ description: "for the next page; missing after the last one" })),
  searched_to: Type.Optional(
    Type.String({ description: "the search stopped at this time: go on with the cursor for older traces" }),
  ),
});
export type TracePage = Static<typeof TracePage>;

export const SpanView = Type.Object({
  span_id: Type.String(),
  parent_id: Type.Optional(Type.String({ description: "missing for a root" })),
  name: Type.String(),
  depth: Type.Integer({ description: "0 for a root, and for a span whose parent did not come" }),
  kind: Type.String({ description: "internal, server, client, producer, consumer or unspecified" }),
  scope: Type.String(),
  app: Type.String(),
  service: Type.String({ description: "as the app calls itself" }),
  replica_id: Type.String(),
  at: Type.String(),
  offset_ms: Type.Number({ description: "since the beginning of the trace" }),
  duration_ms: Type.Number(),
  error: Type.Boolean(),
  message: Type.Optional(Type.String()),
  attributes: Type.Record(Type.String(), Type.Unknown()),
  events: Type.Array(
    Type.Object({
      offset_ms: Type.Number(),
      name: Type.String(),
      attributes: Type.Record(Type.String(), Type.Unknown()),
    }),
  ),
});
export type SpanView = Static<typeof SpanView>;

const TraceView = Type.Object({
  ...TraceRow.properties,
  tree: Type.Array(SpanView, { description: "parents before their children, children by their beginning" }),
  more: Type.Integer({ description: "spans that are left out because there are too many" }),
});
export type TraceView = Static<typeof TraceView>;

const TracesState = Type.Object({
  spans: Type.Integer(),
  bytes: Type.Integer(),
  bytes_max: Type.Integer(),
  oldest: Type.Optional(Type.String()),
  sampled_out: Type.Integer({
    description: "spans that were left out since the start, because their app sent too many",
  }),
  dropped: Type.Integer({
    description: "batches of spans that were deleted since the start, for their age or for room",
  }),
  problem: Type.Optional(Type.String({ description: "why no spans are stored now" })),
});
export type TracesState = Static<typeof TracesState>;

const query = Type.Object({
  app: Text("SCOPE or SCOPE/NAME (default every app)"),
  since: Text("from this time on: RFC 3339, unix seconds, or a duration back such as 2h"),
  until: Text("before this time, in the same forms"),
  min_duration: Text("traces that took at least this long: 250ms, 1s"),
  error: Flag("true: only traces with a span that failed"),
  text: Text("a part of the name of one of its spans, in small or capital letters"),
  limit: Text("traces of a page, up to 500 (default 50)"),
  cursor: Text("of the page before"),
});

export const listTraces = planeEndpoint({
  method: "GET",
  path: "/traces",
  summary: "Traces that apps sent over OTLP, the newest first",
  scope: "read",
  query,
  data: TracePage,
});

export const getTrace = planeEndpoint({
  method: "GET",
  path: "/traces/:id",
  summary: "One trace with the spans of all apps that the token reaches",
  scope: "read",
  data: TraceView,
});

export const tracesState = planeEndpoint({
  method: "GET",
  path: "/traces/state",
  summary: "How many traces are stored, and what was left out",
  scope: "host:read",
  data: TracesState,
});

export const traceEndpoints: PlaneEndpoint[] = [listTraces, tracesState, getTrace];
