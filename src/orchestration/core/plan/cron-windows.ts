import type { CronSchedule } from "./cron.ts";

/** The schedule that a cron job was last seen with, kept beside it so that a change of it is noticed. */
export interface SeenSchedule extends CronSchedule {
  suspended: boolean;
  /** Instants up to here are not of this schedule. Epoch milliseconds. */
  since: number;
  /** What is decided instead of up to the last instant, when that is far in the future because the clock was wrong. */
  decidedUntil?: number;
}

/** A span of time whose instants are to be decided on: after `after`, up to and including `until`. */
interface CronWindow extends CronSchedule {
  after: number;
  until: number;
}

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
 * An instant is never decided on twice: nothing before the last one is looked at again, also when the clock goes back.
 */
export function cronWindows(view: CronView): { windows: CronWindow[]; seen: SeenSchedule; nextAfter: number } {
  const { schedule, seen, now, lastInstant = 0 } = view;
  const clockWasWrong = lastInstant > now + clockErrorMs;
  const decided = clockWasWrong ? (seen?.decidedUntil ?? now) : lastInstant;
  const same = seen !== undefined && isSame(seen, schedule);
  const since = same ? seen.since : Math.min(view.updatedAt, now);
  const former = seen === undefined || same ? [] : windowOf(seen, Math.max(seen.since, decided), since);
  const present = windowOf(schedule, Math.max(since, decided), now);
  return {
    windows: [...former, ...present],
    seen: { ...schedule, since, ...(clockWasWrong ? { decidedUntil: now } : {}) },
    nextAfter: Math.max(now, decided),
  };
}

function isSame(a: CronView["schedule"], b: CronView["schedule"]): boolean {
  return a.expression === b.expression && a.timezone === b.timezone && a.suspended === b.suspended;
}

function windowOf(schedule: CronView["schedule"], after: number, until: number): CronWindow[] {
  if (schedule.suspended || after >= until) return [];
  return [{ expression: schedule.expression, timezone: schedule.timezone, after, until }];
}
