import type { Fault, Source } from "../source.ts";
import { readExpression } from "./expression.ts";
import { faultsMax, readTokens } from "./lexer.ts";
import {
  deeper,
  inWords,
  isMark,
  peek,
  type Reader,
  skipNewlines,
  spanFrom,
  stop,
  SyntaxStop,
  take,
  takeMark,
} from "./reader.ts";
import type { Attribute, Block, Body, Label } from "./syntax.ts";

/**
 * The attributes and blocks of a source. What is wrong goes to `faults`; reading goes on behind it, to find more. Takes
 * time linear in the length of the text.
 */
export function parseHcl(source: Source, depthMax: number, faults: Fault[]): Body {
  const tokens = readTokens(source, faults).filter(({ kind }) => kind !== "comment");
  return readItems({ source, tokens, at: 0, depth: 0, depthMax, faults }, "end");
}

/** Items up to the closing brace, which is taken, or up to the end of the file. */
function readItems(reader: Reader, until: "end" | "}"): Body {
  const body: Body = { items: [] };
  for (;;) {
    skipNewlines(reader);
    const token = peek(reader);
    if (token.kind === "end" && until === "end") return body;
    if (until === "}" && takeMark(reader, "}")) return body;
    if (token.kind === "end") stop(reader, token, `expected "}" before the end of the file`);
    try {
      body.items.push(readItem(reader));
      endLine(reader);
    } catch (error) {
      if (!(error instanceof SyntaxStop)) throw error;
      reader.faults.push(error.fault);
      if (reader.faults.length >= faultsMax) {
        reader.at = reader.tokens.length - 1;
        return body;
      }
      skipItem(reader, token.start);
    }
  }
}

function readItem(reader: Reader): Attribute | Block {
  const token = take(reader);
  const next = peek(reader);
  if (token.kind !== "word") {
    reader.at -= 1;
    stop(reader, token, `expected an attribute or a block, not ${inWords(token)}`);
  }
  if (takeMark(reader, "=")) {
    const nameSpan = spanFrom(reader, token.start, token.end);
    return { type: "attribute", name: token.text, nameSpan, value: readExpression(reader) };
  }
  if (isMark(next, ":")) stop(reader, next, `an attribute is written with "=": ${token.text} = …`);
  return deeper(reader, token, () => readBlock(reader, token.text, token.start));
}

function readBlock(reader: Reader, word: string, start: number): Block {
  const labels: Label[] = [];
  for (let token = peek(reader); token.kind === "string" || token.kind === "word"; token = peek(reader)) {
    take(reader);
    const text = token.kind === "word" ? token.text : plainText(reader, token.text, token.start);
    labels.push({ text, span: spanFrom(reader, token.start, token.end) });
  }
  const wordSpan = spanFrom(reader, start, start + word.length);
  if (!takeMark(reader, "{")) {
    const expected = labels.length === 0 ? `"=" for an attribute or "{" for a block` : `"{"`;
    stop(reader, peek(reader), `expected ${expected} after "${word}", not ${inWords(peek(reader))}`);
  }
  const body = peek(reader).kind === "newline" ? readItems(reader, "}") : readLine(reader);
  const end = reader.tokens[reader.at - 1]?.end ?? start;
  return { type: "block", word, wordSpan, labels, body, span: spanFrom(reader, start, end) };
}

/** The items of a block whose braces are on one line. */
function readLine(reader: Reader): Body {
  const body: Body = { items: [] };
  while (!takeMark(reader, "}")) {
    const token = peek(reader);
    if (token.kind === "newline" || token.kind === "end") {
      stop(reader, token, `expected "}" on this line: a block of several lines has nothing behind its "{"`);
    }
    body.items.push(readItem(reader));
  }
  return body;
}

function endLine(reader: Reader): void {
  const token = peek(reader);
  if (token.kind === "newline" || token.kind === "end") return;
  stop(reader, token, `expected the end of the line, not ${inWords(token)}`);
}

/** After a fault: on to the line behind the item that began at `start`, over what stands between brackets. */
function skipItem(reader: Reader, start: number): void {
  const from = reader.tokens.findIndex((token) => token.start === start);
  let open = 0;
  let at = from;
  for (; at < reader.tokens.length - 1; at += 1) {
    const { kind, text } = reader.tokens[at] ?? { kind: "end", text: "" };
    if (kind === "mark" && "{[(".includes(text)) open += 1;
    if (kind === "mark" && "}])".includes(text)) open -= 1;
    if (open < 0 && at > from) break;
    if (kind === "newline" && open <= 0 && at >= reader.at) break;
  }
  reader.at = Math.max(at, reader.at === from ? from + 1 : from);
}

const escaped = /\\|\$\{|%\{/;

/** A label or a name in quotes, in which nothing is replaced. */
function plainText(reader: Reader, written: string, start: number): string {
  const inner = written.slice(1, -1);
  if (escaped.test(inner)) {
    const token = { kind: "string", text: written, start, end: start + written.length } as const;
    stop(reader, token, "a label is a plain text, without variables and escapes");
  }
  return inner;
}
