import type { Fault, Source } from "../source.ts";
import { readTokens, type Token } from "./lexer.ts";
import { parseHcl } from "./parser.ts";

/** Marks that end a value: a `-` after one of them is a subtraction. */
const valueEnds = [")", "]", "}"];

/**
 * What stands between a token and the one before it on its line, told of one token after the other: a blank or nothing.
 * What comes before the first token of a line is not for this to say.
 */
function createSpacing(): (token: Token) => string {
  /** For each open bracket, the number of conditions whose ":" is still to come. */
  const conditions = [0];
  let before: Token | undefined;
  /** Like `before`, without comments. */
  let meant: Token | undefined;
  let wasSign = false;
  return (token) => {
    const isSign = isMark(token, "-", "!") && !endsValue(meant);
    const isColonOfKey = isMark(token, ":") && (conditions.at(-1) ?? 0) === 0;
    count(conditions, token);
    const tight = isTight(before, token) || wasSign || isColonOfKey;
    if (token.kind !== "comment") {
      meant = token;
      wasSign = isSign;
    }
    before = token;
    return tight ? "" : " ";
  };
}

function isTight(before: Token | undefined, token: Token): boolean {
  if (before === undefined || isMark(before, "(", "[") || isMark(token, ")", "]", ",")) return true;
  if (isMark(before, "{") && isMark(token, "}")) return true;
  return isMark(token, "(") && before.kind === "word";
}

function count(conditions: number[], token: Token): void {
  const last = conditions.length - 1;
  if (isMark(token, "{", "[", "(")) conditions.push(0);
  else if (isMark(token, "}", "]", ")")) conditions.pop();
  else if (isMark(token, "?")) conditions[last] = (conditions[last] ?? 0) + 1;
  else if (isMark(token, ":")) conditions[last] = Math.max(0, (conditions[last] ?? 0) - 1);
}

function endsValue(token: Token | undefined): boolean {
  if (token === undefined) return false;
  return token.kind === "mark" ? valueEnds.includes(token.text) : true;
}

function isMark(token: Token, ...texts: string[]): boolean {
  return token.kind === "mark" && texts.includes(token.text);
}

/**
 * An HCL text in its one style: two blanks a level, one blank between words, the `=` and the comments of neighbouring
 * lines below each other, never two empty lines. Lines, their order, comments, texts and heredocs stay as they are.
 * Undefined for a text with faults in its syntax, which go to `faults`.
 */
export function formatHcl(source: Source, depthMax: number, faults: Fault[]): string | undefined {
  const before = faults.length;
  parseHcl(source, depthMax, faults);
  return faults.length > before ? undefined : written(linesOf(readTokens(source, [])));
}

/** One line as written; a heredoc or a comment in it may go over several. */
interface Line {
  tokens: Token[];
  indent: number;
  /** More brackets are opened in it than closed. */
  opens: boolean;
}

const openers = ["{", "[", "("];
const closers = ["}", "]", ")"];

const isOpener = ({ kind, text }: Token) => kind === "mark" && openers.includes(text);
const isCloser = ({ kind, text }: Token) => kind === "mark" && closers.includes(text);

function linesOf(tokens: readonly Token[]): Line[] {
  const lines: Line[] = [];
  /** Brackets that are open, counted together for each line that opens some: a line indents by one level at most. */
  const open: number[] = [];
  let current: Token[] = [];
  for (const token of tokens) {
    if (token.kind !== "newline" && token.kind !== "end") {
      current.push(token);
      continue;
    }
    lines.push(lineOf(current, open));
    current = [];
  }
  return lines;
}

function lineOf(tokens: Token[], open: number[]): Line {
  const close = () => {
    const rest = (open.at(-1) ?? 1) - 1;
    if (rest > 0) open[open.length - 1] = rest;
    else open.pop();
    return rest > 0;
  };
  let indent = open.length;
  let inside = false;
  let opened = 0;
  let leading = true;
  for (const token of tokens) {
    leading &&= isCloser(token);
    if (isOpener(token)) opened += 1;
    else if (isCloser(token) && opened > 0) opened -= 1;
    else if (isCloser(token)) {
      inside = close();
      if (leading) indent = open.length - (inside ? 1 : 0);
    }
  }
  // As in `}, {`: what was opened together stays together.
  if (opened > 0 && inside) open[open.length - 1] = (open.at(-1) ?? 0) + opened;
  else if (opened > 0) open.push(opened);
  return { tokens, indent, opens: opened > 0 };
}

/** A line as text, in the parts that are aligned. */
interface Cells {
  /** Up to the `=` of an attribute, or all of it. */
  head: string;
  /** From the `=` on. */
  tail: string;
  comment: string;
  /** Aligned with its neighbours. */
  hasTail: boolean;
}

/** A line with its attribute put together. */
interface Body {
  body: string;
  comment: string;
}

function written(lines: readonly Line[]): string {
  const spaced = createSpacing();
  const cells = withoutNeedless(lines).map((line) => cellsOf(line, spaced));
  const heads = aligned(cells, ({ hasTail, head }) => (hasTail ? head : undefined));
  const bodies = cells.map(({ tail, comment }, index) => ({ body: (heads[index] ?? "") + tail, comment }));
  const texts = aligned(bodies, ({ body, comment }) => {
    return comment === "" || body === "" || body.includes("\n") ? undefined : body;
  });
  return bodies.map(({ comment }, index) => `${texts[index] ?? ""}${comment === "" ? "" : ` ${comment}`}\n`).join("");
}

/** An empty line stays between two others, once, and not inside the edges of brackets. */
function withoutNeedless(lines: readonly Line[]): Line[] {
  const kept: Line[] = [];
  let empty: Line | undefined;
  for (const line of lines) {
    const [first] = line.tokens;
    if (first === undefined) {
      empty = line;
      continue;
    }
    const before = kept.at(-1);
    if (empty !== undefined && before !== undefined && !before.opens && !isCloser(first)) kept.push(empty);
    kept.push(line);
    empty = undefined;
  }
  return kept;
}

function cellsOf({ tokens, indent }: Line, spaced: (token: Token) => string): Cells {
  const texts = tokens.map((token) => spaced(token) + textOf(token));
  const last = tokens.at(-1);
  const hasComment = tokens.length > 1 && last?.kind === "comment";
  const comment = hasComment ? (texts.pop() ?? "").trimStart() : "";
  const margin = tokens.length === 0 ? "" : "  ".repeat(indent);
  const isAttribute = tokens[1]?.kind === "mark" && tokens[1].text === "=" && isKey(tokens[0]);
  const hasTail = isAttribute && !tokens.some(spansLines) && isClosed(tokens);
  const split = isAttribute ? 1 : texts.length;
  return {
    head: margin + texts.slice(0, split).join("").trimStart(),
    tail: texts.slice(split).join(""),
    comment,
    hasTail,
  };
}

function isKey(token: Token | undefined): boolean {
  return token?.kind === "word" || token?.kind === "string";
}

function spansLines({ text }: Token): boolean {
  return text.includes("\n");
}

/** What the line opens it closes. */
function isClosed(tokens: readonly Token[]): boolean {
  return tokens.filter(isOpener).length === tokens.filter(isCloser).length;
}

function textOf({ kind, text }: Token): string {
  return kind === "comment" ? text.trimEnd() : text;
}

/** The texts of rows: those of neighbours that have one to align are filled up to the same width. */
function aligned<Row extends Cells | Body>(
  rows: readonly Row[],
  alignable: (row: Row) => string | undefined,
): string[] {
  const own = rows.map(alignable);
  const widths = own.map((text) => (text === undefined ? undefined : Bun.stringWidth(text)));
  const result: string[] = [];
  for (let from = 0; from < rows.length;) {
    let to = from;
    while (to < rows.length && widths[to] !== undefined) to += 1;
    const widest = widths.slice(from, to).reduce<number>((most, width = 0) => Math.max(most, width), 0);
    for (let at = from; at < to; at += 1) result.push((own[at] ?? "") + " ".repeat(widest - (widths[at] ?? 0)));
    if (to < rows.length) result.push(plainText(rows[to]));
    from = to + 1;
  }
  return result;
}

function plainText(row: Cells | Body | undefined): string {
  return row === undefined ? "" : "body" in row ? row.body : row.head;
}
