import { readTokens } from "./lexer.ts";
import { deeper, inWords, isMark, peek, type Reader, skipNewlines, spanFrom, stop, take, takeMark } from "./reader.ts";
import type { Expression, ObjectItem, Part } from "./syntax.ts";
import { heredocParts, quotedParts, templatePart, type TextSetup } from "./text.ts";

/** Reads one expression. With `spread`, newlines in it mean nothing, as between brackets. */
export function readExpression(reader: Reader, spread = false): Expression {
  return deeper(reader, peek(reader), () => {
    const test = readBinary(reader, 0, spread);
    if (spread) skipNewlines(reader);
    if (!takeMark(reader, "?")) return test;
    const yes = readInside(reader, spread);
    if (spread) skipNewlines(reader);
    if (!takeMark(reader, ":"))
      stop(reader, peek(reader), `expected ":" of the condition, not ${inWords(peek(reader))}`);
    const no = readInside(reader, spread);
    return { type: "condition", test, yes, no, span: spanFrom(reader, test.span.start, no.span.end) };
  });
}

function readInside(reader: Reader, spread: boolean): Expression {
  if (spread) skipNewlines(reader);
  return readExpression(reader, spread);
}

/** Operators that bind alike, the loosest first. */
const levels: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["==", "!="],
  ["<", ">", "<=", ">="],
  ["+", "-"],
  ["*", "/", "%"],
];

function readBinary(reader: Reader, level: number, spread: boolean): Expression {
  const operators = levels[level];
  if (operators === undefined) return readUnary(reader, spread);
  let left = readBinary(reader, level + 1, spread);
  for (;;) {
    if (spread) skipNewlines(reader);
    const token = peek(reader);
    if (token.kind !== "mark" || !operators.includes(token.text)) return left;
    take(reader);
    const right = readBinary(reader, level + 1, spread);
    const span = spanFrom(reader, left.span.start, right.span.end);
    left = { type: "binary", operator: token.text, left, right, span };
  }
}

function readUnary(reader: Reader, spread: boolean): Expression {
  if (spread) skipNewlines(reader);
  const token = peek(reader);
  if (!isMark(token, "-") && !isMark(token, "!")) return readValue(reader, spread);
  take(reader);
  const of = deeper(reader, token, () => readUnary(reader, spread));
  return { type: "unary", operator: token.text, of, span: spanFrom(reader, token.start, of.span.end) };
}

function readValue(reader: Reader, spread: boolean): Expression {
  const value = readPrimary(reader, spread);
  const next = peek(reader);
  if (isMark(next, "[") || isMark(next, ".")) {
    stop(reader, next, "parts of values cannot be taken here: write the value itself");
  }
  return value;
}

function readPrimary(reader: Reader, spread: boolean): Expression {
  const token = take(reader);
  const span = spanFrom(reader, token.start, token.end);
  if (token.kind === "number") return { type: "number", value: Number(token.text), written: token.text, span };
  if (token.kind === "string")
    return { type: "text", parts: quotedParts(token.start + 1, token.end - 1, setup(reader)), bare: false, span };
  if (token.kind === "heredoc")
    return { type: "text", parts: heredocParts(token.start, token.end, setup(reader)), bare: false, span };
  if (token.kind === "template")
    return { type: "text", parts: [templatePart(token.start, token.end, setup(reader))], bare: true, span };
  if (token.kind === "word") return readWord(reader, token.text, token.start);
  if (isMark(token, "[")) return readList(reader, token.start);
  if (isMark(token, "{")) return readObject(reader, token.start);
  if (isMark(token, "(")) {
    const inner = readInside(reader, true);
    skipNewlines(reader);
    if (!takeMark(reader, ")")) stop(reader, peek(reader), `expected ")", not ${inWords(peek(reader))}`);
    return inner;
  }
  reader.at -= token.kind === "end" ? 0 : 1;
  const where = spread ? "a value" : "a value on this line";
  return stop(reader, token, `expected ${where}, not ${inWords(token)}`);
}

const constants: Record<string, boolean | null> = { true: true, false: false, null: null };

function readWord(reader: Reader, name: string, start: number): Expression {
  const token = { kind: "word", text: name, start, end: start + name.length } as const;
  const constant = constants[name];
  if (constant !== undefined) return { type: "constant", value: constant, span: spanFrom(reader, start, token.end) };
  if (takeMark(reader, "(")) return readCall(reader, name, start);
  return stop(
    reader,
    token,
    `"${name}" is not a value: a text needs quotes, "${name}"; a variable is written "\${${name}}"`,
  );
}

function readCall(reader: Reader, name: string, start: number): Expression {
  const items = readItems(reader, ")", () => readExpression(reader, true));
  return { type: "call", name, arguments: items, span: spanFrom(reader, start, endOfLast(reader)) };
}

function readList(reader: Reader, start: number): Expression {
  refuseFor(reader);
  const items = readItems(reader, "]", () => readExpression(reader, true));
  return { type: "list", items, span: spanFrom(reader, start, endOfLast(reader)) };
}

function refuseFor(reader: Reader): void {
  skipNewlines(reader);
  const token = peek(reader);
  const next = peek(reader, 1);
  if (token.kind === "word" && token.text === "for" && next.kind === "word") {
    stop(reader, token, `"for" is not supported: write the items out`);
  }
}

/** Items with commas between them, up to the closing mark; the last may have a comma too. */
function readItems(reader: Reader, close: string, read: () => Expression): Expression[] {
  const items: Expression[] = [];
  for (;;) {
    skipNewlines(reader);
    if (takeMark(reader, close)) return items;
    items.push(read());
    skipNewlines(reader);
    if (takeMark(reader, close)) return items;
    if (!takeMark(reader, ",")) stop(reader, peek(reader), `expected "," or "${close}", not ${inWords(peek(reader))}`);
  }
}

function readObject(reader: Reader, start: number): Expression {
  refuseFor(reader);
  const items: ObjectItem[] = [];
  for (;;) {
    skipNewlines(reader);
    if (takeMark(reader, "}")) break;
    items.push(readObjectItem(reader));
    const next = peek(reader);
    if (takeMark(reader, ",") || next.kind === "newline" || isMark(next, "}")) continue;
    stop(reader, next, `expected a comma, a new line or "}" after this value, not ${inWords(next)}`);
  }
  return { type: "object", items, span: spanFrom(reader, start, endOfLast(reader)) };
}

function readObjectItem(reader: Reader): ObjectItem {
  const key = readKey(reader);
  const token = peek(reader);
  if (!takeMark(reader, "=") && !takeMark(reader, ":")) {
    stop(reader, token, `expected "=" after this key, not ${inWords(token)}`);
  }
  return { key, value: readExpression(reader) };
}

/** A bare word is the key itself. */
function readKey(reader: Reader): Expression {
  const token = peek(reader);
  const span = spanFrom(reader, token.start, token.end);
  const next = peek(reader, 1);
  if (token.kind === "word" && (isMark(next, "=") || isMark(next, ":"))) {
    take(reader);
    return { type: "text", parts: [{ type: "characters", text: token.text }], bare: false, span };
  }
  return readExpression(reader);
}

function endOfLast(reader: Reader): number {
  return reader.tokens[reader.at - 1]?.end ?? 0;
}

function setup(reader: Reader): TextSetup {
  const { source, faults } = reader;
  return {
    source,
    readInner: (start, end) => readInner(reader, start, end),
    fault: (span, message) => faults.push({ span, message }),
  };
}

/** The expression inside a template. */
function readInner(outer: Reader, start: number, end: number): Part {
  const tokens = readTokens(outer.source, outer.faults, start, end).filter(({ kind }) => kind !== "comment");
  const reader: Reader = { ...outer, tokens, at: 0, depth: outer.depth + 1 };
  const value = readInside(reader, true);
  skipNewlines(reader);
  const rest = peek(reader);
  if (rest.kind !== "end") stop(reader, rest, `expected "}" of the template, not ${inWords(rest)}`);
  return { type: "expression", value };
}
