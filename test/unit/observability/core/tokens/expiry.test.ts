import { expect, test } from "bun:test";
import { parseExpiry } from "../../../../../src/observability/core/tokens/request.ts";

const now = Date.UTC(2026, 0, 1);
const dayMs = 86_400_000;
const parse = (text: string) => parseExpiry(text, { now, maxMs: 3_660 * dayMs });

test.each([
  ["never", undefined],
  ["90d", now + 90 * dayMs],
  ["12h", now + 12 * 3_600_000],
  ["2w", now + 14 * dayMs],
  ["30m", now + 30 * 60_000],
  ["2027-01-01T00:00:00Z", Date.UTC(2027, 0, 1)],
  ["2027-01-01T01:00:00+01:00", Date.UTC(2027, 0, 1)],
])("%s is read", (text, value) => {
  expect(parse(text)).toEqual({ ok: true, value });
});

test.each([
  ["", "is not a time"],
  ["soon", "is not a time"],
  ["90", "is not a time"],
  ["1h30m", "is not a time"],
  ["2027-13-01T00:00:00Z", "is not a time"],
  ["2025-01-01T00:00:00Z", "is not in the future"],
  ["0d", "is not in the future"],
  ["9999d", "is more than ten years away"],
])("%j is refused", (text, error) => {
  expect(parse(text)).toEqual({ ok: false, error: expect.stringContaining(error) });
});
