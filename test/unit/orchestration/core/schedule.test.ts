import { describe, expect, test } from "bun:test";
import { offsetOf, nextRun, scheduleFault, timezoneFault } from "../../../../src/orchestration/core/schedule.ts";

describe("expressions", () => {
  test.each([
    ...["* * * * *", "15 2 * * *", "*/5 0-6 1,15 * mon-fri", "0 0 * jan,FEB *", "0 0 * * 7", "0 0 29 2 *"],
    ...["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"],
  ])("%s is fine", (expression) => {
    expect(scheduleFault(expression)).toBeUndefined();
  });
  test.each(["", "* * * *", "* * * * * *", "60 * * * *", "*/0 * * * *", "5-1 * * * *", "@reboot", "@every 5m", "x"])(
    "%j is refused",
    (expression) => {
      expect(scheduleFault(expression)).toContain(`"${expression}" is not a schedule`);
    },
  );
  test.each(["0 0 30 2 *", "0 0 31 4,6,9,11 *"])("%s can never come", (expression) => {
    expect(scheduleFault(expression)).toContain("never comes");
  });
});

test("time zones", () => {
  for (const name of ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"]) {
    expect(timezoneFault(name)).toBeUndefined();
  }
  for (const name of ["", "Mars/Phobos", "Europe/Berlinn"]) expect(timezoneFault(name)).toContain(`"${name}"`);
});

test("the next run is counted in the time zone", () => {
  const from = Date.UTC(2026, 0, 1);
  expect(nextRun("0 12 * * *", "UTC", from)).toBe(Date.UTC(2026, 0, 1, 12));
  expect(nextRun("0 12 * * *", "Europe/Berlin", from)).toBe(Date.UTC(2026, 0, 1, 11));
  expect(nextRun("0 0 30 2 *", "UTC", from)).toBeUndefined();
});

test("the clocks of a zone: how far from UTC, before and after a change", () => {
  const change = Date.UTC(2026, 2, 29, 1);
  expect([offsetOf("Europe/Berlin", change - 1), offsetOf("Europe/Berlin", change)]).toEqual([
    "GMT+01:00",
    "GMT+02:00",
  ]);
  expect(offsetOf("UTC", change)).toBe(offsetOf("UTC", 0));
  expect(offsetOf("Australia/Lord_Howe", change)).toBe("GMT+11:00");
  expect(() => offsetOf("Nowhere/Land", change)).toThrow();
});
