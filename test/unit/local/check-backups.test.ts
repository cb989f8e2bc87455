import { expect, test } from "bun:test";
import type { BackupTarget } from "../../../src/backups/api/backups.ts";
import { checkBackups } from "../../../src/local/check-backups.ts";

const disk: BackupTarget = {
  name: "disk",
  url: "/mnt/disk",
  every: "1d",
  keep: "7d",
  created_at: "2026-01-01T00:00:00Z",
};
const away = { ...disk, name: "far", last_error: "connection refused" };

test.each([
  ["no server", undefined, "skip", "only the running server knows"],
  ["no target", [], "skip", "no target"],
  ["copies that arrive", [disk, { ...disk, name: "nas" }], "ok", "to disk, nas"],
  ["a target that is away", [disk, away], "fail", "copies to far fail: connection refused"],
  [
    "a volume without its copy",
    [{ ...disk, volume_errors: ["shop/db/data/0: full"] }],
    "fail",
    "fail: shop/db/data/0: full",
  ],
  [
    "a check that failed",
    [away, { ...disk, check_error: "a pack is cut off" }],
    "fail",
    "disk failed: a pack is cut off",
  ],
] satisfies [string, BackupTarget[] | undefined, string, string][])("%s", (_what, targets, status, text) => {
  const check = checkBackups(targets);
  expect(check).toMatchObject({ name: "off-site backups", status, detail: expect.stringContaining(text) });
  expect(check.mend !== undefined).toBe(status === "fail");
});
