import { formatDuration } from "../../../base/pure/duration.ts";
import { nextRun, offsetOf } from "../schedule.ts";

/**
 * When a schedule fires, in its own time zone. Where clocks change (the rule of `Bun.cron`, measured and tested):
 *
 * - A schedule whose minute or hour field covers everything (`*`, `0-23`) goes by elapsed time: it fires in both passes
 *   of a repeated hour, and not at all for an hour that is left out (`* 2 * * *`, which has no other: once, at its end).
 * - Any other schedule fires in the first pass of a repeated hour only. Of its times in an hour that is left out, the
 *   first fires later by the length of the gap (02:30 becomes 03:30, one run if 03:30 is written too), the others do not
 *   fire that day.
 */
export interface CronSchedule {
  /** Five fields or `@daily` and the like; checked by `scheduleFault`. */
  expression: string;
  /** IANA name; checked by `timezoneFault`. */
  timezone: string;
}

const minuteMs = 60_000;
/** Clocks change on quarters of an hour, by two hours at most. */
const quarterMs = 15 * minuteMs;
const gapMaxMs = 120 * minuteMs;

/**
 * The first instant after `after` (both epoch milliseconds); undefined when there is none. Throws on a bad expression.
 */
export function nextInstant({ expression, timezone, after }: CronSchedule & { after: number }): number | undefined {
  const next = nextRun(expression, timezone, after);
  const lastQuarter = Math.floor(after / quarterMs) * quarterMs;
  if (!clocksChanged(timezone, lastQuarter)) return next;
  const instants = [next];
  // The engine forgets a time that a gap has moved when it is asked from behind the gap: ask from before it as well.
  for (let quarter = lastQuarter; quarter > after - gapMaxMs; quarter -= quarterMs) {
    instants.push(nextRun(expression, timezone, quarter - 1));
  }
  return instants
    .filter((instant) => instant !== undefined)
    .filter((instant) => instant > after)
    .reduce<number | undefined>((first, instant) => Math.min(first ?? instant, instant), undefined);
}

/** By zone and quarter: all cron jobs that are due ask for the same few. */
const changes = new Map<string, boolean>();
const changesKept = 1_000;

/** Whether the clocks of a zone changed in the time before the end of a quarter of an hour that a gap can move. */
function clocksChanged(timezone: string, quarter: number): boolean {
  const known = changes.get(`${quarter} ${timezone}`);
  if (known !== undefined) return known;
  const offsets = new Set<string>();
  for (let at = quarter + quarterMs; at >= quarter - gapMaxMs - quarterMs; at -= quarterMs) {
    offsets.add(offsetOf(timezone, at));
  }
  if (changes.size >= changesKept) changes.clear();
  changes.set(`${quarter} ${timezone}`, offsets.size > 1);
  return offsets.size > 1;
}

/**
 * The instants after `after`, which was the last one handled, up to and including `until`, oldest first; of more than
 * `limit` (at least 1) the newest. All are epoch milliseconds. Throws on a bad expression.
 */
export function dueInstants(input: CronSchedule & { after: number; until: number; limit: number }): number[] {
  const { after, until, limit } = input;
  // Instants are a minute apart or more. Looking back in growing steps keeps the work small after a long absence.
  for (let span = limit * minuteMs; span < until - after; span *= 4) {
    const found = instantsIn(input, until - span, until);
    if (found.length >= limit) return found.slice(-limit);
  }
  return instantsIn(input, after, until).slice(-limit);
}

function instantsIn({ expression, timezone }: CronSchedule, after: number, until: number): number[] {
  const found: number[] = [];
  let instant = nextInstant({ expression, timezone, after });
  while (instant !== undefined && instant <= until) {
    found.push(instant);
    instant = nextRun(expression, timezone, instant);
  }
  return found;
}

export interface CronLook {
  /** Instants to decide on, oldest first, none after `now`. */
  due: readonly number[];
  now: number;
  /** How late a run may start. */
  startingDeadlineMs: number;
  policy: "Allow" | "Forbid" | "Replace";
  /** Runs of this cron job under way. */
  running: number;
}

export interface CronDecision {
  instant: number;
  /** `replace`: end what runs, then run. */
  action: "run" | "replace" | "missed" | "skipped";
  why: string;
}

/**
 * What becomes of each due instant, in the order given; each is to be recorded. Only the newest may run, so that a
 * backlog never runs at once: older ones are missed, and so is every one later than the starting deadline. Under
 * `Forbid` it is skipped while a run is under way.
 */
export function decide({ due, now, startingDeadlineMs, policy, running }: CronLook): CronDecision[] {
  const newest = due.at(-1);
  return due.map((instant) => {
    const lateMs = now - instant;
    if (lateMs > startingDeadlineMs) {
      const late = `${formatDuration(lateMs)} late, more than the starting deadline of ${formatDuration(startingDeadlineMs)}`;
      return { instant, action: "missed", why: late };
    }
    if (instant !== newest) return { instant, action: "missed", why: "a later instant was due as well" };
    return { instant, ...outcomeOf(policy, running) };
  });
}

function outcomeOf(policy: CronLook["policy"], running: number): Pick<CronDecision, "action" | "why"> {
  if (running === 0) return { action: "run", why: "due" };
  const others = running === 1 ? "1 run is under way" : `${running} runs are under way`;
  if (policy === "Forbid") return { action: "skipped", why: `${others} and concurrency_policy is Forbid` };
  if (policy === "Replace") return { action: "replace", why: `${others} and concurrency_policy is Replace` };
  return { action: "run", why: `due; ${others}` };
}
