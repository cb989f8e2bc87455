import { expect, test } from "bun:test";
import { outdatedBackups } from "../../../../plugins/kit/backups.ts";

const now = Date.parse("2026-01-10T00:00:00Z");
const day = 24 * 3_600_000;
const backup = (date: string) => ({ id: `${date}T000000Z`, bytes: 1, holds: "" });
const list = ["20260109", "20260105", "20260101"].map(backup);
const none = Number.POSITIVE_INFINITY;

test("what is beyond the count or the age goes", () => {
  expect(outdatedBackups(list, { keep: 2, maxAgeMs: none, now })).toEqual(["20260101T000000Z"]);
  expect(outdatedBackups(list, { keep: none, maxAgeMs: 3 * day, now })).toEqual([
    "20260105T000000Z",
    "20260101T000000Z",
  ]);
});

test("the newest stays, however old it is", () => {
  expect(outdatedBackups(list, { keep: 1, maxAgeMs: 1, now })).toHaveLength(2);
  expect(outdatedBackups([], { keep: 1, maxAgeMs: 1, now })).toEqual([]);
});
