import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backupAge, markBackup } from "../../../../src/base/disk/backup-mark.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-mark-"));
  writeFileSync(join(folder, "key"), "k");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("the time of the newest backup is known, also when none was made yet", async () => {
  const layout = { backups: folder, key: join(folder, "key") };
  const fresh = await backupAge(layout);
  expect(fresh).not.toHaveProperty("newestAt");
  expect(Math.abs(Date.now() - fresh.installedAt)).toBeLessThan(60_000);
  await markBackup(layout, 1_700_000_000_000);
  expect(await backupAge(layout)).toMatchObject({ newestAt: 1_700_000_000_000 });
  writeFileSync(join(folder, "last"), "damaged");
  expect(await backupAge(layout)).not.toHaveProperty("newestAt");
});
