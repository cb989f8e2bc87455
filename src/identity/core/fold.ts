const ascii = /^[\x00-\x7f]*$/;

/**
 * A text with the case of its letters taken away, for comparing whatever the case. No character beyond ASCII becomes
 * ASCII (the Kelvin sign stays apart from k), so that a pattern of plain letters means the same to SQLite's LIKE.
 */
export function fold(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return Array.from(text, foldOne).join("");
}

function foldOne(character: string): string {
  const lower = character.toLowerCase();
  return !ascii.test(character) && /[\x00-\x7f]/.test(lower) ? character : lower;
}

export function isAscii(text: string): boolean {
  return ascii.test(text);
}
