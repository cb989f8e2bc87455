import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockRepository } from "../../../../src/local/push/lock.ts";
import { folder } from "../../../support/files.ts";

test("one push at a time; the next one may when it has ended", () => {
  using place = folder({});
  const release = lockRepository(place.path, "shop");
  expect(() => lockRepository(place.path, "shop")).toThrow("another push to shop is being deployed");
  release();
  lockRepository(place.path, "shop")();
  expect(existsSync(join(place.path, "berth.lock"))).toBe(false);
});

test.each([["999999999"], ["rubbish"], [""]])("a lock of a process that is gone (%j) is taken over", (text) => {
  using place = folder({});
  writeFileSync(join(place.path, "berth.lock"), text);
  lockRepository(place.path, "shop")();
});
