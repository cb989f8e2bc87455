import { expect, test } from "bun:test";
import fc from "fast-check";
import { forecastFull } from "../../../../../src/observability/core/host/forecast.ts";

const hour = 3_600_000;
const line = (count: number, start: number, perHour: number) =>
  Array.from({ length: count }, (_, at) => ({ at: at * hour, bytes: start + at * perHour }));

test("less than a day of figures is no ground for a forecast", () => {
  expect(forecastFull([], 100)).toEqual({ state: "history" });
  expect(forecastFull(line(24, 0, 1), 100)).toEqual({ state: "history" });
  expect(
    forecastFull(
      line(3, 0, 1).map(({ at, bytes }) => ({ at: at * 24, bytes })),
      100,
    ),
  ).toEqual({ state: "history" });
});

test("a disk that does not grow, or grows too slowly for a year, is steady", () => {
  expect(forecastFull(line(48, 50, 0), 100)).toEqual({ state: "steady" });
  expect(forecastFull(line(48, 90, -1), 100)).toEqual({ state: "steady" });
  expect(forecastFull(line(48, 0, 1), 1_000_000)).toEqual({ state: "steady" });
});

test("one that is full is full now", () => {
  expect(forecastFull(line(48, 100, 0), 100)).toEqual({ state: "filling", at: 47 * hour });
});

test("a steady growth ends where its line does", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 25, max: 168 }),
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.integer({ min: 1, max: 8_000 }),
      (count, perHour, hoursLeft) => {
        const readings = line(count, 10, perHour);
        const total = (readings.at(-1)?.bytes ?? 0) + perHour * hoursLeft;
        const found = forecastFull(readings, total);
        expect(found.state).toBe("filling");
        const wanted = (count - 1 + hoursLeft) * hour;
        expect(Math.abs((found.state === "filling" ? found.at : 0) - wanted)).toBeLessThan(hour);
      },
    ),
  );
});
