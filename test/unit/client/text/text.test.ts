import { describe, expect, test } from "bun:test";
import { ageOf, shortDuration, timeText } from "../../../../src/client/text/time-text.ts";
import { createStyle, printable } from "../../../../src/client/basics/style.ts";
import { tableText } from "../../../../src/client/basics/table-text.ts";
import { clip } from "../../../../src/client/basics/terminal.ts";
import { plainStyle } from "../../../support/plain-style.ts";

describe("durations", () => {
  test.each([
    [0, "0s"],
    [119_000, "119s"],
    [120_000, "2m"],
    [7_199_000, "119m"],
    [7_200_000, "2h"],
    [47 * 3_600_000, "47h"],
    [48 * 3_600_000, "2d"],
    [-5_000, "0s"],
  ])("shortDuration(%p)", (ms, text) => {
    expect(shortDuration(ms)).toBe(text);
  });

  test("an age needs an instant", () => {
    const now = Date.parse("2026-01-02T00:00:00Z");
    expect(ageOf("2026-01-01T00:00:00Z", now)).toBe("24h");
    expect(ageOf(undefined, now)).toBe("-");
    expect(ageOf("yesterday", now)).toBe("-");
  });

  test("timeText drops the fraction and keeps the zone", () => {
    expect(timeText("2026-01-02T03:04:05.678Z")).toBe("2026-01-02 03:04:05Z");
  });
});

describe("tableText", () => {
  test("aligns columns by width on screen, not by characters or colour codes", () => {
    const style = createStyle(true);
    const text = tableText([
      ["A", "B"],
      ["漢字", "x"],
      [style.red("abc"), "y"],
    ]);
    expect(Bun.stripANSI(text)).toBe("A     B\n漢字  x\nabc   y");
  });

  test("cuts lines at the width, leaves no blanks at the end", () => {
    expect(
      tableText(
        [
          ["aa", "b", ""],
          ["a", "bbbbbbbb", ""],
        ],
        { width: 8 },
      ),
    ).toBe("aa  b\na   bbb…");
  });
});

test("clip keeps what fits and marks what does not", () => {
  expect(clip("hello", 5)).toBe("hello");
  expect(clip("hello!", 5)).toBe("hell…");
});

test("colours only when asked for", () => {
  expect(plainStyle.red("x")).toBe("x");
  expect(createStyle(true).red("x")).toBe("\x1b[31mx\x1b[39m");
});

test("printable takes the escapes out of foreign text", () => {
  expect(printable("a\x1b[2Jb\nc")).toBe("a [2Jb c");
  // What turns the direction of text may make it read as something else.
  expect(printable("a\u202etxt.exe\u2069b")).toBe("a txt.exe b");
});
