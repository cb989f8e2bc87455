import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLookout } from "../../../../../src/orchestration/engine/docker/lookout.ts";

/** A file of this test alone: a watch hears of what any other program writes to its file. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lookout."));
  writeFileSync(join(folder, "log"), "");
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
  rmSync(folder, { recursive: true });
});

/** How often a log that grows by so many bytes at each look is looked at within 400 ms. */
function looksAt(bytes: number): number {
  let looks = 0;
  const hold = () => {
    looks += 1;
    return { isReadable: false, grown: bytes };
  };
  const lookout = createLookout(join(folder, "log"), { hold });
  jest.advanceTimersByTime(400);
  lookout.close();
  return looks;
}

test("a log that is written slowly is looked at more rarely than a fast one, and a silent one hardly at all", () => {
  const [fast, slow, silent] = [looksAt(Number.POSITIVE_INFINITY), looksAt(100), looksAt(0)];
  expect(fast).toBeGreaterThan(300);
  expect([slow, silent]).toEqual([26, 9]);
});
