import { describe, expect, test } from "bun:test";
import { lineDiff } from "../../../../../src/orchestration/core/plugins/line-diff.ts";

const wide = { linesMax: 1_000, charactersMax: 200 };
const diff = (before: string, after: string) => lineDiff(before, after, wide).lines;

describe("the difference of two texts", () => {
  test("has the changed lines, and two on each side", () => {
    const before = ["a", "b", "c", "d", "e", "f", "g", "h", ""].join("\n");
    const after = ["a", "b", "c", "d", "E", "f", "g", "h", ""].join("\n");
    expect(diff(before, after)).toEqual(["@@ line 3", " c", " d", "-e", "+E", " f", " g"]);
  });

  test("keeps what both have between two changes", () => {
    expect(diff("1\nsame\n2\n", "one\nsame\ntwo\n")).toEqual(["@@ line 1", "-1", "+one", " same", "-2", "+two"]);
  });

  test("of far changes begins anew with the number of its line", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
    const after = lines.with(1, "second").with(17, "late").join("\n");
    expect(diff(lines.join("\n"), after).filter((line) => line.startsWith("@@"))).toEqual(["@@ line 1", "@@ line 16"]);
  });

  test.each([
    ["", "a\n", ["@@ line 1", "+a"]],
    ["a\n", "", ["@@ line 1", "-a"]],
    ["a\n", "a", ["@@ line 1", "-a", "+a (no line end)"]],
    ["a\n", "a\n", []],
    ["a\r\n", "a\n", ["@@ line 1", "-a\r", "+a"]],
  ])("of %j and %j", (before, after, lines) => {
    expect(diff(before, after)).toEqual(lines);
  });

  test("is cut in lines and characters, and says how much is left out", () => {
    const after = Array.from({ length: 10 }, () => "x".repeat(50)).join("\n");
    const { lines, left } = lineDiff("", after, { linesMax: 4, charactersMax: 10 });
    expect([lines.length, left, lines.at(-1)]).toEqual([4, 7, `+${"x".repeat(9)}… (41 more characters)`]);
  });

  test("of two large texts without a common line is short work", () => {
    const text = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word}${index}`).join("\n");
    expect(lineDiff(text("a"), text("b"), wide).left).toBe(40_001 - 1_000);
  });

  test("adds as many lines more than it removes as the new text has, and is empty for equal texts", () => {
    let seed = 7;
    const random = (most: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % most;
    };
    for (let round = 0; round < 300; round++) {
      const some = () => Array.from({ length: random(12) }, () => `l${random(4)}\n`).join("");
      const [before, after] = [some(), some()];
      const all = diff(before, after);
      expect(
        all.filter((line) => line.startsWith("+")).length - all.filter((line) => line.startsWith("-")).length,
      ).toBe(after.split("\n").length - before.split("\n").length);
      expect(all.length === 0).toBe(before === after);
    }
  });
});
