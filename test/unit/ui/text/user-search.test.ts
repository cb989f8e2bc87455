import { expect, test } from "bun:test";
import { searchOf } from "../../../../src/ui/text/user-search.ts";

test.each([
  ["", undefined],
  ["  ", undefined],
  ["ana", "email:*ana*"],
  ["ana@shop.test", "email:*ana@shop.test*"],
  ["an*", "email:*an*"],
  ["an\\", "email:*an\\\\*"],
  ["name:*ana* created_at>2026-01-01", "name:*ana* created_at>2026-01-01"],
  ["-email:*@shop.test ana", "-email:*@shop.test email:*ana*"],
])("%j is looked for as %j", (typed, query) => expect(searchOf(typed, "email")).toBe(query));
