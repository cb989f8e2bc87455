import type { Fault, Source } from "../source.ts";

/**
 * `string` is a whole quoted text with its templates, `heredoc` a whole heredoc, `template` a `${…}` that stands by
 * itself; the parser reads what is inside. `mark` is an operator or a bracket.
 */
export type TokenKind = "word" | "number" | "string" | "heredoc" | "template" | "mark" | "newline" | "comment" | "end";

export interface Token {
  kind: TokenKind;
  text: string;
  start: number;
  end: number;
}

/** Deeper templates inside templates are refused: each level is read once more. */
const templateDepthMax = 8;

const blank = /[ \t\uFEFF]+/y;
const newline = /\r?\n/y;
const comment = /(?:#|\/\/)[^\n]*|\/\*[\s\S]*?\*\//y;
const word = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy;
const number = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const mark = /\.\.\.|&&|\|\||[=!<>]=|=>|[-{}[\]()=:,?.+*/%!<>]/y;
const heredocStart = /<<-?([\p{ID_Start}_][\p{ID_Continue}-]*)\r?\n/uy;

/** More are echoes of the first ones; and each may be found only at the end of the text. */
export const faultsMax = 20;

/**
 * The tokens of `source` from `from` to `to`, the last of which is `end`. Stops after so many faults. Takes time linear
 * in the length of the text.
 */
export function readTokens(source: Source, faults: Fault[], from = 0, to = source.text.length): Token[] {
  const tokens: Token[] = [];
  const text = source.text.slice(0, to);
  let at = from;
  const known = faults.length;
  while (at < to && faults.length - known < faultsMax) {
    const [kind, end] = nextToken(source, text, at, faults);
    if (kind !== undefined) tokens.push({ kind, text: text.slice(at, end), start: at, end });
    at = end;
  }
  tokens.push({ kind: "end", text: "", start: to, end: to });
  return tokens;
}

function nextToken(source: Source, text: string, at: number, faults: Fault[]): [TokenKind | undefined, number] {
  const first = text.charCodeAt(at);
  if (isBlank(first)) return [undefined, matchEnd(blank, text, at) ?? at + 1];
  const [kind, pattern] = plainToken(first);
  if (kind !== undefined) {
    const end = matchEnd(pattern, text, at);
    if (end !== undefined) return [kind, kind === "comment" ? withoutReturn(text, at, end) : end];
  }
  const fault = (message: string, end: number) => faults.push({ span: { source, start: at, end }, message });
  if (text[at] === '"') return ["string", closed(stringEnd(text, at + 1, 0), text, at, fault)];
  if (text.startsWith("${", at)) return ["template", closed(templateEnd(text, at + 2, 0), text, at, fault)];
  const heredoc = heredocEnd(text, at);
  if (heredoc !== undefined) return ["heredoc", closed(heredoc, text, at, fault)];
  const end = matchEnd(mark, text, at);
  if (end !== undefined && !text.startsWith("/*", at)) return ["mark", end];
  return [undefined, strange(text, at, fault)];
}

/** Space, tab, byte order mark. */
function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0xfeff;
}

type PlainToken = readonly [TokenKind, RegExp] | readonly [undefined];

/** What may begin with each of the first 128 characters. */
const plainTokens: readonly PlainToken[] = Array.from({ length: 128 }, (_, code): PlainToken => {
  const character = String.fromCharCode(code);
  if (/[\r\n]/.test(character)) return ["newline", newline];
  if (/[#/]/.test(character)) return ["comment", comment];
  if (/[A-Za-z_]/.test(character)) return ["word", word];
  return /\d/.test(character) ? ["number", number] : [undefined];
});
const strangeWord: PlainToken = ["word", word];

function plainToken(code: number): PlainToken {
  return plainTokens[code] ?? strangeWord;
}

/** Where what `pattern` finds at `at` ends; undefined when it is not there. */
function matchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** The carriage return before a newline belongs to the newline. */
function withoutReturn(text: string, start: number, end: number): number {
  return text[end - 1] === "\r" && text[start + 1] !== "*" ? end - 1 : end;
}

type TellFault = (message: string, end: number) => void;

/** The end of a token, or the end of its line and a fault when it is not closed. */
function closed(end: Ending, text: string, at: number, fault: TellFault): number {
  if (typeof end === "number") return end;
  const line = text.indexOf("\n", at);
  const stop = line === -1 ? text.length : line;
  fault(end.message, Math.min(stop, at + 2));
  return stop;
}

function strange(text: string, at: number, fault: TellFault): number {
  if (text.startsWith("/*", at)) {
    fault("this comment is not closed: add */", at + 2);
    return text.length;
  }
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  const end = at + character.length;
  fault(strangeHints[character] ?? `unexpected character "${character}"`, end);
  return end;
}

const strangeHints: Record<string, string> = {
  "'": `texts are written in double quotes: "…"`,
  "“": `texts are written in straight double quotes: "…"`,
  "”": `texts are written in straight double quotes: "…"`,
  "`": `texts are written in double quotes: "…"`,
  ";": "an attribute ends at the end of its line, without a semicolon",
  $: `a variable is written "\${NAME}"`,
};

/** The offset behind a part of the text, or why it has no end. */
type Ending = number | { message: string };

const unclosedString: Ending = { message: `this text is not closed: add the second quote on the same line` };
const unclosedTemplate: Ending = {
  message: `"\${" is not closed: add "}", or write "$\${" for the characters themselves`,
};
const tooDeep: Ending = { message: "templates inside templates are nested too deep" };

/** From behind the first quote to behind the last. */
function stringEnd(text: string, from: number, depth: number): Ending {
  let at = from;
  while (at < text.length) {
    const character = text[at];
    if (character === '"') return at + 1;
    if (character === "\n") return unclosedString;
    if (character === "\\") at += 2;
    else if (text.startsWith("$${", at) || text.startsWith("%%{", at)) at += 3;
    else if (text.startsWith("${", at)) {
      const end = templateEnd(text, at + 2, depth);
      if (typeof end !== "number") return end;
      at = end;
    } else at += 1;
  }
  return unclosedString;
}

/** `NAME:-` begins a default, which is taken as it is up to the next brace. */
const fallbackStart = /\s*[A-Za-z_]\w*:-/y;

/** From behind `${` to behind its brace. */
export function templateEnd(text: string, from: number, depth: number): Ending {
  if (depth >= templateDepthMax) return tooDeep;
  const fallback = matchEnd(fallbackStart, text, from);
  if (fallback !== undefined) {
    const end = /[}\n]/g;
    end.lastIndex = fallback;
    const found = end.exec(text);
    return found?.[0] === "}" ? found.index + 1 : unclosedTemplate;
  }
  let braces = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "{") braces += 1;
    if (text[at] === "}") braces -= 1;
    if (braces === 0) return at + 1;
    if (text.startsWith("/*", at) || text.startsWith("//", at) || text[at] === "#") {
      // What is in a comment closes nothing.
      const behind = matchEnd(comment, text, at);
      if (behind === undefined) return unclosedTemplate;
      at = behind - 1;
      continue;
    }
    if (text[at] !== '"') continue;
    const end = stringEnd(text, at + 1, depth + 1);
    if (typeof end !== "number") return end === unclosedString ? unclosedTemplate : end;
    at = end - 1;
  }
  return unclosedTemplate;
}

/** From `<<` to behind the closing word; undefined when no heredoc begins here. */
function heredocEnd(text: string, at: number): Ending | undefined {
  heredocStart.lastIndex = at;
  const found = heredocStart.exec(text);
  if (found === null) return undefined;
  const name = found[1] ?? "";
  for (let line = heredocStart.lastIndex; line < text.length;) {
    const next = text.indexOf("\n", line);
    const end = next === -1 ? text.length : next;
    const written = text.slice(line, end);
    if (written.trim() === name) return line + written.trimEnd().length;
    line = end + 1;
  }
  return { message: `this heredoc is not closed: write ${name} on a line of its own` };
}
