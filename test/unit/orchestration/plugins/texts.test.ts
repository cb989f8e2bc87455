import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../../../src/config/config.ts";
import { lockFiles } from "../../../../src/orchestration/plugins/lock.ts";
import { lockedTexts } from "../../../../src/orchestration/plugins/texts.ts";
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
