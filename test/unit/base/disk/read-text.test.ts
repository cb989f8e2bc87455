import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readTextFile } from "../../../../src/base/disk/read-text.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-text-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("the text of a file, up to the limit", async () => {
  const path = join(folder, "a");
  writeFileSync(path, "four");
  expect(await readTextFile(path, 4)).toBe("four");
  await expect(readTextFile(path, 3)).rejects.toThrow(`"${path}" has 4 bytes; the most is 3`);
});

test("what is no file is refused in words, and a pipe is not waited for", async () => {
  await expect(readTextFile(join(folder, "gone"), 9)).rejects.toThrow('gone" does not exist');
  await expect(readTextFile(folder, 9)).rejects.toThrow("is not a file");
  Bun.spawnSync(["mkfifo", join(folder, "pipe")]);
  await expect(readTextFile(join(folder, "pipe"), 9)).rejects.toThrow("is not a file");
});
