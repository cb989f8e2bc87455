import { expect, test } from "bun:test";
import { releaseId } from "../../../../src/orchestration/core/release-id.ts";

const bytes = (...values: number[]) => new Uint8Array(values);
const at = Date.UTC(2026, 0, 1);

test("has the shape of the contract", () => {
  expect(releaseId(at, bytes(1, 35))).toMatch(/^[0-9a-z]{9}$/);
  expect(releaseId(0, bytes(0, 0))).toBe("000000000");
});

test("is the second in base 36 and two drawn characters", () => {
  expect(releaseId(at, bytes(10, 36))).toBe(`${(at / 1000).toString(36).padStart(7, "0")}a0`);
});

test("sorts by time, whatever is drawn", () => {
  const ids = [0, 1, 36, 1_000_000].map((second, index) =>
    releaseId(at + second * 1000, bytes(255 - index * 50, index)),
  );
  expect(ids.toSorted()).toEqual(ids);
});

test("within one second differs by what is drawn alone", () => {
  expect(releaseId(at + 999, bytes(1, 2))).toBe(releaseId(at, bytes(1, 2)));
  expect(releaseId(at, bytes(1, 3))).not.toBe(releaseId(at, bytes(1, 2)));
});
