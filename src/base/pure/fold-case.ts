/** Letters that stay as they are in `toLowerCase`, and what Unicode's simple case folding makes of them. */
const others = new Map<string, string>([
  // Two small letters of one capital: the long s, the final sigma, the micro sign, and variants of Greek and Cyrillic ones.
  ["\u017f", "s"],
  ["\u03c2", "\u03c3"],
  ["\u00b5", "\u03bc"],
  ["\u03d0", "\u03b2"],
  ["\u03d1", "\u03b8"],
  ["\u03d5", "\u03c6"],
  ["\u03d6", "\u03c0"],
  ["\u03f0", "\u03ba"],
  ["\u03f1", "\u03c1"],
  ["\u03f5", "\u03b5"],
  ["\u1fbe", "\u03b9"],
  ["\u1e9b", "\u1e61"],
  ["\u1c80", "\u0432"],
  ["\u1c81", "\u0434"],
  ["\u1c82", "\u043e"],
  ["\u1c83", "\u0441"],
  ["\u1c84", "\u0442"],
  ["\u1c85", "\u0442"],
  ["\u1c86", "\u044a"],
  ["\u1c87", "\u0463"],
  ["\u1c88", "\ua64b"],
  // Beyond that: STRASSE is how Straße is written in capitals, and no text says whether it is Turkish.
  ["\u00df", "ss"],
  ["\u0131", "i"],
]);
const anyOther = new RegExp(`[${[...others.keys()].join("")}]`, "g");
const beyondAscii = /[\u0080-\uffff]/;

/** Whether all of a text is ASCII. */
export function isAscii(text: string): boolean {
  return !beyondAscii.test(text);
}

/**
 * A text as a search that ignores case sees it: small letters, by Unicode's simple case folding; ß counts as ss, and the
 * Turkish İ and ı as i. Accents stay. It folds one letter after the other: what a text contains, the folded text contains
 * folded.
 */
export function foldCase(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  // In small letters İ would be two characters.
  return text
    .replaceAll("\u0130", "i")
    .toLowerCase()
    .replaceAll(anyOther, (letter) => others.get(letter) ?? letter);
}
