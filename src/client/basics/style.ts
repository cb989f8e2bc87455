/** Text in the colours of a terminal, or unchanged. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
  /** One of a few colours, the same for the same key in every run. */
  byKey(key: string, text: string): string;
}

export function createStyle(color: boolean): Style {
  const code = (open: number, close: number) => (text: string) => {
    return color && text !== "" ? `\x1b[${open}m${text}\x1b[${close}m` : text;
  };
  return {
    bold: code(1, 22),
    dim: code(2, 22),
    red: code(31, 39),
    green: code(32, 39),
    yellow: code(33, 39),
    cyan: code(36, 39),
    byKey: (key, text) => code(palette[hash(key) % palette.length] ?? 36, 39)(text),
  };
}

/** Neither red, which means trouble, nor the grey of what matters less. */
const palette = [36, 33, 35, 34, 32, 96, 95, 94];

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}

/**
 * Text that is about to be shown, with everything in it that could drive a terminal written out, as `\u001b`: JSON stays
 * the same JSON. `color`: the codes of `createStyle` pass.
 */
export function harmless(text: string, color: boolean): string {
  return text.replace(driving, (found) => {
    if (found.length === 1) return writtenOut(found);
    return color ? found : `${writtenOut("\x1b")}${found.slice(1)}`;
  });
}

/** A code of ours as a whole, or one character: controls but tab and line end, and marks that turn the order of text. */
const driving =
  /\x1b\[(?:1|2|22|3[1-6]|39|9[4-6])m|\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A character as JSON writes it. */
export function writtenOut(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Control characters of text that is not ours replaced, so that it cannot drive the terminal. */
export function printable(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, " ");
}
