import { describe, expect, test } from "bun:test";
import { deployMessage, ownMessage } from "../../../../src/orchestration/core/deploy-message.ts";

describe("the message of a deploy", () => {
  test.each([
    [undefined, undefined],
    ["", undefined],
    [" \t", undefined],
    [" raise the limit ", "raise the limit"],
    ["größer 🚀", "größer 🚀"],
  ])("%p is kept as %p", (text, kept) => expect(deployMessage(text, 20)).toBe(kept));

  test("counts characters, not bytes", () => {
    expect(deployMessage("🚀".repeat(5), 5)).toBe("🚀".repeat(5));
    expect(() => deployMessage("🚀".repeat(6), 5)).toThrow("message: it has 6 characters; at most 5 are allowed");
  });

  test.each(["a\nb", "a\u0000b", "\u001b[31mred", "a\u2028b"])("%p is refused: releases are rows", (text) =>
    expect(() => deployMessage(text, 20)).toThrow("message: it must be one line"),
  );
});

test("what the server says about a change is made to fit the same rules", () => {
  for (const text of [" a\nb\u2028c ", "🚀".repeat(30), `${"x".repeat(19)}\n`]) {
    expect(deployMessage(ownMessage(text, 20), 20)).toBe(ownMessage(text, 20));
  }
  expect([ownMessage(" a\nb\u2028c ", 20), ownMessage("🚀".repeat(30), 20)]).toEqual(["a b c", "🚀".repeat(20)]);
});
