import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../../../src/config/config.ts";
import { lockFiles } from "../../../../src/orchestration/plugins/lock.ts";
import { isTextsOf, lockedTexts } from "../../../../src/orchestration/plugins/texts.ts";
import { writeTree } from "../../../support/plugin-yard.ts";

test("texts of a lock are those that were locked, not what was written since then", async () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-texts-"));
  const sizes = { filesMax: 100, bytesMax: 1_000_000, inflation: limits.pluginInflation, texts: limits.pluginTexts };
  writeTree(folder, { "plugin.yml": "name: hello\n", "bin/hello": "\uFEFFone\n", "bin/other": "two\n" });
  const files = await lockFiles(folder, sizes);
  writeTree(folder, { "bin/other": "ten\n", "bin/more": "three\n" });
  expect(await lockedTexts(folder, files, sizes)).toEqual({
    "plugin.yml": "name: hello\n",
    "bin/hello": "\uFEFFone\n",
  });
  rmSync(folder, { recursive: true });
});

test("texts that are being written beside the versions are known as those of one, so that another install leaves them", () => {
  const files = [
    "5-a.texts.json",
    ".5-a.texts.json.a9a2f8f32e6b2fad.tmp",
    "5-ab.texts.json",
    ".5-ab.texts.json.0.tmp",
    "5-a",
  ];
  expect(files.map((file) => isTextsOf(file, "5-a"))).toEqual([true, true, false, false, false]);
});
