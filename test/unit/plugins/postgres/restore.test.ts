import { expect, test } from "bun:test";
import { restoredText } from "../../../../plugins/postgres/commands/restore.ts";

test.each([
  ["3 12 all", "3 tables with 12 rows, as in the backup, and so are its owners, grants and settings"],
  [
    "3 12 rows",
    "3 tables with 12 rows, as in the backup (it is of an older version, which kept nothing else to compare)",
  ],
  // The tool of an older block.
  ["3 12", "3 tables with 12 rows, as in the backup (it is of an older version, which kept nothing else to compare)"],
  [
    "3 12 all\nmissing: database: connection limit 7",
    "3 tables with 12 rows, as in the backup, BUT these are not as in the backup: missing: database: connection limit 7",
  ],
])("%j", (said, text) => expect(restoredText(said)).toBe(text));

test("of many differences the first are named, and the others counted", () => {
  const lines = Array.from({ length: 12 }, (_, at) => `missing: table ${at}`);
  expect(restoredText(["1 1 all", ...lines].join("\n"))).toEndWith("missing: table 9; and 2 more");
});
