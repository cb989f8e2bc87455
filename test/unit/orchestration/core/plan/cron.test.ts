import { describe, expect, test } from "bun:test";
import { type CronLook, decide, dueInstants, nextInstant } from "../../../../../src/orchestration/core/plan/cron.ts";

const utc = (text: string) => Date.parse(`${text}Z`);

/** [time zone, expression, from, until, instants], all in UTC. */
type Case = [timezone: string, expression: string, from: string, until: string, instants: string[]];

function check([timezone, expression, from, until, instants]: Case): void {
  const found = dueInstants({ expression, timezone, after: utc(from), until: utc(until), limit: 100 });
  expect(found.map((at) => new Date(at).toISOString().slice(0, 16))).toEqual(instants);
}

const title = ([timezone, expression, from]: Case) => `"${expression}" in ${timezone} from ${from}`;

// Europe/Berlin: 2026-03-29 02:00 → 03:00 at 01:00 UTC. America/Sao_Paulo: 2018-11-04 00:00 → 01:00 at 03:00 UTC.
// Australia/Lord_Howe moves by half an hour: 2026-10-04 02:00 → 02:30 at 15:30 UTC the day before.
const gaps: Case[] = [
  [
    "Europe/Berlin",
    "30 2 * * *",
    "2026-03-28T00:00",
    "2026-03-31T00:00",
    ["2026-03-28T01:30", "2026-03-29T01:30", "2026-03-30T00:30"],
  ],
  ["Europe/Berlin", "0 2 * * *", "2026-03-28T12:00", "2026-03-30T12:00", ["2026-03-29T01:00", "2026-03-30T00:00"]],
  ["Europe/Berlin", "30 2-3 * * *", "2026-03-28T12:00", "2026-03-29T12:00", ["2026-03-29T01:30"]],
  ["Europe/Berlin", "15,45 2 * * *", "2026-03-28T12:00", "2026-03-29T12:00", ["2026-03-29T01:15"]],
  ["Europe/Berlin", "* 2 * * *", "2026-03-28T12:00", "2026-03-29T12:00", ["2026-03-29T01:00"]],
  [
    "Europe/Berlin",
    "30 * * * *",
    "2026-03-28T23:00",
    "2026-03-29T02:00",
    ["2026-03-28T23:30", "2026-03-29T00:30", "2026-03-29T01:30"],
  ],
  [
    "America/Sao_Paulo",
    "@daily",
    "2018-11-03T00:00",
    "2018-11-06T00:00",
    ["2018-11-03T03:00", "2018-11-04T03:00", "2018-11-05T02:00"],
  ],
  ["America/Sao_Paulo", "30 0 4 11 *", "2018-01-01T00:00", "2018-12-31T00:00", ["2018-11-04T03:30"]],
  [
    "Australia/Lord_Howe",
    "15 2 * * *",
    "2026-10-02T00:00",
    "2026-10-05T00:00",
    ["2026-10-02T15:45", "2026-10-03T15:45", "2026-10-04T15:15"],
  ],
];

// Europe/Berlin: 2026-10-25 03:00 → 02:00 at 01:00 UTC. America/Sao_Paulo: 2019-02-17 00:00 → 23:00 at 02:00 UTC.
// Australia/Lord_Howe: 2026-04-05 02:00 → 01:30 at 15:00 UTC the day before.
const overlaps: Case[] = [
  ["Europe/Berlin", "30 2 * * *", "2026-10-24T12:00", "2026-10-26T12:00", ["2026-10-25T00:30", "2026-10-26T01:30"]],
  ["Europe/Berlin", "0 3 * * *", "2026-10-24T12:00", "2026-10-25T12:00", ["2026-10-25T02:00"]],
  ["Europe/Berlin", "15,45 2 * * *", "2026-10-24T12:00", "2026-10-25T12:00", ["2026-10-25T00:15", "2026-10-25T00:45"]],
  ["Europe/Berlin", "30 2 * * *", "2026-10-25T00:45", "2026-10-25T12:00", []],
  [
    "Europe/Berlin",
    "30 * * * *",
    "2026-10-25T00:00",
    "2026-10-25T03:00",
    ["2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30"],
  ],
  ["Europe/Berlin", "30 0-23 * * *", "2026-10-25T00:00", "2026-10-25T02:00", ["2026-10-25T00:30", "2026-10-25T01:30"]],
  [
    "Europe/Berlin",
    "30 */2 * * *",
    "2026-10-24T22:00",
    "2026-10-25T04:00",
    ["2026-10-24T22:30", "2026-10-25T00:30", "2026-10-25T03:30"],
  ],
  [
    "America/Sao_Paulo",
    "30 23 * * *",
    "2019-02-16T12:00",
    "2019-02-18T12:00",
    ["2019-02-17T01:30", "2019-02-18T02:30"],
  ],
  ["America/Sao_Paulo", "@daily", "2019-02-16T12:00", "2019-02-17T12:00", ["2019-02-17T03:00"]],
  [
    "Australia/Lord_Howe",
    "45 1 * * *",
    "2026-04-04T00:00",
    "2026-04-06T00:00",
    ["2026-04-04T14:45", "2026-04-05T15:15"],
  ],
];

describe("times in an hour that clocks leave out", () => {
  for (const row of gaps) test(title(row), () => check(row));

  test("a time that was moved is found from every moment before it, also from behind the gap", () => {
    for (const after of ["2026-03-29T00:59", "2026-03-29T01:00", "2026-03-29T01:29"]) {
      const moved = nextInstant({ expression: "30 2 * * *", timezone: "Europe/Berlin", after: utc(after) });
      expect(moved).toBe(utc("2026-03-29T01:30"));
    }
    const next = nextInstant({ expression: "30 2 * * *", timezone: "Europe/Berlin", after: utc("2026-03-29T01:30") });
    expect(next).toBe(utc("2026-03-30T00:30"));
  });
});

describe("times in an hour that clocks repeat", () => {
  for (const row of overlaps) test(title(row), () => check(row));
});

describe("due instants", () => {
  const due = (after: string, until: string, limit: number, expression = "* * * * *") =>
    dueInstants({ expression, timezone: "UTC", after: utc(after), until: utc(until), limit });

  test("the last handled one is left out, the moment of the look is in", () => {
    expect(due("2026-01-01T00:00", "2026-01-01T00:02", 9)).toEqual([utc("2026-01-01T00:01"), utc("2026-01-01T00:02")]);
    expect(due("2026-01-01T00:02", "2026-01-01T00:02", 9)).toEqual([]);
  });

  test("none when the clock was set back behind the last handled one", () => {
    expect(due("2026-01-01T05:00", "2026-01-01T04:00", 9)).toEqual([]);
  });

  test("of more than the limit the newest, after a year as after an hour", () => {
    const newest = [utc("2026-01-01T00:58"), utc("2026-01-01T00:59"), utc("2026-01-01T01:00")];
    expect(due("2026-01-01T00:00", "2026-01-01T01:00", 3)).toEqual(newest);
    expect(due("2025-01-01T00:00", "2026-01-01T01:00", 3)).toEqual(newest);
    expect(due("2000-01-01T00:00", "2026-01-01T01:00", 2, "0 0 29 2 *")).toEqual([
      utc("2020-02-29T00:00"),
      utc("2024-02-29T00:00"),
    ]);
  });

  test("a schedule that never comes has none", () => {
    expect(due("2026-01-01T00:00", "2027-01-01T00:00", 9, "0 0 31 2 *")).toEqual([]);
    expect(nextInstant({ expression: "0 0 31 2 *", timezone: "UTC", after: 0 })).toBeUndefined();
  });

  test("a bad expression throws", () => {
    expect(() => due("2026-01-01T00:00", "2026-01-02T00:00", 9, "61 * * * *")).toThrow();
  });
});

describe("what becomes of a due instant", () => {
  const now = utc("2026-01-01T12:00");
  const look = (due: number[], fields: Partial<CronLook> = {}) =>
    decide({ due, now, startingDeadlineMs: 100_000, policy: "Allow", running: 0, ...fields });
  const actions = (due: number[], fields: Partial<CronLook> = {}) => look(due, fields).map(({ action }) => action);

  test("nothing due, nothing decided", () => {
    expect(look([])).toEqual([]);
  });

  test("it runs, also at the very end of the starting deadline", () => {
    expect(look([now])).toEqual([{ instant: now, action: "run", why: "due" }]);
    expect(actions([now - 100_000])).toEqual(["run"]);
    expect(actions([now - 100_001])).toEqual(["missed"]);
    expect(actions([now - 3_600_000], { startingDeadlineMs: 3_600_000 })).toEqual(["run"]);
    expect(actions([now - 5_001], { startingDeadlineMs: 5_000 })).toEqual(["missed"]);
  });

  test("too late says how late", () => {
    expect(look([now - 7_200_000])[0]?.why).toBe("2h late, more than the starting deadline of 1m40s");
  });

  test("of several only the newest runs", () => {
    const due = [now - 90_000, now - 60_000, now];
    expect(look(due)).toEqual([
      { instant: now - 90_000, action: "missed", why: "a later instant was due as well" },
      { instant: now - 60_000, action: "missed", why: "a later instant was due as well" },
      { instant: now, action: "run", why: "due" },
    ]);
  });

  test("when even the newest is too late, all are missed", () => {
    expect(actions([now - 900_000, now - 600_000])).toEqual(["missed", "missed"]);
  });

  test("the policy decides when a run is under way, and only about the one that would run", () => {
    const due = [now - 60_000, now];
    expect(actions(due, { policy: "Allow", running: 2 })).toEqual(["missed", "run"]);
    expect(actions(due, { policy: "Forbid", running: 1 })).toEqual(["missed", "skipped"]);
    expect(actions(due, { policy: "Replace", running: 1 })).toEqual(["missed", "replace"]);
    expect(actions(due, { policy: "Forbid" })).toEqual(["missed", "run"]);
    expect(actions(due, { policy: "Replace" })).toEqual(["missed", "run"]);
    expect(look([now], { policy: "Forbid", running: 2 })[0]?.why).toBe(
      "2 runs are under way and concurrency_policy is Forbid",
    );
  });
});
