/** A point in time as people write it, and how far it reaches: a day, a minute, a second or a millisecond. */
interface TimeValue {
  /** Epoch milliseconds. */
  from: number;
  /** The first one after it. */
  to: number;
}

const shape =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?:[Zz]|([+-])(\d{2}):(\d{2}))?)?$/;

const dayMs = 24 * 3_600_000;

/** ISO 8601: a date alone, or with a time and an offset; UTC without one. Undefined for anything else, and for 30 February. */
export function parseTimeValue(text: string): TimeValue | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHours, offsetMinutes] = match;
  const date = dateMs(Number(year), Number(month), Number(day));
  if (date === undefined) return undefined;
  if (hour === undefined) return { from: date, to: date + dayMs };
  const [h, m, s] = [Number(hour), Number(minute), Number(second ?? 0)];
  const [oh, om] = [Number(offsetHours ?? 0), Number(offsetMinutes ?? 0)];
  if (h > 23 || m > 59 || s > 59 || oh > 23 || om > 59) return undefined;
  const ms = Math.trunc(Number(`0.${fraction ?? "0"}`) * 1_000 + 1e-6);
  const offsetMs = (oh * 60 + om) * 60_000 * (sign === "-" ? -1 : 1);
  const from = date + ((h * 60 + m) * 60 + s) * 1_000 + ms - offsetMs;
  return { from, to: from + reachMs(second, fraction) };
}

function reachMs(second: string | undefined, fraction: string | undefined): number {
  if (second === undefined) return 60_000;
  return fraction === undefined ? 1_000 : 1;
}

function dateMs(year: number, month: number, day: number): number | undefined {
  const at = new Date(Date.UTC(2000, month - 1, day));
  at.setUTCFullYear(year, month - 1, day);
  return at.getUTCMonth() === month - 1 && at.getUTCDate() === day ? at.getTime() : undefined;
}
