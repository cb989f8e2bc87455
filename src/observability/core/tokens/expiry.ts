import { type Parsed, parsed, unreadable } from "../../../base/pure/parsed.ts";

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const forms = 'write it like "90d", "12h" or "2027-01-31T00:00:00Z", or "never"';

interface Span {
  /** Epoch milliseconds. */
  now: number;
  /** Longest life. */
  maxMs: number;
}

/** When a token ends, epoch milliseconds; undefined for never. */
export function parseExpiry(text: string, { now, maxMs }: Span): Parsed<number | undefined> {
  if (text === "never") return parsed(undefined);
  const at = timeOf(text, now);
  if (at === undefined) return unreadable(`${JSON.stringify(text)} is not a time; ${forms}`);
  if (at <= now) return unreadable(`${JSON.stringify(text)} is not in the future`);
  if (at > now + maxMs) return unreadable(`${JSON.stringify(text)} is more than ten years away: write "never"`);
  return parsed(at);
}

function timeOf(text: string, now: number): number | undefined {
  const length = /^(\d{1,6})([mhdw])$/.exec(text);
  if (length !== null) return now + Number(length[1]) * (unitMs[length[2] ?? ""] ?? 0);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const at = isTime ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
