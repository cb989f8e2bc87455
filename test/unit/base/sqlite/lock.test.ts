import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { Failure } from "../../../../src/base/wire/failure.ts";
import { takeLock } from "../../../../src/base/sqlite/lock.ts";
import { type TestRoot, testRoot } from "../../../support/store-root.ts";

let at: TestRoot;
beforeEach(() => {
  at = testRoot();
});
afterEach(() => at.remove());

test("a second taker is refused with the pid of the first", () => {
  const release = takeLock(at.lockPath, at.root);
  try {
    takeLock(at.lockPath, at.root);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(Failure);
    expect(error).toMatchObject({ code: "conflict" });
    expect(String(error)).toContain(`root "${at.root}" is in use by pid ${process.pid}`);
  }
  release();
});

test("it can be taken again after release, and a refused taker does not loosen it", () => {
  const first = takeLock(at.lockPath, at.root);
  expect(() => takeLock(at.lockPath, at.root)).toThrow("in use");
  expect(() => takeLock(at.lockPath, at.root)).toThrow("in use");
  first();
  takeLock(at.lockPath, at.root)();
});

test("a lock file that cannot be opened is named", () => {
  expect(() => takeLock(`${at.root}/missing/lock.db`, at.root)).toThrow("missing/lock.db");
});

test("a lock file that is no database is named", () => {
  writeFileSync(at.lockPath, "x".repeat(5_000));
  expect(() => takeLock(at.lockPath, at.root)).toThrow("lock.db");
});
