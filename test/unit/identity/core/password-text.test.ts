import { expect, test } from "bun:test";
import { passwordText, passwordTexts } from "../../../../src/identity/core/password-text.ts";

test.each([
  ["correct horse", "correct horse"],
  ["Cafe\u0301", "Caf\u00e9"],
  ["a\u00a0b\u3000c", "a b c"],
  ["\u212b", "\u00c5"],
  ["\uff21\ufb01", "\uff21\ufb01"],
  [" Case And Ends ", " Case And Ends "],
  ["a\ud800b", "a\ufffdb"],
])("%j is hashed as %j", (typed, text) => {
  expect(passwordText(typed)).toBe(text);
  expect(passwordText(text)).toBe(text);
});

test("what was typed is a second form only where it differs", () => {
  expect(passwordTexts("caf\u00e9")).toEqual(["caf\u00e9"]);
  expect(passwordTexts("cafe\u0301")).toEqual(["caf\u00e9", "cafe\u0301"]);
});
