import { parseDuration } from "./duration.ts";
import type { Parsed } from "./parsed.ts";

const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;
const unixSeconds = /^\d{1,11}(?:\.\d{1,9})?$/;

/** Epoch milliseconds from an RFC 3339 time, unix seconds, or a duration back from `now` such as `10m`. */
export function parseSince(text: string, now: number): Parsed<number> {
  if (unixSeconds.test(text)) return { ok: true, value: Math.floor(Number(text) * 1_000) };
  const at = rfc3339.test(text) ? Date.parse(text.replace(" ", "T")) : Number.NaN;
  if (!Number.isNaN(at)) return { ok: true, value: at };
  const back = parseDuration(text);
  if (back !== undefined) return { ok: true, value: Math.max(now - back, 0) };
  const forms = 'write it like "2026-01-31T13:05:00Z", unix seconds, or "10m" for ten minutes back';
  return { ok: false, error: `"${text}" is not a time; ${forms}` };
}
