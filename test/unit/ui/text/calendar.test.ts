import { expect, test } from "bun:test";
import { calendar, dayWord, weekAway, weekDays } from "../../../../src/ui/text/calendar.ts";

/** A moment of the week from Monday, 2 March 2026, in the zone of the machine. */
const at = (day: number, hour: number, minute = 0) => new Date(2026, 2, 1 + day, hour, minute);
const days = weekDays("2026-03-04", 0);

const run = (id: string, start: Date, { status = "succeeded", seconds = 10 } = {}) => ({
  ...{ run_id: id, status, started_at: start.toISOString() },
  ended_at: new Date(start.getTime() + seconds * 1_000).toISOString(),
});
const job = (changes: object) => ({
  ...{ scope: "shop", name: "nightly", kind: "cronjob", runs: [], next_runs: [], suspended: false },
  ...changes,
});
const texts = (changes: object) =>
  calendar([job(changes)], days)[0]?.cells.map(({ marks, summary }) =>
    [summary?.text, ...marks.map(({ tone, text }) => `${tone} ${text}`)].filter(Boolean).join("; "),
  );

test("a week begins on Monday, and others are seven days away", () => {
  expect(days.map(dayWord)).toEqual([2, 3, 4, 5, 6, 7, 8, 9].map((day) => `2026-03-0${day}`));
  expect([weekAway(days, -1), weekAway(days, 1)]).toEqual(["2026-02-23", "2026-03-09"]);
  expect(weekDays("nonsense", at(3, 12).getTime())).toEqual(days);
});

test("runs are on their day with how they went, and times to come follow them", () => {
  const missed = { run_id: "m", status: "missed", instant: at(3, 3).toISOString(), error: "the server was away" };
  const runs = [missed, run("b", at(2, 3), { status: "failed" }), run("a", at(1, 3))];
  expect(texts({ runs, next_runs: [at(4, 3).toISOString(), at(99, 3).toISOString()] })).toEqual([
    "good 03:00",
    "bad 03:00 failed",
    "bad 03:00 missed",
    "idle 03:00",
    "",
    "",
    "",
  ]);
  expect(texts({ next_runs: [at(4, 3).toISOString()], suspended: true })?.every((text) => text === "")).toBe(true);
});

test("a run that took far longer than usual stands out", () => {
  const runs = [1, 2, 3].map((day) => run(`r${day}`, at(day, 3), { seconds: day === 2 ? 400 : 70 }));
  expect(texts({ runs })?.slice(0, 3)).toEqual(["good 03:00", "warn 03:00 long", "good 03:00"]);
  const [row] = calendar([job({ runs })], days);
  expect(row?.cells[1]?.marks[0]?.title).toContain("usually 1 min 10 s");
  expect(row?.cells[1]?.marks[0]?.href).toStartWith("/logs?app=shop%2Fnightly&from=2026");
});

test("a day with many runs is one line that says how many failed", () => {
  const runs = Array.from({ length: 20 }, (_, minute) =>
    run(`r${minute}`, at(1, 4, minute), { status: minute < 3 ? "failed" : "succeeded" }),
  );
  expect(texts({ runs })?.[0]).toBe("20 runs, 3 failed or missed");
});
