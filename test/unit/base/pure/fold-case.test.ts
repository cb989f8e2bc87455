import { expect, test } from "bun:test";
import { foldCase } from "../../../../src/base/pure/fold-case.ts";

test("letters of every script lose their case, accents stay", () => {
  const pairs: [string, string][] = [
    ["ÉCLAIR", "éclair"],
    ["ОШИБКА Ёж", "ошибка ёж"],
    ["ΣΊΣΥΦΟΣ", "σίσυφος"],
    ["STRASSE", "straße"],
    ["GROẞ", "groß"],
    ["İSTANBUL ILIK", "istanbul ılık"],
    ["K ſ µ", "k s μ"],
    ["𐐀", "𐐨"],
  ];
  for (const [a, b] of pairs) expect(foldCase(a)).toBe(foldCase(b));
  expect(foldCase("café")).not.toBe(foldCase("cafe"));
});

test("two letters that regular expressions take for one in any case fold to one", () => {
  const letters: string[] = [];
  for (let code = 0x41; code < 0x1_e944; code++) {
    const letter = String.fromCodePoint(code);
    if (/[\p{L}]/u.test(letter)) letters.push(letter);
  }
  const unlike = letters.filter((letter) => {
    const folded = foldCase(letter);
    return folded.length === letter.length && !new RegExp(`^${folded}$`, "iu").test(letter) && !/[ıİ]/.test(letter);
  });
  expect(unlike).toEqual([]);
  const apart = letters.filter((letter) => {
    const other = letter.toUpperCase().toLowerCase();
    return [...other].length === 1 && foldCase(other) !== foldCase(letter);
  });
  expect(apart).toEqual([]);
});

test("a text folds letter by letter", () => {
  const text = "ΣΑΣ ς İi̇ ẞ ſ e\u0301 Ǆ";
  expect([...text].map(foldCase).join("")).toBe(foldCase(text));
  expect(foldCase(foldCase(text))).toBe(foldCase(text));
});
