/** What the decoders make of a request, by `requestShapes`. Everything may be missing: proto3 leaves defaults out. */
export interface OtlpValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: number;
  doubleValue?: number;
  arrayValue?: { values?: OtlpValue[] };
  kvlistValue?: { values?: OtlpPair[] };
  bytesValue?: string;
}

export interface OtlpPair {
  key?: string;
  value?: OtlpValue;
}

interface Timed {
  startTimeUnixNano?: number;
  timeUnixNano?: number;
  attributes?: OtlpPair[];
  /** Bit 0: the series ends, and there is no value. */
  flags?: number;
}

interface NumberPoint extends Timed {
  asDouble?: number;
  asInt?: number;
}

export interface HistogramPoint extends Timed {
  count?: number;
  bucketCounts?: number[];
  explicitBounds?: number[];
  max?: number;
}

export interface ExponentialPoint extends Timed {
  count?: number;
  scale?: number;
  zeroCount?: number;
  positive?: { offset?: number; bucketCounts?: number[] };
  negative?: { offset?: number; bucketCounts?: number[] };
}

interface SummaryPoint extends Timed {
  count?: number;
  sum?: number;
  quantileValues?: { quantile?: number; value?: number }[];
}

interface Points<P> {
  dataPoints?: P[];
  /** 1: what was added since the point before; 2: all since the start. */
  aggregationTemporality?: number;
}

export interface OtlpMetric {
  name?: string;
  unit?: string;
  gauge?: Points<NumberPoint>;
  sum?: Points<NumberPoint> & { isMonotonic?: boolean };
  histogram?: Points<HistogramPoint>;
  exponentialHistogram?: Points<ExponentialPoint>;
  summary?: Points<SummaryPoint>;
}

export interface OtlpRecord {
  timeUnixNano?: number;
  observedTimeUnixNano?: number;
  severityNumber?: number;
  severityText?: string;
  body?: OtlpValue;
  attributes?: OtlpPair[];
  traceId?: string;
  spanId?: string;
  eventName?: string;
}

export interface OtlpSpan {
  traceId?: string;
  spanId?: string;
  parentSpanId?: string;
  name?: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind?: number;
  startTimeUnixNano?: number;
  endTimeUnixNano?: number;
  attributes?: OtlpPair[];
  events?: { timeUnixNano?: number; name?: string; attributes?: OtlpPair[] }[];
  links?: { traceId?: string; spanId?: string }[];
  /** 1 ok, 2 error. */
  status?: { message?: string; code?: number };
}

interface Resource {
  attributes?: OtlpPair[];
}
interface Scope {
  name?: string;
  version?: string;
}

export interface OtlpMetrics {
  resourceMetrics?: { resource?: Resource; scopeMetrics?: { scope?: Scope; metrics?: OtlpMetric[] }[] }[];
}
export interface OtlpLogs {
  resourceLogs?: { resource?: Resource; scopeLogs?: { scope?: Scope; logRecords?: OtlpRecord[] }[] }[];
}
export interface OtlpTraces {
  resourceSpans?: { resource?: Resource; scopeSpans?: { scope?: Scope; spans?: OtlpSpan[] }[] }[];
}
