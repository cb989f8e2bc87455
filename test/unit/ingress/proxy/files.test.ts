import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyWhenLarge, readFiles, removeFiles, writeFiles } from "../../../../src/ingress/proxy/files.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "files-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, content: string, mode: 0o600 | 0o644 = 0o644) => ({
  path: join(folder, name),
  content,
  mode,
});

test("files are written with their modes, in folders that are made", async () => {
  await writeFiles([file("a", "1"), file("deep/b", "2", 0o600)]);
  expect(readFileSync(join(folder, "deep/b"), "utf8")).toBe("2");
  expect([statSync(join(folder, "a")).mode & 0o777, statSync(join(folder, "deep/b")).mode & 0o777]).toEqual([
    0o644, 0o600,
  ]);
});

test("when one cannot be written, the others stay what they were, and nothing is left beside them", async () => {
  await writeFiles([file("a", "old")]);
  // A file stands where a folder is needed.
  const failed = await writeFiles([file("a", "new"), file("a/b", "x")]).catch(() => "failed");
  expect(failed).toBe("failed");
  expect(readFileSync(join(folder, "a"), "utf8")).toBe("old");
  expect(readdirSync(folder)).toEqual(["a"]);
});

test("what was there before is read, to be put back", async () => {
  await writeFiles([file("a", "old")]);
  const before = await readFiles([file("a", "new"), file("b", "new")]);
  expect(before.map((one) => one.before)).toEqual(["old", undefined]);
  await removeFiles([join(folder, "a"), join(folder, "none")]);
  expect(readdirSync(folder)).toEqual([]);
});

test("a log is emptied only once it is large, and whoever appends to it goes on at its beginning", async () => {
  const path = join(folder, "log");
  appendFileSync(path, "x".repeat(100));
  const writer = openSync(path, "a");
  await emptyWhenLarge(path, 100);
  expect(statSync(path).size).toBe(100);
  await emptyWhenLarge(path, 99);
  writeSync(writer, "next");
  closeSync(writer);
  expect(readFileSync(path, "utf8")).toBe("next");
  await emptyWhenLarge(join(folder, "none"), 1);
});
