import { describe, expect, test } from "bun:test";
import { agoText, axisTexts, clockText, exactText, localTimes } from "../../../../src/ui/text/times.ts";

const now = Date.UTC(2026, 0, 2, 12);

describe("times", () => {
  test.each([
    [0, "now"],
    [4_000, "now"],
    [40_000, "40 s ago"],
    [300_000, "5 min ago"],
    [3 * 3_600_000, "3 h ago"],
    [50 * 3_600_000, "2 d ago"],
    [-300_000, "in 5 min"],
  ])("%d ms ago", (ms, text) => expect(agoText(now - ms, now)).toBe(text));

  test("the exact time is in the viewer's zone and names it", () => {
    expect(exactText(now, "UTC")).toBe("2026-01-02 12:00:00 UTC");
    expect(exactText(now, "Europe/Berlin")).toBe("2026-01-02 13:00:00 CET");
  });

  test("an axis names the day where it changes", () => {
    const hours = [22, 23, 24, 25].map((hour) => Date.UTC(2026, 0, 2, hour) / 1000);
    expect(axisTexts(hours, "UTC")).toEqual(["22:00", "23:00", "3 Jan", "01:00"]);
  });

  test("times in a text of the server are in the viewer's zone too", () => {
    expect(localTimes("fails since 2026-01-02T12:00:00Z: 404", "Europe/Berlin")).toBe(
      "fails since 2026-01-02 13:00:00 CET: 404",
    );
    expect(localTimes("no time in 2026-01-02", "UTC")).toBe("no time in 2026-01-02");
  });

  test("a line has milliseconds", () => expect(clockText(now + 7, "UTC")).toBe("12:00:00.007"));
});
