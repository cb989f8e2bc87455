import { expect, test } from "bun:test";
import { diskSpace } from "../../../../src/base/disk/disk-space.ts";

test("folders of one disk are one, and a folder that is gone is left out", async () => {
  const disks = await diskSpace(["/", "/etc", "/no/such/folder"]);
  expect(disks.map(({ mount }) => mount)).toEqual(["/"]);
  expect(disks[0]?.usedPercent).toBeGreaterThan(0);
  expect(disks[0]?.usedPercent).toBeLessThanOrEqual(100);
});
