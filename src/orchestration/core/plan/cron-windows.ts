import type { CronSchedule } from "./cron.ts";

/** The schedule that a cron job was last seen with, kept beside it so that a change of it is noticed. */
export interface SeenSchedule extends CronSchedule {
  suspended: boolean;
  /** Instants up to here are not of this schedule. Epoch milliseconds. */
  since: number;
  /** What is decided instead of up to the last instant, when that is far in the future because the clock was wrong. */
  decidedUntil?: number;
  /** The last instants that were missed, after `after`, up to and including `until`: none of them has had a run. */
  missed?: Span;
}

interface Span {
  after: number;
  until: number;
}

/** A span of time whose instants are to be decided on: after `after`, up to and including `until`. */
interface CronWindow extends CronSchedule, Span {}

export interface CronView {
  /** As stored now. */
  schedule: CronSchedule & { suspended: boolean };
  /** When the manifest was last written. */
  updatedAt: number;
  /** Undefined for a cron job that was never looked at. */
  seen: SeenSchedule | undefined;
  /** The newest instant that was ever decided on. */
  lastInstant: number | undefined;
  now: number;
}

/** A clock that went this far back was wrong before: waiting for it to come there again would be silence. */
const clockErrorMs = 86_400_000;

/**
 * Which spans of which schedule are still undecided, and what to remember. Where the schedule, the zone or `suspend`
 * changed, the former one counts until the change and the present one from then on, so that no instant falls between.
 * An instant never has two runs: nothing before the last one is looked at again, also when the clock goes back. But where
 * the clock was ahead and passed instants over, those are open again (`reopened`), and have their runs when they come.
 */
export function cronWindows(view: CronView): {
  windows: CronWindow[];
  seen: SeenSchedule;
  nextAfter: number;
  reopened?: Span;
} {
  const { schedule, seen, now, lastInstant = 0 } = view;
  const { missed, decidedUntil } = seen ?? {};
  const clockWasWrong = lastInstant > now + clockErrorMs;
  const reopened = lastInstant > now && missed !== undefined && now < missed.until ? missed : undefined;
  const decided = reopened ? now : clockWasWrong ? (decidedUntil ?? now) : lastInstant;
  const same = seen !== undefined && isSame(seen, schedule);
  const since = same ? seen.since : Math.min(view.updatedAt, now);
  const former = seen === undefined || same ? [] : windowOf(seen, Math.max(seen.since, decided), since);
  const present = windowOf(schedule, Math.max(since, decided), now);
  // The rest of what was reopened counts as well once the clock is past it.
  const isOpen = missed !== undefined && decidedUntil !== undefined && (reopened !== undefined || !clockWasWrong);
  const again = isOpen
    ? windowOf(schedule, Math.max(since, decidedUntil, missed.after), Math.min(now, missed.until))
    : [];
  const until = reopened !== undefined || clockWasWrong ? { decidedUntil: now } : {};
  return {
    windows: [...former, ...again, ...present],
    seen: { ...schedule, since, ...until, ...(missed && { missed }) },
    nextAfter: Math.max(now, reopened ? reopened.after : decided),
    ...(reopened && { reopened: { after: Math.max(now, reopened.after), until: reopened.until } }),
  };
}

function isSame(a: CronView["schedule"], b: CronView["schedule"]): boolean {
  return a.expression === b.expression && a.timezone === b.timezone && a.suspended === b.suspended;
}

function windowOf(schedule: CronView["schedule"], after: number, until: number): CronWindow[] {
  if (schedule.suspended || after >= until) return [];
  return [{ expression: schedule.expression, timezone: schedule.timezone, after, until }];
}
