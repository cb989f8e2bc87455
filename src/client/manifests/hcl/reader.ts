import type { Fault, Source, Span } from "../source.ts";
import type { Token, TokenKind } from "./lexer.ts";

/** Ends the reading of one item; what is wrong with it is already in the list of faults. */
export class SyntaxStop extends Error {
  constructor(readonly fault: Fault) {
    super(fault.message);
    this.name = "SyntaxStop";
  }
}

/** A place in the tokens of one source. Comments are not among them. */
export interface Reader {
  source: Source;
  tokens: readonly Token[];
  at: number;
  depth: number;
  depthMax: number;
  faults: Fault[];
}

export function peek(reader: Reader, ahead = 0): Token {
  const last = reader.tokens.length - 1;
  return reader.tokens[Math.min(reader.at + ahead, last)] as Token;
}

export function take(reader: Reader): Token {
  const token = peek(reader);
  if (token.kind !== "end") reader.at += 1;
  return token;
}

export function isMark(token: Token, text: string): boolean {
  return token.kind === "mark" && token.text === text;
}

/** Takes the next token when it is this mark. */
export function takeMark(reader: Reader, text: string): boolean {
  if (!isMark(peek(reader), text)) return false;
  reader.at += 1;
  return true;
}

export function skipNewlines(reader: Reader): void {
  while (peek(reader).kind === "newline") reader.at += 1;
}

export function spanFrom({ source }: Reader, start: number, end: number): Span {
  return { source, start, end };
}

export function stop(reader: Reader, token: Token, message: string): never {
  const end = token.kind === "newline" || token.kind === "end" ? token.start : token.end;
  throw new SyntaxStop({ span: spanFrom(reader, token.start, end), message });
}

/** Runs `read` one level deeper. */
export function deeper<T>(reader: Reader, token: Token, read: () => T): T {
  if (reader.depth >= reader.depthMax) stop(reader, token, `nested deeper than ${reader.depthMax} levels`);
  reader.depth += 1;
  try {
    return read();
  } finally {
    reader.depth -= 1;
  }
}

const kindWords: Record<TokenKind, string> = {
  word: "the word",
  number: "the number",
  string: "the text",
  heredoc: "a heredoc",
  template: "a template",
  mark: "",
  newline: "the end of the line",
  comment: "a comment",
  end: "the end of the file",
};

/** A token in the words of an error. */
export function inWords(token: Token): string {
  const shown = token.text.length > 30 ? `${token.text.slice(0, 30)}…` : token.text;
  if (token.kind === "string") return `${kindWords.string} ${shown.split("\n")[0]}`;
  if (token.kind === "mark" || token.kind === "word" || token.kind === "number") {
    return `${kindWords[token.kind]} "${shown}"`.trimStart();
  }
  return kindWords[token.kind];
}
