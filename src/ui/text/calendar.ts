import { durationText, many } from "./figures.ts";
import { outcomeTone, type Tone } from "./states.ts";

interface Run {
  run_id: string;
  status: string;
  instant?: string;
  started_at?: string;
  ended_at?: string;
  error?: string;
}

interface Job {
  scope: string;
  name: string;
  kind: string;
  runs: readonly Run[];
  next_runs: readonly string[];
  suspended: boolean;
}

/** One run of a day, or a time to come. */
export interface Mark {
  key: string;
  tone: Tone;
  /** Time of day, with a word for what is not well: `03:00 failed`. */
  text: string;
  title: string;
  /** To the lines of the run; undefined where there are none. */
  href: string | undefined;
}

interface Cell {
  /** Those that are shown, in the order of the day. */
  marks: Mark[];
  /** For a day with too many runs: `1,440 runs, 3 failed`. */
  summary: { tone: Tone; text: string } | undefined;
}

interface CalendarRow<J> {
  job: J;
  /** One for each day. */
  cells: Cell[];
}

const daysShown = 7;
const marksMax = 6;
/** A run is long when it took this many times the median of its job, and at least so long. */
const longTimes = 2;
const longMinMs = 60_000;

/** Local midnights of the seven days of a week, Monday first, and that of the Monday after. `word`: a day, `2026-01-31`. */
export function weekDays(word: string, now: number): number[] {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(word) ?? [];
  const chosen = year === undefined ? new Date(now) : new Date(Number(year), Number(month) - 1, Number(day));
  const back = (chosen.getDay() + 6) % 7;
  return Array.from({ length: daysShown + 1 }, (_, index) =>
    new Date(chosen.getFullYear(), chosen.getMonth(), chosen.getDate() - back + index).getTime(),
  );
}

/** A day as it is in the address. */
export function dayWord(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Another week, as it is in the address. */
export function weekAway(days: readonly number[], weeks: number): string {
  const first = new Date(days[0] ?? 0);
  return dayWord(new Date(first.getFullYear(), first.getMonth(), first.getDate() + weeks * daysShown).getTime());
}

/** The runs of a week and the times to come, a row for each job. */
export function calendar<J extends Job>(jobs: readonly J[], days: readonly number[]): CalendarRow<J>[] {
  return jobs.map((job) => {
    const typical = medianMs(job.runs);
    return {
      job,
      cells: days.slice(0, -1).map((start, index) => cellOf(job, { start, end: days[index + 1] ?? start, typical })),
    };
  });
}

function cellOf(job: Job, { start, end, typical }: { start: number; end: number; typical: number | undefined }): Cell {
  const isWithin = (at: number) => at >= start && at < end;
  const runs = job.runs
    .map((run) => ({ run, at: atOf(run) }))
    .filter(({ at }) => isWithin(at))
    .toSorted((a, b) => a.at - b.at);
  const next = (job.suspended ? [] : job.next_runs).map((text) => Date.parse(text)).filter(isWithin);
  if (runs.length > marksMax) {
    const faults = runs.filter(({ run }) => outcomeTone(run.status) === "bad").length;
    const text = `${many(runs.length, "run")}, ${faults === 0 ? "none failed" : `${faults} failed or missed`}`;
    return { marks: next.slice(0, 1).map(nextMark), summary: { tone: faults === 0 ? "good" : "bad", text } };
  }
  const shown = runs.map(({ run, at }) => runMark(job, { run, at, typical }));
  return { marks: [...shown, ...next.slice(0, marksMax - shown.length).map(nextMark)], summary: undefined };
}

/** When it began; a run that never began counts at the moment that it was for. */
function atOf({ started_at: started, instant }: Run): number {
  return Date.parse(started ?? instant ?? "");
}

function tookMs({ started_at: started, ended_at: ended }: Run): number | undefined {
  return started === undefined || ended === undefined ? undefined : Date.parse(ended) - Date.parse(started);
}

function medianMs(runs: readonly Run[]): number | undefined {
  const took = runs
    .map(tookMs)
    .filter((ms) => ms !== undefined)
    .toSorted((a, b) => a - b);
  return took[Math.floor(took.length / 2)];
}

function runMark(job: Job, { run, at, typical }: { run: Run; at: number; typical: number | undefined }): Mark {
  const { run_id: key, status, error, started_at: started, ended_at: ended } = run;
  const took = tookMs(run);
  const isLong = took !== undefined && typical !== undefined && took >= longMinMs && took > typical * longTimes;
  const tone = outcomeTone(status);
  const word = tone === "good" ? (isLong ? " long" : "") : ` ${status.replaceAll("_", " ")}`;
  const facts = [
    status,
    ...(took === undefined ? [] : [`took ${durationText(took)}`]),
    ...(isLong ? [`usually ${durationText(typical)}`] : []),
    ...(error === undefined ? [] : [error]),
  ];
  return {
    key,
    tone: tone === "good" && isLong ? "warn" : tone,
    text: `${clockOf(at)}${word}`,
    title: facts.join(", "),
    href: started === undefined ? undefined : linesOfRun(job, started, ended),
  };
}

export function linesOfRun(
  { scope, name }: { scope: string; name: string },
  from: string,
  ended: string | undefined,
): string {
  // The end is not part of the span, and a line of the last millisecond is.
  const until =
    ended === undefined ? "" : `&until=${encodeURIComponent(new Date(Date.parse(ended) + 1_000).toISOString())}`;
  return `/logs?app=${encodeURIComponent(`${scope}/${name}`)}&from=${encodeURIComponent(from)}${until}`;
}

function nextMark(at: number): Mark {
  return { key: `next ${at}`, tone: "idle", text: clockOf(at), title: "will run then", href: undefined };
}

function clockOf(at: number): string {
  return new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" }).format(at);
}

/** `Mon 23 Nov`. */
export function dayText(at: number): string {
  return new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" })
    .format(at)
    .replace(",", "");
}
