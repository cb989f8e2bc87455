import { gunzipSync } from "node:zlib";
import { inflatedMax } from "../../../base/pure/inflation.ts";
import { JsonError, parseJson } from "../../../base/words/json.ts";
import { packLines } from "../../core/logs/packed-lines.ts";
import { type Budget, createBudget, OtlpError, OverBudgetError } from "../../core/otlp/budget.ts";
import { decodeJson } from "../../core/otlp/json.ts";
import { linesOf } from "../../core/otlp/log-lines.ts";
import { pointsOf } from "../../core/otlp/metric-points.ts";
import type { OtlpLogs, OtlpMetrics, OtlpTraces } from "../../core/otlp/model.ts";
import { decodeProtobuf } from "../../core/otlp/protobuf.ts";
import { requestShapes } from "../../core/otlp/shapes.ts";
import { spansOf } from "../../core/otlp/spans.ts";
import type { DecodedPart, DecodeFault, DecodeJob, DecodeSetup, DecodeSummary } from "./messages.ts";

/** A request that was not decoded, and the bytes that it counts as nevertheless. */
export class DecodeError extends Error {
  constructor(
    readonly fault: DecodeFault,
    message: string,
    readonly charged: number,
  ) {
    super(message);
  }
}

interface DecodedRequest {
  parts: DecodedPart[];
  summary: DecodeSummary;
}

/** Decodes a whole request, and stops at what its app may still send. Fails with a `DecodeError`. */
export function decodeRequest(job: DecodeJob, setup: DecodeSetup): DecodedRequest {
  const bytes = inflated(job, setup);
  const entryBytes = setup.entryBytes[job.signal];
  const budget = createBudget({ ...setup, bytesLeft: job.bytesLeft, entryBytes });
  try {
    const { parts, entries, rejected, reasons } = mapped(read(bytes, { job, setup, budget }), job, setup);
    const charged = Math.max(bytes.length, budget.spent(), (entries + rejected) * entryBytes);
    return { parts, summary: { charged, rejected, reasons } };
  } catch (error) {
    if (error instanceof OverBudgetError) throw overBudget(job);
    if (error instanceof OtlpError) {
      throw new DecodeError("invalid", error.message, Math.max(bytes.length, budget.spent()));
    }
    throw error;
  }
}

const overBudget = ({ bytesLeft }: DecodeJob) => new DecodeError("budget", "", bytesLeft);

/** The body without its compression. */
function inflated({ body, isPacked, bytesLeft }: DecodeJob, setup: DecodeSetup): Uint8Array {
  const given = new Uint8Array(body);
  if (given.length > bytesLeft) throw new DecodeError("budget", "", bytesLeft);
  if (!isPacked) return given;
  const { inflatedBytesMax, inflatedBytesFree: freeBytes, inflatedRatioMax: ratioMax } = setup;
  const byRatio = inflatedMax(given.length, { ratioMax, freeBytes });
  const most = Math.min(inflatedBytesMax, byRatio, Math.floor(bytesLeft));
  try {
    return gunzipSync(given, { maxOutputLength: most });
  } catch (error) {
    if (!isTooLarge(error)) {
      // What is broken at its end was decompressed as far as that.
      const charged = isGzip(given) ? Math.max(given.length, most) : given.length;
      throw new DecodeError("invalid", "the body is not gzip, as its Content-Encoding says", charged);
    }
    if (most === inflatedBytesMax) {
      throw new DecodeError("too_large", `the body is larger than ${most} bytes when decompressed`, most);
    }
    if (most === byRatio) {
      const text = `the body grows more than ${ratioMax} times when decompressed; send smaller batches`;
      throw new DecodeError("too_large", text, most);
    }
    throw new DecodeError("budget", "", bytesLeft);
  }
}

function isGzip([first, second]: Uint8Array): boolean {
  return first === 0x1f && second === 0x8b;
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}

interface Reading {
  job: DecodeJob;
  setup: DecodeSetup;
  budget: Budget;
}

function read(bytes: Uint8Array, { job, setup, budget }: Reading): Record<string, unknown> {
  const shape = requestShapes[job.signal];
  if (job.encoding === "protobuf") return decodeProtobuf(shape, bytes, budget);
  try {
    return decodeJson(shape, parseJson(new TextDecoder().decode(bytes), setup), budget);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new OtlpError(`body line ${error.line} column ${error.column}: ${error.message}`);
  }
}

interface Mapped {
  parts: DecodedPart[];
  entries: number;
  rejected: number;
  reasons: string[];
}

/** As many reasons an answer names. */
const reasonsMax = 5;
const noTime = "spans need a trace id, a span id and a time of the last day";

function mapped(request: Record<string, unknown>, job: DecodeJob, setup: DecodeSetup): Mapped {
  const { signal, now, app, source } = job;
  if (signal === "metrics") {
    const { points, rejected, reasons } = pointsOf(request as OtlpMetrics, setup.points);
    const parts = slices(points, setup.sliceMax).map((slice): DecodedPart => ({ signal, points: slice }));
    return { parts, entries: points.length, rejected, reasons: [...reasons].slice(0, reasonsMax) };
  }
  if (signal === "traces") {
    const own = { app, replica: source.replica, now, limits: setup.spans };
    const { spans, rejected } = spansOf(request as OtlpTraces, own);
    const parts = slices(spans, setup.sliceMax).map((slice): DecodedPart => ({ signal, spans: slice }));
    return { parts, entries: spans.length, rejected, reasons: rejected === 0 ? [] : [noTime] };
  }
  const lines = linesOf(request as OtlpLogs, { source, now, limits: setup.lines });
  const parts: DecodedPart[] = lines.length === 0 ? [] : [{ signal, packed: packLines(source, "otlp", lines) }];
  return { parts, entries: lines.length, rejected: 0, reasons: [] };
}

function slices<T>(items: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / most) }, (_, at) => items.slice(at * most, (at + 1) * most));
}
