import type { Span } from "../source.ts";

/** What an HCL file says, with the place of every part. */

export interface Body {
  /** In the order in which they are written. */
  items: (Attribute | Block)[];
}

export interface Attribute {
  type: "attribute";
  name: string;
  nameSpan: Span;
  value: Expression;
}

export interface Block {
  type: "block";
  word: string;
  wordSpan: Span;
  labels: Label[];
  body: Body;
  span: Span;
}

export interface Label {
  text: string;
  span: Span;
}

export type Expression = { span: Span } & (
  | { type: "constant"; value: boolean | null }
  | { type: "number"; value: number; written: string }
  | { type: "text"; parts: Part[]; bare: boolean }
  | { type: "list"; items: Expression[] }
  | { type: "object"; items: ObjectItem[] }
  | { type: "call"; name: string; arguments: Expression[] }
  | { type: "unary"; operator: string; of: Expression }
  | { type: "binary"; operator: string; left: Expression; right: Expression }
  | { type: "condition"; test: Expression; yes: Expression; no: Expression }
);

export interface ObjectItem {
  key: Expression;
  value: Expression;
}

/** A piece of a text: characters, a variable or a reference as written between its braces, or an expression. */
export type Part =
  | { type: "characters"; text: string }
  | { type: "reference"; inner: string; span: Span }
  | { type: "expression"; value: Expression };
