import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withLock } from "../../../../src/client/remote/tunnel-lock.ts";
import { systemClock } from "../../../../src/base/words/clock.ts";
import { folder } from "../../../support/files.ts";

const { signal } = new AbortController();

test("one at a time, and it is free again after a failure", async () => {
  using place = folder({});
  const file = join(place.path, "lock");
  const waiting = { clock: systemClock, patienceMs: 5_000, signal };
  let inside = 0;
  const work = async () => {
    inside += 1;
    await Bun.sleep(1);
    expect(inside).toBe(1);
    inside -= 1;
    return "done";
  };
  const all = await Promise.all([1, 2, 3].map(() => withLock(file, waiting, work)));
  expect(all).toEqual([{ value: "done" }, { value: "done" }, { value: "done" }]);
  await expect(withLock(file, waiting, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(existsSync(file)).toBe(false);
});

test("a process that has ended holds nothing; a live one is waited for only so long", async () => {
  using place = folder({});
  const file = join(place.path, "lock");
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  writeFileSync(file, String(ended.pid));
  expect(await withLock(file, { clock: systemClock, patienceMs: 5_000, signal }, async () => 1)).toEqual({ value: 1 });
  writeFileSync(file, "1");
  expect(await withLock(file, { clock: systemClock, patienceMs: 60, signal }, async () => 1)).toBeUndefined();
  const stopped = { clock: systemClock, patienceMs: 60_000, signal: AbortSignal.abort() };
  expect(await withLock(file, stopped, async () => 1)).toBeUndefined();
});
