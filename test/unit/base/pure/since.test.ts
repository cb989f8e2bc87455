import { expect, test } from "bun:test";
import { parseSince } from "../../../../src/base/pure/since.ts";

const now = Date.UTC(2026, 0, 31, 12);

test.each<[string, number]>([
  ["2026-01-31T11:00:00Z", now - 3_600_000],
  ["2026-01-31T11:00:00.123456789Z", now - 3_600_000 + 123],
  ["2026-01-31 12:00:00+01:00", now - 3_600_000],
  ["0", 0],
  ["1769857200", 1_769_857_200_000],
  ["1769857200.5", 1_769_857_200_500],
  ["10m", now - 600_000],
  ["1d2h", now - 93_600_000],
])("%s", (text, at) => {
  expect(parseSince(text, now)).toEqual({ ok: true, value: at });
});

test.each(["", "yesterday", "-5m", "2026-01-31", "2026-13-31T11:00:00Z", "1e9"])("%p is not a time", (text) => {
  const result = parseSince(text, now);
  expect(result.ok ? "" : result.error).toContain(`"${text}" is not a time`);
});
