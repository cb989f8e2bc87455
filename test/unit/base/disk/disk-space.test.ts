import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskSpace, isReadOnly } from "../../../../src/base/disk/disk-space.ts";

test("folders of one disk are one, and a folder that is gone is left out", async () => {
  const disks = await diskSpace(["/", "/etc", "/no/such/folder"], "/etc");
  expect(disks.map(({ mount }) => mount)).toEqual(["/"]);
  expect(disks[0]?.usedPercent).toBeGreaterThan(0);
  expect(disks[0]?.usedPercent).toBeLessThanOrEqual(100);
});

test("a folder that can be written is on no read-only disk, and keeps its mode", async () => {
  const folder = mkdtempSync(join(tmpdir(), "space-"));
  chmodSync(folder, 0o2751);
  expect([isReadOnly(folder), statSync(folder).mode & 0o7777]).toEqual([false, 0o2751]);
  const [disk, ...others] = await diskSpace([folder], folder);
  expect([disk?.mount, disk?.readOnly, others]).toEqual([folder, false, []]);
  rmSync(folder, { recursive: true });
  // The folder of the kernel takes no changes, and is not ours.
  expect((await diskSpace(["/proc"], tmpdir())).map(({ readOnly }) => readOnly)).not.toContain(true);
});
