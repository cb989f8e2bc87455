/** Whether a schedule can fire at all does not depend on when we ask: any fixed moment does. */
const anyMoment = Date.UTC(2024, 0, 1);

/** What is wrong with a cron expression; undefined when it is fine. Five fields, or `@daily` and the like. */
export function scheduleFault(expression: string): string | undefined {
  const form = 'write five fields such as "15 2 * * *", or @hourly, @daily, @weekly, @monthly, @yearly';
  try {
    if (nextRun(expression, "UTC", anyMoment) !== undefined) return undefined;
    return `"${expression}" never comes; check day and month`;
  } catch (error) {
    return `"${expression}" is not a schedule (${engineWords(error)}); ${form}`;
  }
}

/** What is wrong with a time zone name; undefined when it is fine. */
export function timezoneFault(name: string): string | undefined {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    nextRun("* * * * *", name, anyMoment);
    return undefined;
  } catch {
    return `"${name}" is not a time zone; write an IANA name such as "Europe/Berlin" or "UTC"`;
  }
}

/**
 * First moment after `from` (both epoch milliseconds) at which the schedule fires; undefined when it never does.
 * Hours that a clock change skips or repeats follow the documented rule of `Bun.cron`. Throws on a bad expression.
 */
export function nextRun(expression: string, timezone: string, from: number): number | undefined {
  return Bun.cron.parse(expression, from, { tz: timezone })?.getTime();
}

/** How far the clocks of a zone are from UTC at a moment (epoch milliseconds): `GMT+02:00`. Throws on a bad zone. */
export function offsetOf(timezone: string, at: number): string {
  const parts = formatOf(timezone).formatToParts(at);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** The one used last: making one takes a hundred times as long as using it. */
let lastFormat: { timezone: string; format: Intl.DateTimeFormat } | undefined;

function formatOf(timezone: string): Intl.DateTimeFormat {
  if (lastFormat?.timezone !== timezone) {
    const format = new Intl.DateTimeFormat("en", { timeZone: timezone, timeZoneName: "longOffset" });
    lastFormat = { timezone, format };
  }
  return lastFormat.format;
}

function engineWords(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^Invalid cron expression: /, "").replace(/\. Bun\.cron uses.*$/s, "");
}
