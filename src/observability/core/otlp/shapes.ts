/**
 * The messages of OTLP as far as they are read: field numbers of protobuf, and the names that JSON has for them
 * (opentelemetry-proto 1.x). Fields that are not here are passed over in both encodings.
 */
export type Scalar =
  | "string"
  /** Bytes; base64 text in the result. */
  | "bytes"
  /** Bytes of a trace or a span; hexadecimal text in the result, and in JSON. */
  | "id"
  | "bool"
  | "double"
  | "fixed64"
  | "sfixed64"
  | "varint"
  | "int64"
  | "sint32";

export interface Field {
  name: string;
  /** A function for a message, because values hold values. */
  type: Scalar | (() => Shape);
  repeated?: true;
  /** Each is kept by itself: a log record, a data point or a span. */
  isEntry?: true;
}

/** By field number. */
export type Shape = Readonly<Record<number, Field>>;

const one = (name: string, type: Field["type"]): Field => ({ name, type });
const many = (name: string, type: Field["type"]): Field => ({ name, type, repeated: true });
const entries = (name: string, type: Field["type"]): Field => ({ ...many(name, type), isEntry: true });

const value: Shape = {
  1: one("stringValue", "string"),
  2: one("boolValue", "bool"),
  3: one("intValue", "int64"),
  4: one("doubleValue", "double"),
  5: one("arrayValue", () => ({ 1: many("values", () => value) })),
  6: one("kvlistValue", () => ({ 1: attributes })),
  7: one("bytesValue", "bytes"),
};
const pair: Shape = { 1: one("key", "string"), 2: one("value", () => value) };
const attributes = many("values", () => pair);
const attributesAs = (name: string) => many(name, () => pair);
const resource: Shape = { 1: attributesAs("attributes") };
const scope: Shape = { 1: one("name", "string"), 2: one("version", "string") };

const start = one("startTimeUnixNano", "fixed64");
const time = one("timeUnixNano", "fixed64");

const numberPoint: Shape = {
  2: start,
  3: time,
  4: one("asDouble", "double"),
  6: one("asInt", "sfixed64"),
  7: attributesAs("attributes"),
  8: one("flags", "varint"),
};
const histogramPoint: Shape = {
  2: start,
  3: time,
  4: one("count", "fixed64"),
  6: many("bucketCounts", "fixed64"),
  7: many("explicitBounds", "double"),
  9: attributesAs("attributes"),
  10: one("flags", "varint"),
  12: one("max", "double"),
};
const buckets: Shape = { 1: one("offset", "sint32"), 2: many("bucketCounts", "varint") };
const exponentialPoint: Shape = {
  1: attributesAs("attributes"),
  2: start,
  3: time,
  4: one("count", "fixed64"),
  6: one("scale", "sint32"),
  7: one("zeroCount", "fixed64"),
  8: one("positive", () => buckets),
  9: one("negative", () => buckets),
  10: one("flags", "varint"),
};
const summaryPoint: Shape = {
  2: start,
  3: time,
  4: one("count", "fixed64"),
  5: one("sum", "double"),
  6: many("quantileValues", () => ({ 1: one("quantile", "double"), 2: one("value", "double") })),
  7: attributesAs("attributes"),
  8: one("flags", "varint"),
};
const metric: Shape = {
  1: one("name", "string"),
  3: one("unit", "string"),
  5: one("gauge", () => ({ 1: entries("dataPoints", () => numberPoint) })),
  7: one("sum", () => ({
    1: entries("dataPoints", () => numberPoint),
    2: one("aggregationTemporality", "varint"),
    3: one("isMonotonic", "bool"),
  })),
  9: one("histogram", () => ({
    1: entries("dataPoints", () => histogramPoint),
    2: one("aggregationTemporality", "varint"),
  })),
  10: one("exponentialHistogram", () => ({
    1: entries("dataPoints", () => exponentialPoint),
    2: one("aggregationTemporality", "varint"),
  })),
  11: one("summary", () => ({ 1: entries("dataPoints", () => summaryPoint) })),
};

const record: Shape = {
  1: time,
  2: one("severityNumber", "varint"),
  3: one("severityText", "string"),
  5: one("body", () => value),
  6: attributesAs("attributes"),
  9: one("traceId", "id"),
  10: one("spanId", "id"),
  11: one("observedTimeUnixNano", "fixed64"),
  12: one("eventName", "string"),
};

const span: Shape = {
  1: one("traceId", "id"),
  2: one("spanId", "id"),
  4: one("parentSpanId", "id"),
  5: one("name", "string"),
  6: one("kind", "varint"),
  7: start,
  8: one("endTimeUnixNano", "fixed64"),
  9: attributesAs("attributes"),
  11: many("events", () => ({ 1: time, 2: one("name", "string"), 3: attributesAs("attributes") })),
  13: many("links", () => ({ 1: one("traceId", "id"), 2: one("spanId", "id") })),
  15: one("status", () => ({ 2: one("message", "string"), 3: one("code", "varint") })),
};

/** A request has its groups by resource, and in each those by scope; only the names differ. */
function request(groups: string, inner: string, items: Field): Shape {
  const scoped: Shape = { 1: one("scope", () => scope), 2: items };
  const grouped: Shape = { 1: one("resource", () => resource), 2: many(inner, () => scoped) };
  return { 1: many(groups, () => grouped) };
}

/** What a request of each kind is. */
export const requestShapes = {
  metrics: request(
    "resourceMetrics",
    "scopeMetrics",
    many("metrics", () => metric),
  ),
  logs: request(
    "resourceLogs",
    "scopeLogs",
    entries("logRecords", () => record),
  ),
  traces: request(
    "resourceSpans",
    "scopeSpans",
    entries("spans", () => span),
  ),
} as const;

/** The kinds of telemetry, as the paths `/v1/…` name them. */
export type Signal = keyof typeof requestShapes;
