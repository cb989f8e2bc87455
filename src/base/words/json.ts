/** A text that is not acceptable JSON, with the place where that shows. `line` and `column` count from 1. */
export class JsonError extends Error {
  readonly offset: number;
  readonly line: number;
  readonly column: number;

  constructor(message: string, text: string, offset: number) {
    super(message);
    this.name = "JsonError";
    this.offset = offset;
    const before = text.slice(0, offset);
    this.line = before.split("\n").length;
    this.column = offset - before.lastIndexOf("\n");
  }
}

/**
 * Parses JSON (RFC 8259) and throws a `JsonError` that says where and what. Refused beside bad syntax: nesting deeper
 * than `depthMax`, more than `valuesMax` values, a key given twice in one object, a number that is too large to be one. The text is checked by our
 * own scan first because the engine's parser tells no positions and recurses without a bound of ours.
 */
export function parseJson(text: string, { depthMax, valuesMax }: { depthMax: number; valuesMax?: number }): unknown {
  const scan: Scan = { text, at: 0, depth: 0, depthMax, values: 0, valuesMax: valuesMax ?? Number.POSITIVE_INFINITY };
  skipBlank(scan);
  scanValue(scan);
  skipBlank(scan);
  if (scan.at < text.length) fail(scan, `expected the end but found ${found(scan)}`);
  return JSON.parse(text);
}

interface Scan {
  text: string;
  at: number;
  depth: number;
  depthMax: number;
  values: number;
  valuesMax: number;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const closeBracket = 0x5d;
const closeBrace = 0x7d;

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function scanValue(scan: Scan): void {
  scan.values += 1;
  if (scan.values > scan.valuesMax) fail(scan, `more than ${scan.valuesMax} values`);
  const first = scan.text[scan.at];
  if (first === "{") nested(scan, scanObject);
  else if (first === "[") nested(scan, scanArray);
  else if (first === '"') scanString(scan);
  else if (first === "t") scanWord(scan, "true");
  else if (first === "f") scanWord(scan, "false");
  else if (first === "n") scanWord(scan, "null");
  else scanNumber(scan);
}

function nested(scan: Scan, scanInside: (scan: Scan) => void): void {
  scan.depth += 1;
  if (scan.depth > scan.depthMax) fail(scan, `nested deeper than ${scan.depthMax} levels`);
  scan.at += 1;
  skipBlank(scan);
  scanInside(scan);
  scan.depth -= 1;
}

function scanObject(scan: Scan): void {
  if (taken(scan, closeBrace)) return;
  const keys = new Set<string>();
  do {
    skipBlank(scan);
    scanKey(scan, keys);
    skipBlank(scan);
    if (!taken(scan, colon)) fail(scan, `expected ":" but found ${found(scan)}`);
    skipBlank(scan);
    scanValue(scan);
    skipBlank(scan);
  } while (taken(scan, comma));
  if (!taken(scan, closeBrace)) fail(scan, `expected "," or "}" but found ${found(scan)}`);
}

function scanKey(scan: Scan, keys: Set<string>): void {
  const start = scan.at;
  if (scan.text.charCodeAt(start) !== quote) fail(scan, `expected a key in double quotes but found ${found(scan)}`);
  const escaped = scanString(scan);
  const source = scan.text.slice(start, scan.at);
  const key = escaped ? String(JSON.parse(source)) : source.slice(1, -1);
  if (keys.has(key)) {
    scan.at = start;
    fail(scan, `key ${JSON.stringify(key)} is given twice`);
  }
  keys.add(key);
}

function scanArray(scan: Scan): void {
  if (taken(scan, closeBracket)) return;
  do {
    skipBlank(scan);
    scanValue(scan);
    skipBlank(scan);
  } while (taken(scan, comma));
  if (!taken(scan, closeBracket)) fail(scan, `expected "," or "]" but found ${found(scan)}`);
}

/** Says whether the string holds escapes. */
function scanString(scan: Scan): boolean {
  const { text } = scan;
  let escaped = false;
  for (scan.at += 1; scan.at < text.length; scan.at += 1) {
    const code = text.charCodeAt(scan.at);
    if (code === quote) {
      scan.at += 1;
      return escaped;
    }
    if (code < 0x20) fail(scan, "a control character in a string must be escaped");
    if (code === backslash) {
      escapeSequence.lastIndex = scan.at;
      if (!escapeSequence.test(text))
        fail(scan, `${JSON.stringify(text.slice(scan.at, scan.at + 2))} is not an escape`);
      scan.at = escapeSequence.lastIndex - 1;
      escaped = true;
    }
  }
  return fail(scan, "the text ends inside a string");
}

function scanWord(scan: Scan, word: string): void {
  if (!scan.text.startsWith(word, scan.at)) fail(scan, `expected a value but found ${found(scan)}`);
  scan.at += word.length;
}

function scanNumber(scan: Scan): void {
  number.lastIndex = scan.at;
  const [digits] = number.exec(scan.text) ?? [];
  if (digits === undefined) fail(scan, `expected a value but found ${found(scan)}`);
  if (!Number.isFinite(Number(digits))) fail(scan, "the number is too large");
  scan.at += digits.length;
}

function taken(scan: Scan, code: number): boolean {
  if (scan.text.charCodeAt(scan.at) !== code) return false;
  scan.at += 1;
  return true;
}

function skipBlank(scan: Scan): void {
  for (;;) {
    const code = scan.text.charCodeAt(scan.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    scan.at += 1;
  }
}

function found(scan: Scan): string {
  if (scan.at >= scan.text.length) return "the end";
  const [character] = scan.text.slice(scan.at, scan.at + 2);
  return JSON.stringify(character);
}

function fail(scan: Scan, message: string): never {
  throw new JsonError(message, scan.text, scan.at);
}
