import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeAtomic } from "../../../../src/base/disk/atomic-write.ts";
import type { Layout } from "../../../../src/base/disk/layout.ts";
import { diskRoot } from "../../../support/disk-root.ts";

let layout: Layout;
let remove: () => void;
beforeEach(async () => {
  ({ layout, remove } = await diskRoot());
});
afterEach(() => remove());

test("the file has the content and exactly the mode, and nothing else is left", async () => {
  const path = join(layout.backups, "file");
  await writeAtomic(path, "one", 0o666);
  expect(readFileSync(path, "utf8")).toBe("one");
  expect(statSync(path).mode & 0o777).toBe(0o666);
  expect(readdirSync(layout.backups)).toEqual(["file"]);
});

test("a file that is there is replaced by a new one: who has it open keeps the old content", async () => {
  const path = join(layout.backups, "file");
  writeFileSync(path, "old");
  const { ino } = statSync(path);
  await writeAtomic(path, new TextEncoder().encode("new"), 0o600);
  expect(readFileSync(path, "utf8")).toBe("new");
  expect(statSync(path).ino).not.toBe(ino);
});

test("a failure names the file, leaves no half file and keeps what was there", async () => {
  const path = join(layout.backups, "folder");
  mkdirSync(path);
  await expect(writeAtomic(path, "x", 0o600)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining(path),
  });
  expect(readdirSync(layout.backups)).toEqual(["folder"]);
});
