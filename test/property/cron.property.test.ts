import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type CronLook, decide, dueInstants, nextInstant } from "../../src/orchestration/core/plan/cron.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Days on which clocks change, and one on which they do not. */
const days = ["2026-03-29", "2026-10-25", "2018-11-04", "2019-02-17", "2026-04-05", "2026-10-04", "2026-06-15"];
const zones = ["Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "America/New_York", "UTC"];

const minutes = fc.constantFrom("*", "0", "30", "15,45", "*/7", "*/15", "5-20");
const hours = fc.constantFrom("*", "0", "1", "2", "3", "23", "1-3", "*/2", "0-23");
const weekdays = fc.constantFrom("*", "*", "0", "1-5");
const schedule = fc.record({
  expression: fc.tuple(minutes, hours, weekdays).map(([minute, hour, weekday]) => `${minute} ${hour} * * ${weekday}`),
  timezone: fc.constantFrom(...zones),
});
/** A moment within a day and a half of a change, to the second. */
const moment = fc
  .tuple(fc.constantFrom(...days), fc.integer({ min: -129_600, max: 129_600 }))
  .map(([day, seconds]) => Date.parse(day) + seconds * 1_000);
const span = fc.integer({ min: 0, max: 2 * dayMs });

describe("instants", () => {
  test("are whole minutes, each once, in order, none outside what was asked for", () => {
    fc.assert(
      fc.property(schedule, moment, span, (cron, after, length) => {
        const found = dueInstants({ ...cron, after, until: after + length, limit: 10_000 });
        found.forEach((instant, index) => {
          expect(instant % minuteMs).toBe(0);
          expect(instant).toBeGreaterThan(found[index - 1] ?? after);
          expect(instant).toBeLessThanOrEqual(after + length);
        });
      }),
    );
  });

  test("are the same in one look as in two, wherever the first ends", () => {
    fc.assert(
      fc.property(schedule, moment, span, span, (cron, after, first, second) => {
        const [middle, until] = [after + first, after + first + second];
        const look = (from: number, to: number) => dueInstants({ ...cron, after: from, until: to, limit: 10_000 });
        expect([...look(after, middle), ...look(middle, until)]).toEqual(look(after, until));
      }),
      { numRuns: 300 },
    );
  });

  test("of a limit are the newest of all", () => {
    fc.assert(
      fc.property(schedule, moment, span, fc.integer({ min: 1, max: 20 }), (cron, after, length, limit) => {
        const all = dueInstants({ ...cron, after, until: after + length, limit: 10_000 });
        expect(dueInstants({ ...cron, after, until: after + length, limit })).toEqual(all.slice(-limit));
      }),
      { numRuns: 300 },
    );
  });

  test("begin with the next one", () => {
    fc.assert(
      fc.property(schedule, moment, (cron, after) => {
        const next = nextInstant({ ...cron, after });
        expect(dueInstants({ ...cron, after, until: next ?? after, limit: 5 })).toEqual(
          next === undefined ? [] : [next],
        );
      }),
    );
  });

  test("read as the schedule says on days without a change", () => {
    const [midnight, hour, minute] = [Date.parse("2026-06-15"), fc.nat({ max: 23 }), fc.nat({ max: 59 })];
    fc.assert(
      fc.property(hour, minute, (h, m) => {
        const due = dueInstants({
          ...{ expression: `${m} ${h} * * *`, timezone: "Europe/Berlin" },
          ...{ after: midnight - 2 * 3_600_000 - 1, until: midnight + 22 * 3_600_000 - 1, limit: 9 },
        });
        expect(due).toEqual([midnight + (h - 2) * 3_600_000 + m * minuteMs]);
      }),
    );
  });
});

describe("decisions", () => {
  const look: fc.Arbitrary<CronLook> = fc.record({
    due: fc
      .uniqueArray(fc.integer({ min: 0, max: 1_000_000 }), { maxLength: 8 })
      .map((due) => due.sort((a, b) => a - b)),
    now: fc.integer({ min: 1_000_000, max: 1_200_000 }),
    startingDeadlineMs: fc.nat({ max: 400_000 }),
    policy: fc.constantFrom("Allow" as const, "Forbid" as const, "Replace" as const),
    running: fc.nat({ max: 2 }),
  });

  test("every instant gets one, with a reason; at most the newest starts a run", () => {
    fc.assert(
      fc.property(look, (input) => {
        const decisions = decide(input);
        expect(decisions.map(({ instant }) => instant)).toEqual([...input.due]);
        for (const { why } of decisions) expect(why).not.toBe("");
        for (const { action } of decisions.slice(0, -1)) expect(action).toBe("missed");
      }),
    );
  });

  test("nothing starts beyond the deadline, beside another run under Forbid, or with one left under Replace", () => {
    fc.assert(
      fc.property(look, (input) => {
        for (const { instant, action } of decide(input)) {
          const isLate = input.now - instant > input.startingDeadlineMs;
          if (isLate) expect(action).toBe("missed");
          if (input.running > 0 && input.policy !== "Allow") expect(action).not.toBe("run");
          if (action === "replace") expect(input.policy).toBe("Replace");
          if (action === "skipped") expect(input.policy).toBe("Forbid");
        }
      }),
    );
  });
});
