import { describe, expect, test } from "bun:test";
import { type CronView, cronWindows } from "../../../../../src/orchestration/core/plan/cron-windows.ts";

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 1);
const hourly = { expression: "0 * * * *", timezone: "UTC", suspended: false };
const daily = { ...hourly, expression: "0 3 * * *" };

const view = (change: Partial<CronView>): CronView => ({
  schedule: hourly,
  updatedAt: start,
  seen: undefined,
  lastInstant: undefined,
  now: start + 10 * hour,
  ...change,
});

const spans = (change: Partial<CronView>) =>
  cronWindows(view(change)).windows.map(({ expression, after, until }) => [expression, after, until]);

describe("which instants are undecided", () => {
  test("of a new cron job those since it was written", () => {
    expect(spans({})).toEqual([[hourly.expression, start, start + 10 * hour]]);
    expect(cronWindows(view({})).seen).toEqual({ ...hourly, since: start });
  });

  test("after the first those since the last", () => {
    const seen = { ...hourly, since: start };
    expect(spans({ seen, lastInstant: start + 9 * hour })).toEqual([
      [hourly.expression, start + 9 * hour, start + 10 * hour],
    ]);
  });

  test("a write that leaves the schedule alone moves nothing", () => {
    const seen = { ...hourly, since: start };
    expect(spans({ seen, lastInstant: start + hour, updatedAt: start + 9 * hour })).toEqual([
      [hourly.expression, start + hour, start + 10 * hour],
    ]);
  });

  test("a new schedule counts from the write on, the former one until then", () => {
    const seen = { ...daily, since: start - day };
    const changed = { seen, lastInstant: start - 21 * hour, updatedAt: start + 8 * hour };
    expect(spans(changed)).toEqual([
      [daily.expression, start - 21 * hour, start + 8 * hour],
      [hourly.expression, start + 8 * hour, start + 10 * hour],
    ]);
    expect(cronWindows(view(changed)).seen).toEqual({ ...hourly, since: start + 8 * hour });
  });

  test("while suspended none, afterwards those since the resume", () => {
    const suspended = { ...hourly, suspended: true };
    const seen = { ...suspended, since: start + 2 * hour };
    expect(spans({ schedule: suspended, seen })).toEqual([]);
    expect(spans({ seen, updatedAt: start + 7 * hour })).toEqual([
      [hourly.expression, start + 7 * hour, start + 10 * hour],
    ]);
  });

  test("suspending decides what came before it", () => {
    const seen = { ...hourly, since: start };
    const schedule = { ...hourly, suspended: true };
    expect(spans({ schedule, seen, lastInstant: start + hour, updatedAt: start + 5 * hour })).toEqual([
      [hourly.expression, start + hour, start + 5 * hour],
    ]);
  });

  test("a manifest from the future, written before the clock went back, counts from now", () => {
    expect(spans({ updatedAt: start + day })).toEqual([]);
    expect(cronWindows(view({ updatedAt: start + day })).seen.since).toBe(start + 10 * hour);
  });
});

describe("a clock that went back", () => {
  const seen = { ...hourly, since: start };

  test("by less than a day: nothing until it is there again", () => {
    const back = view({ seen, lastInstant: start + 12 * hour });
    expect(cronWindows(back)).toEqual({ windows: [], seen, nextAfter: start + 12 * hour });
  });

  test("over instants that it had passed by: they are open again, and no others", () => {
    const missed = { after: start + 9 * hour, until: start + 20 * hour };
    const ahead = { seen: { ...seen, missed }, lastInstant: start + 21 * hour };
    const reopened = { after: start + 10 * hour, until: missed.until };
    const first = cronWindows(view(ahead));
    expect(first).toEqual({
      windows: [],
      seen: { ...seen, missed, decidedUntil: start + 10 * hour },
      nextAfter: start + 10 * hour,
      reopened,
    });
    const open = (now: number) => spans({ ...ahead, seen: first.seen, now }).map(([, after, until]) => [after, until]);
    expect(open(start + 12 * hour)).toEqual([[start + 10 * hour, start + 12 * hour]]);
    expect(open(start + 20.5 * hour)).toEqual([[start + 10 * hour, missed.until]]);
    expect(open(start + 22 * hour)).toEqual([
      [start + 10 * hour, missed.until],
      [start + 21 * hour, start + 22 * hour],
    ]);
    expect(cronWindows(view({ ...ahead, now: start + 2 * hour })).nextAfter).toBe(missed.after);
  });

  test("by more: what it said before is forgotten, from the moment it is noticed", () => {
    const first = cronWindows(view({ seen, lastInstant: start + 400 * day }));
    expect(first).toEqual({
      windows: [],
      seen: { ...seen, decidedUntil: start + 10 * hour },
      nextAfter: start + 10 * hour,
    });
    const later = cronWindows(view({ seen: first.seen, lastInstant: start + 400 * day, now: start + 12 * hour }));
    expect(later.windows).toEqual([
      { expression: hourly.expression, timezone: "UTC", after: start + 10 * hour, until: start + 12 * hour },
    ]);
    expect(later.seen.decidedUntil).toBe(start + 12 * hour);
  });
});
