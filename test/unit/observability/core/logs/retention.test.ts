import { expect, test } from "bun:test";
import { clockLook, clockStart, toDrop } from "../../../../../src/observability/core/logs/retention.ts";

const limits = { ageMs: 100, bytesMax: 100, appBytesMax: 60, freeShare: 0.1 };
const disk = { freeBytes: 500, totalBytes: 1_000 };
const segment = (name: string, untilMs: number, bytes: number) => ({
  app: { scope: "s", name },
  path: `${name}-${untilMs}`,
  bytes,
  untilMs,
});
const dropped = (segments: ReturnType<typeof segment>[], now = { ageFrom: 0 as number | undefined, disk }) =>
  toDrop(segments, limits, now).map((one) => `${one.segment.path} ${one.reason}`);

test("what is old goes, unless the clock cannot be trusted", () => {
  const segments = [segment("a", 10, 1), segment("a", 200, 1)];
  expect(dropped(segments, { ageFrom: 100, disk })).toEqual(["a-10 age"]);
  expect(dropped(segments, { ageFrom: undefined, disk })).toEqual([]);
});

test("an app that has too much loses its own oldest", () => {
  expect(dropped([segment("a", 1, 40), segment("a", 2, 40), segment("b", 1, 10)])).toEqual(["a-1 app"]);
});

test("the oldest of all go above the total, and for a full disk", () => {
  expect(dropped([segment("a", 1, 50), segment("b", 2, 50), segment("c", 3, 50)])).toEqual(["a-1 total"]);
  const full = { ageFrom: 0, disk: { freeBytes: 80, totalBytes: 1_000 } };
  expect(dropped([segment("a", 1, 15), segment("b", 2, 15), segment("c", 3, 15)], full)).toEqual([
    "a-1 disk",
    "b-2 disk",
  ]);
});

test("a clock that was set holds ages back for a while", () => {
  const jump = { jumpMs: 100, holdMs: 1_000 };
  const start = clockStart(5_000, 0);
  const even = clockLook(start, { wallMs: 5_050, steadyMs: 60 }, jump);
  expect(even.heldUntilMs).toBe(0);
  const jumped = clockLook(even, { wallMs: 9_000, steadyMs: 70 }, jump);
  expect(jumped.heldUntilMs).toBe(1_070);
  expect(clockLook(jumped, { wallMs: 9_010, steadyMs: 80 }, jump).heldUntilMs).toBe(1_070);
});
