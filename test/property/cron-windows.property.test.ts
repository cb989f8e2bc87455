import { expect, test } from "bun:test";
import fc from "fast-check";
import { dueInstants, nextInstant } from "../../src/orchestration/core/plan/cron.ts";
import { cronWindows, type SeenSchedule } from "../../src/orchestration/core/plan/cron-windows.ts";

const start = Date.UTC(2026, 2, 28, 20);
const minute = 60_000;

const schedule = fc.record({
  expression: fc.constantFrom("* * * * *", "*/7 * * * *", "0 * * * *", "30 2 * * *"),
  timezone: fc.constantFrom("UTC", "Europe/Berlin"),
  suspended: fc.boolean(),
});
const step = fc.record({
  afterMs: fc.integer({ min: 0, max: 200 * minute }),
  change: fc.option(schedule, { nil: undefined }),
  /** The server is away and does not look. */
  away: fc.boolean(),
});

test("whenever looks and changes come, each instant of the schedule then in force is decided on once", () => {
  fc.assert(
    fc.property(schedule, fc.array(step, { maxLength: 20 }), (first, steps) => {
      let now = start;
      let updatedAt = start;
      let present = first;
      let seen: SeenSchedule | undefined;
      let lastInstant: number | undefined;
      const decided: number[] = [];
      const wanted: number[] = [];
      const look = () => {
        const found = cronWindows({ schedule: present, updatedAt, seen, lastInstant, now });
        for (const window of found.windows) decided.push(...dueInstants({ ...window, limit: 100_000 }));
        seen = found.seen;
        lastInstant = decided.length === 0 ? undefined : Math.max(...decided);
      };
      look();
      for (const { afterMs, change, away } of steps) {
        const until = now + afterMs;
        if (!present.suspended) wanted.push(...dueInstants({ ...present, after: now, until, limit: 100_000 }));
        now = until;
        if (change !== undefined) {
          present = change;
          updatedAt = now;
        }
        // A server that is away takes no change, so that there is one at most between two looks.
        if (change !== undefined || !away) look();
      }
      look();
      expect(decided).toEqual(wanted);
      const next = present.suspended ? undefined : nextInstant({ ...present, after: now });
      if (next !== undefined) expect(next).toBeGreaterThan(now);
    }),
    { numRuns: 300 },
  );
});
