import type { SpanView } from "../../observability/api/traces.ts";

/** Where a span lies in its trace, in percent; never so narrow that it cannot be seen. */
export function barOf({ offset_ms: offset, duration_ms: duration }: SpanView, whole: number) {
  const share = (ms: number) => (whole <= 0 ? 0 : Math.min(100, Math.max(0, (100 * ms) / whole)));
  const left = Math.min(share(offset), 100 - widthLeast);
  return { left, width: Math.max(widthLeast, Math.min(share(duration), 100 - left)) };
}

const widthLeast = 0.4;

/** `0.42 ms`, `12 ms`, `1.25 s`: spans are often shorter than a millisecond. */
export function spanTime(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`;
}

/** The text of an attribute: text as it is, everything else as JSON. */
export function attributeText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

const traceForm = /^[0-9a-f]{32}$/i;

/** The trace that a line of a log names; undefined where it names none. */
export function traceIn(fields: readonly (readonly [string, unknown])[]): string | undefined {
  const found = fields.find(([name]) => name === "trace_id" || name === "traceId" || name === "trace.id");
  const id = String(found?.[1] ?? "");
  return traceForm.test(id) ? id.toLowerCase() : undefined;
}
