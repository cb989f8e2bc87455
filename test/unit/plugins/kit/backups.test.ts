import { expect, test } from "bun:test";
import { backupsLine, checkText, readBackup } from "../../../../plugins/kit/backups.ts";
import { readStatus } from "../../../../plugins/kit/cluster.ts";

test("a line of the list says what the check found", () => {
  const failed = readBackup("20260102T030405Z\t9\tfailed\t2026-01-02T03:05:00Z\trows differ\tshop,stats");
  expect(failed).toEqual({
    ...{ id: "20260102T030405Z", bytes: 9, holds: "shop,stats" },
    ...{ check: "failed", checked_at: "2026-01-02T03:05:00Z", reason: "rows differ" },
  });
  expect(checkText(failed)).toBe("failed: rows differ");
  const unchecked = readBackup("20260102T030405Z\t9\tunchecked\t\t\t12");
  expect(unchecked).toEqual({ id: "20260102T030405Z", bytes: 9, holds: "12", check: "unchecked" });
  expect(checkText(unchecked)).toBe("not checked");
});

test("scripts of older blocks know of no checks", () => {
  expect(readBackup("20260102T030405Z 9 shop, stats")).toEqual({
    ...{ id: "20260102T030405Z", bytes: 9, holds: "shop, stats", check: "unchecked" },
  });
});

test("info counts what failed apart", () => {
  expect(backupsLine(readStatus("backups=3\nfailed_backups=1"), "2")).toBe(
    "backups: 3, 1 of them failed the check, keep 2",
  );
  expect(backupsLine(readStatus("backups=3"), undefined)).toBe("backups: 3, keep 7");
});
