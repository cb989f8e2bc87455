import { expect, test } from "bun:test";
import { retryAfterMs } from "../../../../src/base/deliver/declined.ts";

const now = Date.UTC(2026, 0, 1);

test.each([
  ["120", 120_000],
  [" 0 ", 0],
  ["Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
  ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
  ["soon", undefined],
  ["", undefined],
  [undefined, undefined],
])("Retry-After: %s", (header, wanted) => {
  expect(retryAfterMs(header, now)).toBe(wanted);
});
