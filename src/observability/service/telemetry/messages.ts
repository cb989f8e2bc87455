import type { LogSource } from "../../core/logs/line.ts";
import type { MetricPoint, PointLimits } from "../../core/otlp/metric-points.ts";
import type { Signal } from "../../core/otlp/shapes.ts";
import type { SpanLimits } from "../../core/otlp/spans.ts";
import type { Span } from "../../core/traces/span.ts";

/** How the body of a request is written. */
export type OtlpEncoding = "protobuf" | "json";

/** One request that is to be decoded, with all that its content depends on. */
export interface DecodeJob {
  signal: Signal;
  encoding: OtlpEncoding;
  isPacked: boolean;
  body: ArrayBuffer;
  /** What the app may still send. */
  bytesLeft: number;
  now: number;
  /** Name of the app, and who the records come from. */
  app: string;
  source: LogSource;
}

export interface DecodeSetup {
  inflatedBytesMax: number;
  inflatedRatioMax: number;
  inflatedBytesFree: number;
  itemsMax: number;
  valuesMax: number;
  depthMax: number;
  itemBytes: number;
  entryBytes: Readonly<Record<Signal, number>>;
  /** Entries that one message holds: the thread that serves takes them in one go. */
  sliceMax: number;
  points: PointLimits;
  spans: SpanLimits;
  lines: { lineCharactersMax: number; ageMs: number; aheadMs: number };
}

/** What a request holds, in the form in which it is kept. Lines are packed: see `packLines`. */
export type DecodedPart =
  | { signal: "metrics"; points: MetricPoint[] }
  | { signal: "traces"; spans: Span[] }
  | { signal: "logs"; packed: Uint8Array<ArrayBuffer> };

export interface DecodeSummary {
  /** Bytes that the request counts as. */
  charged: number;
  /** Entries that have no form in which they could be kept. */
  rejected: number;
  /** Why, without repetitions. */
  reasons: string[];
}

/** Why a request was not decoded. `budget`: it holds more than the app may still send. */
export type DecodeFault = "invalid" | "too_large" | "budget" | "internal";

/** The parts of a request come one by one: the next when it is asked for. */
export type ToDecodeThread =
  { type: "open"; setup: DecodeSetup } | { type: "decode"; job: DecodeJob } | { type: "next" };

export type FromDecodeThread =
  | { type: "part"; part: DecodedPart }
  | { type: "done"; summary: DecodeSummary }
  | { type: "fault"; fault: DecodeFault; message: string; charged: number };
