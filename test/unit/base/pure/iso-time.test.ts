import { expect, test } from "bun:test";
import { spanTimes } from "../../../../src/base/pure/iso-time.ts";

test("an end is never before its beginning, whatever the clocks say", () => {
  const [early, late] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2)];
  const [earlyText, lateText] = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"];
  expect(spanTimes(early, late)).toEqual({ started_at: earlyText, ended_at: lateText });
  expect(spanTimes(late, early)).toEqual({ started_at: lateText, ended_at: lateText });
  expect(spanTimes(early, undefined)).toEqual({ started_at: earlyText });
  expect(spanTimes(undefined, early)).toEqual({ ended_at: earlyText });
  expect(spanTimes(undefined, undefined)).toEqual({});
});
