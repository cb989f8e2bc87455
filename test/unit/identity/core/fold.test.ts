import { expect, test } from "bun:test";
import { fold, isAscii } from "../../../../src/identity/core/fold.ts";

test("takes the case away and nothing else", () => {
  expect(["ABC xyz", "Ünal ÇELİK", "ΣΑΣ", "straße", "𝒜"].map(fold)).toEqual([
    "abc xyz",
    "ünal çelİk",
    "σασ",
    "straße",
    "𝒜",
  ]);
});

test("no character beyond ASCII becomes one of it: SQLite's like sees it the same way", () => {
  for (let code = 0x80; code < 0x1_0000; code++) {
    const folded = fold(String.fromCharCode(code));
    if (/[\x00-\x7f]/.test(folded)) throw new Error(`U+${code.toString(16)} becomes ${folded}`);
  }
  expect(isAscii("abc~")).toBe(true);
  expect(isAscii("abç")).toBe(false);
});
