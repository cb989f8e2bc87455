import { foldCase, isAscii } from "../../../base/pure/fold-case.ts";

/** What a search looks at of a line. Each form is made when it is asked for, once. */
export interface LineReading {
  /** As the pod wrote it. */
  raw: string;
  /** As it reads: see `readingOf`. */
  reading(): string;
  /** As it reads, in small letters. */
  folded(): string;
}

export function createReading(raw: string): LineReading {
  let reading: string | undefined;
  let folded: string | undefined;
  const read = () => (reading ??= readingOf(raw));
  return { raw, reading: read, folded: () => (folded ??= foldCase(read())) };
}

/** Only a line with one of these reads otherwise than it is written, and can have other letters than its bytes tell. */
const odd = /[\\\u0080-\uffff]/;

/** Whether a line, or several, read as they are written, and have ASCII alone. */
export function isPlain(text: string): boolean {
  return !odd.test(text);
}

const escaped = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;

/**
 * A line as a person reads it: in JSON the characters that escapes stand for, and accents in their composed form. A line
 * break or another control character that JSON escapes becomes a space, so that a line stays one.
 */
export function readingOf(line: string): string {
  if (isPlain(line)) return line;
  const text = line.includes("\\") && hasJson(line) ? line.replaceAll(escaped, meaningOf) : line;
  return isAscii(text) ? text : text.normalize("NFC");
}

function hasJson(line: string): boolean {
  return line.startsWith("{") || line.startsWith("[") || line.includes('{"');
}

function meaningOf(_: string, code: string | undefined, letter: string | undefined): string {
  if (code === undefined) return letter === '"' || letter === "\\" || letter === "/" ? letter : " ";
  const unit = Number.parseInt(code, 16);
  return unit < 0x20 || unit === 0x7f ? " " : String.fromCharCode(unit);
}
