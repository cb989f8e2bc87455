import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadKey } from "../../../src/base/disk/key-file.ts";
import type { Layout } from "../../../src/base/disk/layout.ts";
import { CommandFailure, exitCodes } from "../../../src/client/basics/failures.ts";
import { backupCommand } from "../../../src/local/backup.ts";
import { restoreCommand } from "../../../src/local/restore.ts";
import { diskRoot } from "../../support/disk-root.ts";
import { said } from "../../support/said.ts";

let layout: Layout;
let remove: () => void;
beforeEach(async () => {
  ({ layout, remove } = await diskRoot());
  await loadKey(layout);
  const database = new Database(layout.database);
  database.run("CREATE TABLE state (value TEXT)");
  database.close();
});
afterEach(() => remove());

async function backup(...args: string[]): Promise<unknown> {
  const ended = () => backupCommand([...args, "--root", layout.root]).catch((error: unknown) => error);
  return (await said(ended)).result;
}

test("a file that is there is written over with --force alone", async () => {
  const file = join(layout.root, "one.backup");
  writeFileSync(file, "mine");
  const refused = await backup(file);
  if (!(refused instanceof CommandFailure)) throw refused;
  expect([refused.exitCode, refused.message]).toEqual([
    exitCodes.refused,
    `"${file}" is there already: add --force to write over it; nothing was changed`,
  ]);
  expect(readFileSync(file, "utf8")).toBe("mine");
  expect(await backup(file, "--force")).toBe(0);
  expect(readFileSync(file).length).toBeGreaterThan("mine".length);
  expect(await backup(join(layout.root, "two.backup"))).toBe(0);
});

test("a folder that is not there is named, and nothing is asked about a backup that is not there", async () => {
  const nowhere = join(layout.root, "none");
  expect(await backup(join(nowhere, "one.backup"))).toMatchObject({
    message: `"${nowhere}" is not a folder: make it first, or name a file in another one`,
  });
  const restored = await said(() => restoreCommand([nowhere, "--root", layout.root]).catch((error: unknown) => error));
  expect(restored.result).toMatchObject({ message: `"${nowhere}" does not exist; nothing was changed` });
});
