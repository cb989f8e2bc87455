import { expect, test } from "bun:test";
import { globsMax } from "../../../../../src/observability/core/tokens/grant.ts";
import { parseExpiry, readTokenRequest } from "../../../../../src/observability/core/tokens/request.ts";

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

const bounds = { now, lifeMaxMs: 3_660 * dayMs, nameCharactersMax: 20, networksMax: 3 };
const problemsOf = (request: object) => readTokenRequest({ scopes: ["read"], ...request }, bounds).problems;
const many = (count: number, word: (index: number) => string) => Array.from({ length: count }, (_, at) => word(at));

test.each([
  ["name", "name", (count: number) => "x".repeat(count), 20, "is longer than 20 characters"],
  [
    "apps",
    "apps",
    (count: number) => many(count, (at) => `shop/a${at}`),
    globsMax,
    `has more than ${globsMax} entries`,
  ],
  ["networks", "cidr", (count: number) => many(count, (at) => `10.0.0.${at}`), 3, "has more than 3 entries"],
] as const)("%s may be as many as the limit, and no more", (_, path, value, max, message) => {
  expect(problemsOf({ [path]: value(max) })).toEqual([]);
  expect(problemsOf({ [path]: value(max + 1) })).toEqual([{ path, message }]);
});

test("what a token is asked for loses spaces and repetitions", () => {
  const asked = {
    scopes: [" Read ", "actions"],
    name: " ci ",
    apps: ["shop", " shop "],
    cidr: ["10.0.0.1", "10.0.0.1 "],
  };
  expect(readTokenRequest(asked, bounds)).toEqual({
    terms: { scopes: ["read", "actions"], name: "ci", apps: ["shop"], networks: ["10.0.0.1"], expiresAt: undefined },
    problems: [],
  });
});
