import { type Span, spanKinds } from "../traces/span.ts";
import type { OtlpPair, OtlpSpan, OtlpTraces } from "./model.ts";
import { plainFields, plainValue, valueText } from "./values.ts";

export interface SpanLimits {
  attributesMax: number;
  valueCharactersMax: number;
  nameCharactersMax: number;
  eventsMax: number;
  ageMs: number;
  aheadMs: number;
}

interface SpanParts {
  /** Name of the app, for spans without a name of their service. */
  app: string;
  replica: string;
  now: number;
  limits: SpanLimits;
}

/** Spans as they are stored. Those without a trace or an id, and those of another time, are counted as rejected. */
export function spansOf(request: OtlpTraces, parts: SpanParts): { spans: Span[]; rejected: number } {
  const spans: Span[] = [];
  let rejected = 0;
  for (const { resource, scopeSpans = [] } of request.resourceSpans ?? []) {
    const named = resource?.attributes?.find(({ key }) => key === "service.name");
    const service = named === undefined ? parts.app : clipped(valueText(named.value), parts.limits);
    for (const { scope, spans: given = [] } of scopeSpans)
      for (const one of given) {
        const span = spanOf(one, { ...parts, service, library: scope?.name ?? "" });
        if (span === undefined) rejected += 1;
        else spans.push(span);
      }
  }
  return { spans, rejected };
}

const traceForm = /^(?!0{32})[0-9a-f]{32}$/;
const spanForm = /^(?!0{16})[0-9a-f]{16}$/;
const errorCode = 2;

function spanOf(
  span: OtlpSpan,
  { service, library, replica, now, limits }: SpanParts & { service: string; library: string },
): Span | undefined {
  const { traceId = "", spanId = "", parentSpanId = "", startTimeUnixNano = 0, endTimeUnixNano = 0, status } = span;
  const atUs = Math.floor(startTimeUnixNano / 1_000);
  // A span that came has ended, whatever its clock says of the end.
  const endUs = Math.min(Math.floor(endTimeUnixNano / 1_000), (now + limits.aheadMs) * 1_000);
  const isNow = atUs / 1_000 > now - limits.ageMs && atUs / 1_000 < now + limits.aheadMs;
  if (!traceForm.test(traceId) || !spanForm.test(spanId) || !isNow) return undefined;
  return {
    trace: traceId,
    id: spanId,
    parent: spanForm.test(parentSpanId) ? parentSpanId : "",
    name: (span.name ?? "").slice(0, limits.nameCharactersMax),
    kind: spanKinds[span.kind ?? 0] ?? "unspecified",
    atUs,
    durationUs: Math.max(0, endUs - atUs),
    error: status?.code === errorCode,
    message: (status?.message ?? "").slice(0, limits.valueCharactersMax),
    service,
    replica,
    attributes: {
      ...boundedFields(span.attributes, limits),
      ...(library === "" ? {} : { "otel.scope.name": library.slice(0, limits.nameCharactersMax) }),
    },
    events: (span.events ?? []).slice(0, limits.eventsMax).map(({ timeUnixNano = 0, name = "", attributes }) => ({
      atUs: Math.floor(timeUnixNano / 1_000),
      name: name.slice(0, limits.nameCharactersMax),
      attributes: boundedFields(attributes, limits),
    })),
  };
}

function boundedFields(pairs: readonly OtlpPair[] | undefined, limits: SpanLimits): Record<string, unknown> {
  const kept = (pairs ?? []).slice(0, limits.attributesMax).map(({ key = "", value }): OtlpPair => {
    const plain = plainValue(value);
    const isSmall = typeof plain === "number" || typeof plain === "boolean" || plain === null;
    const name = key.slice(0, limits.nameCharactersMax);
    if (isSmall || value === undefined) return value === undefined ? { key: name } : { key: name, value };
    return { key: name, value: { stringValue: clipped(valueText(value), limits) } };
  });
  return plainFields(kept);
}

function clipped(text: string, { valueCharactersMax: most }: SpanLimits): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
