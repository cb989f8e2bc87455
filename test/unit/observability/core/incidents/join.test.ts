import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  covered,
  type Episode,
  joinIncidents,
  type Outage,
} from "../../../../../src/observability/core/incidents/join.ts";
import { budgetOf, monthOf } from "../../../../../src/observability/core/incidents/budget.ts";

const minute = 60_000;
const setup = { gapMs: 10 * minute, now: 100 * minute };
const alert = (id: string, from: number, to: number | undefined, more: Partial<Episode> = {}): Episode => ({
  ...{ id, rule: "down", severity: "critical", title: `title of ${id}`, scope: "shop", name: "web" },
  ...{ from: from * minute, to: to === undefined ? undefined : to * minute },
  ...more,
});
const outage = (seq: number, from: number, to: number | undefined): Outage => ({
  ...{ seq, scope: "shop", name: "web", from: from * minute, failedRequests: 5 },
  to: to === undefined ? undefined : to * minute,
});

describe("incidents", () => {
  test("join what is close in time, and the down time with the alerts about it", () => {
    const [incident, ...more] = joinIncidents(
      [alert("a", 2, 5, { severity: "warning" }), alert("b", 6, 9)],
      [outage(1, 1, 8)],
      setup,
    );
    expect(more).toEqual([]);
    expect(incident).toMatchObject({
      ...{ id: "a", title: "title of b", severity: "critical", from: minute, to: 9 * minute },
      ...{ downMs: 7 * minute, failedRequests: 5 },
    });
  });

  test("of two apps, and with a gap between them, are two", () => {
    const joined = joinIncidents([alert("a", 1, 2), alert("b", 13, 14), alert("c", 1, 2, { name: "api" })], [], setup);
    expect(joined.map(({ id }) => id)).toEqual(["b", "a", "c"]);
  });

  test("are open while a part of them is", () => {
    const [incident] = joinIncidents([alert("a", 1, 2)], [outage(1, 3, undefined)], setup);
    expect(incident).toMatchObject({ to: undefined, downMs: 97 * minute });
  });

  test("of the server itself are one for each rule", () => {
    const about = { scope: undefined, name: undefined };
    const joined = joinIncidents([alert("a", 1, 2, { ...about, rule: "disk" }), alert("b", 1, 2, about)], [], setup);
    expect(joined).toHaveLength(2);
  });
});

const span = fc
  .record({ from: fc.integer({ min: 0, max: 1_000 }), length: fc.integer({ min: 0, max: 300 }), open: fc.boolean() })
  .map(({ from, length, open }) => ({ from, to: open ? undefined : from + length }));

test("every part is in exactly one incident, which spans it", () => {
  fc.assert(
    fc.property(fc.array(span, { maxLength: 30 }), (spans) => {
      const episodes = spans.map(({ from, to }, index) => alert(`a${index}`, from, to));
      const joined = joinIncidents(episodes, [], { gapMs: 10 * minute, now: 2_000 * minute });
      const ids = joined.flatMap((incident) => incident.episodes.map(({ id }) => id));
      expect(ids.toSorted()).toEqual(episodes.map(({ id }) => id).toSorted());
      for (const { episodes: parts, from, to } of joined) {
        expect(Math.min(...parts.map((part) => part.from))).toBe(from);
        if (to !== undefined) expect(Math.max(...parts.map((part) => part.to ?? Number.NaN))).toBe(to);
      }
    }),
    { numRuns: 200 },
  );
});

test("covered time is never counted twice and never more than the span", () => {
  fc.assert(
    fc.property(fc.array(span, { maxLength: 20 }), fc.nat({ max: 1_500 }), (spans, to) => {
      const seconds = Array.from({ length: to }, (_, at) => at);
      const slow = seconds.filter((at) => spans.some((one) => one.from <= at && at < (one.to ?? to))).length;
      expect(covered(spans, { from: 0, to })).toBe(slow);
    }),
    { numRuns: 200 },
  );
});

describe("a survival budget", () => {
  const month = monthOf("2026-06");
  if (month === undefined) throw new Error("no month");
  const spent = { causeText: "release r7", causeRef: "r7", failedRequests: 3 };
  const budget = (percent: number, downMinutes: number) =>
    budgetOf({
      ...{ scope: "shop", name: "web", month, target: { percent, isDefault: true }, now: month.from + 10 * 86_400_000 },
      outages: [{ from: month.from - minute, to: month.from + downMinutes * minute, cause: "deploy", ...spent }],
    });

  test("is what the target leaves of the month, less the down time within it", () => {
    expect(budget(99.9, 10)).toMatchObject({
      ...{ allowed_seconds: 2_592, spent_seconds: 600, left_seconds: 1_992, state: "ok", available_percent: 99.9306 },
      spends: [{ seconds: 600, cause: "deploy", ref: "r7", failed_requests: 3 }],
    });
    expect(budget(99.9, 40).state).toBe("low");
    expect(budget(99.9, 50)).toMatchObject({ state: "spent", left_seconds: -408 });
    expect(budget(100, 1).state).toBe("spent");
  });

  test.each(["2026-13", "2026-1", "June", "2026-06-01"])("%s is not a month", (text) => {
    expect(monthOf(text)).toBeUndefined();
  });
});
