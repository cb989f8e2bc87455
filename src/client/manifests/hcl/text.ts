import type { Source, Span } from "../source.ts";
import { templateEnd } from "./lexer.ts";
import type { Part } from "./syntax.ts";

/** Reads what stands between the braces of a template as an expression. */
export interface TextSetup {
  source: Source;
  readInner: (start: number, end: number) => Part;
  fault: (span: Span, message: string) => void;
}

/** The parts of a quoted text; `start` and `end` are the offsets of what is inside the quotes. */
export function quotedParts(start: number, end: number, setup: TextSetup): Part[] {
  return joined(templateParts(start, end, setup, (from, to) => unescaped(from, to, setup)));
}

/** The parts of a whole heredoc token. */
export function heredocParts(start: number, end: number, setup: TextSetup): Part[] {
  const { text } = setup.source;
  const first = text.indexOf("\n", start) + 1;
  const last = text.lastIndexOf("\n", end - 1) + 1;
  const parts = templateParts(first, Math.max(first, last), setup, (from, to) => text.slice(from, to));
  return joined(text.startsWith("<<-", start) ? withoutIndent(parts) : parts);
}

/** The part of `${…}`; the offsets include the marks around it. */
export function templatePart(start: number, end: number, { source, readInner }: TextSetup): Part {
  const inner = source.text.slice(start + 2, end - 1).trim();
  const span = { source, start, end };
  if (reference.test(inner) && !words.includes(inner)) return { type: "reference", inner, span };
  return readInner(start + 2, end - 1);
}

/** A variable with or without its default, or what the server resolves. */
const reference = /^(?:[A-Za-z_]\w*(?::-[\s\S]*)?|(?:asset|ref)\..*)$/;
/** Words of the language, which are not variables. */
const words = ["true", "false", "null"];

function templateParts(
  start: number,
  end: number,
  setup: TextSetup,
  literal: (from: number, to: number) => string,
): Part[] {
  const { source, fault } = setup;
  const parts: Part[] = [];
  let from = start;
  const characters = (to: number, more = "") => {
    const text = literal(from, to) + more;
    if (text !== "") parts.push({ type: "characters", text });
  };
  // The text behind `end` is nothing to look through, for each text of a long file.
  if (!/[\\$%]/.test(source.text.slice(start, end))) {
    characters(end);
    return parts;
  }
  const text = source.text.slice(0, end);
  const special = /\\.|\$\$\{|%%\{|\$\{|%\{/gs;
  special.lastIndex = start;
  for (let found = special.exec(text); found !== null; found = special.exec(text)) {
    const [mark] = found;
    const { index } = found;
    if (mark.startsWith("\\")) {
      // In a heredoc a backslash is a character like any other.
      if (literal(index, index + 1) === "\\") special.lastIndex = index + 1;
      continue;
    }
    if (mark === "%{") fault({ source, start: index, end: index + 2 }, directive);
    characters(index, mark.length === 3 ? mark.slice(1) : "");
    from = index + mark.length;
    if (mark !== "${") continue;
    const close = templateEnd(source.text, index + 2, 0);
    from = typeof close === "number" ? Math.min(close, end) : end;
    parts.push(templatePart(index, from, setup));
    special.lastIndex = from;
  }
  characters(end);
  return parts;
}

const directive = `directives are not supported; write "%%{" for the characters themselves`;

const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" };
const escaped = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g;

function unescaped(from: number, to: number, { source, fault }: TextSetup): string {
  const written = source.text.slice(from, to);
  if (!written.includes("\\")) return written;
  return written.replace(escaped, (whole, short?: string, long?: string, character?: string, offset?: number) => {
    const code = Number.parseInt(short ?? long ?? "", 16);
    if (code <= 0x10ffff) return String.fromCodePoint(code);
    const known = character === undefined ? undefined : escapes[character];
    if (known !== undefined) return known;
    const start = from + (offset ?? 0);
    fault({ source, start, end: start + whole.length }, unknownEscape(whole));
    return whole;
  });
}

function unknownEscape(written: string): string {
  return `"${written}" is not an escape: known are \\n, \\r, \\t, \\", \\\\, \\uNNNN and \\UNNNNNNNN`;
}

/** Takes the indentation that all lines share off each of them, as `<<-` asks. */
function withoutIndent(parts: Part[]): Part[] {
  const lines = parts.map((part) => (part.type === "characters" ? part.text.split(/(?<=\n)/) : undefined));
  let least = Number.POSITIVE_INFINITY;
  let atStart = true;
  const eachLine = (change: (line: string) => string) => {
    atStart = true;
    return lines.map((texts) => {
      if (texts === undefined) {
        // A template at the start of a line: nothing before it.
        if (atStart) least = 0;
        atStart = false;
        return undefined;
      }
      return texts.map((line) => {
        const result = atStart ? change(line) : line;
        atStart = line.endsWith("\n");
        return result;
      });
    });
  };
  eachLine((line) => {
    if (line.trim() !== "" || !line.endsWith("\n")) least = Math.min(least, indentOf(line));
    return line;
  });
  if (!Number.isFinite(least) || least === 0) return parts;
  const indent = least;
  const shorter = eachLine((line) => line.slice(Math.min(indent, indentOf(line))));
  return parts.map((part, index) => {
    return part.type === "characters" ? { ...part, text: (shorter[index] ?? []).join("") } : part;
  });
}

function indentOf(line: string): number {
  return /^[^\S\r\n]*/.exec(line)?.[0].length ?? 0;
}

function joined(parts: Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (part.type === "characters" && last?.type === "characters") last.text += part.text;
    else result.push(part.type === "characters" ? { ...part } : part);
  }
  return result;
}
