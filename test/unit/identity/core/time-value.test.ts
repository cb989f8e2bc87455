import { expect, test } from "bun:test";
import { parseTimeValue } from "../../../../src/identity/core/search.ts";

const day = Date.UTC(2026, 1, 28);

test("times as people write them, and how far they reach", () => {
  const cases: [string, number, number][] = [
    ["2026-02-28", day, 86_400_000],
    ["2026-02-28T00:00", day, 60_000],
    ["2026-02-28T01:02:03", day + 3_723_000, 1_000],
    ["2026-02-28T01:02:03Z", day + 3_723_000, 1_000],
    ["2026-02-28t01:02:03.5z", day + 3_723_500, 1],
    ["2026-02-28T01:02:03.123456Z", day + 3_723_123, 1],
    ["2026-02-28T01:02:03+02:00", day + 3_723_000 - 7_200_000, 1_000],
    ["2026-02-28T01:02:03-00:30", day + 3_723_000 + 1_800_000, 1_000],
    ["2024-02-29", Date.UTC(2024, 1, 29), 86_400_000],
    ["0001-01-01", Date.parse("0001-01-01T00:00:00Z"), 86_400_000],
  ];
  for (const [text, from, reach] of cases)
    expect([text, parseTimeValue(text)]).toEqual([text, { from, to: from + reach }]);
});

test("anything else is none", () => {
  const none = [
    "",
    "soon",
    "2026",
    "2026-2-1",
    "2026-02-30",
    "2025-02-29",
    "2026-13-01",
    "2026-00-10",
    "2026-02-28T24:00",
  ];
  const more = [
    "2026-02-28T10:61",
    "2026-02-28 10:00",
    "2026-02-28T10:00:00+25:00",
    "2026-02-28x",
    "20260228",
    "1767225600",
  ];
  for (const text of [...none, ...more]) expect([text, parseTimeValue(text)]).toEqual([text, undefined]);
});
