import { readableEmail } from "../../base/pure/domain-names.ts";
import { searchedEmail } from "./email.ts";
import { fold, isAscii } from "./fold.ts";
import type { SearchColumns } from "./search-columns.ts";
import { parseTimeValue } from "./time-value.ts";

type Comparison = ">" | "<" | ">=" | "<=";

/** A value with wildcards: `segments` in this order, with anything between them. Folded: the case does not matter. */
interface Pattern {
  segments: readonly string[];
  /** The first segment is where the text begins, the last where it ends. */
  fromStart: boolean;
  toEnd: boolean;
  /** It is held against addresses as people read them too: it has letters that a stored domain cannot have. */
  readable?: boolean;
}

/** One condition on one column. */
export type Term =
  | { is: "equal"; field: string; value: string }
  | { is: "like"; field: string; pattern: Pattern }
  | { is: "within"; field: string; from: number; to: number }
  | { is: "compared"; field: string; by: Comparison; to: string | number };

/**
 * A query that was understood: one of each group, all of `all`, none of `none`. Equalities and wildcards of one field
 * are a group (OR); comparisons and negations each stand alone (AND).
 */
export interface Search {
  groups: readonly { field: string; oneOf: readonly Term[] }[];
  all: readonly Term[];
  none: readonly Term[];
  /** Tokens without a meaning here: no operator, no such column, no value, no date. */
  ignored: readonly string[];
  /** Tokens in all. */
  tokens: number;
}

const head = /^-?([a-z_]+)(>=|<=|>(?!=)|<(?!=)|:)/;

/** Reads a query of space-separated `field:value` (docs/contract/identity.md, 3.3). Never fails: see `ignored`. */
export function parseSearch(query: string, columns: SearchColumns): Search {
  const tokens = query.match(/\S+/g) ?? [];
  const groups: { field: string; oneOf: Term[] }[] = [];
  const all: Term[] = [];
  const none: Term[] = [];
  const ignored: string[] = [];
  for (const text of tokens) {
    const term = parseToken(text, columns);
    if (term === undefined) ignored.push(text);
    else if (text.startsWith("-")) none.push(term);
    else if (term.is === "compared") all.push(term);
    else {
      const group = groups.find(({ field }) => field === term.field);
      if (group === undefined) groups.push({ field: term.field, oneOf: [term] });
      else group.oneOf.push(term);
    }
  }
  return { groups, all, none, ignored, tokens: tokens.length };
}

function parseToken(text: string, columns: SearchColumns): Term | undefined {
  const match = head.exec(text);
  if (match === null) return undefined;
  const [{ length }, field = "", operator = ""] = match;
  if (length === text.length || !Object.hasOwn(columns, field)) return undefined;
  const value = text.slice(length);
  return columns[field] === "time" ? timeTerm(field, operator, value) : textTerm(field, operator, value);
}

function timeTerm(field: string, operator: string, value: string): Term | undefined {
  const time = parseTimeValue(value);
  if (time === undefined) return undefined;
  if (operator === ":") return { is: "within", field, ...time };
  return { is: "compared", field, by: operator as Comparison, to: time.from };
}

/** Addresses are stored in one form: what is written in another one means that. */
function textTerm(field: string, operator: string, value: string): Term {
  const isEmail = field === "email";
  if (operator !== ":") {
    return { is: "compared", field, by: operator as Comparison, to: isEmail ? searchedEmail(value) : value };
  }
  const parts = betweenWildcards(value);
  const [only = ""] = parts;
  if (parts.length > 1) return { is: "like", field, pattern: patternOf(field, parts) };
  return { is: "equal", field, value: isEmail ? searchedEmail(only) : only.toWellFormed() };
}

/** The texts before, between and after the wildcards; `\*` is a star, `\\` a backslash, and other backslashes stay. */
function betweenWildcards(value: string): string[] {
  const parts = [""];
  for (const [text] of value.matchAll(/\\[*\\]|./gu)) {
    if (text === "*") parts.push("");
    else parts.push(`${parts.pop()}${text.length === 2 && text.startsWith("\\") ? text.slice(1) : text}`);
  }
  return parts;
}

function patternOf(field: string, parts: readonly string[]): Pattern {
  const segments = parts.filter((segment) => segment !== "");
  return { ...partsOf(field, segments), fromStart: parts.at(0) !== "", toEnd: parts.at(-1) !== "" };
}

function partsOf(field: string, segments: readonly string[]): Pick<Pattern, "segments" | "readable"> {
  if (field !== "email") return { segments: segments.map(fold) };
  const readable = segments.some((segment) => !isAscii(segment));
  return { segments: segments.map((segment) => fold(segment.normalize("NFC"))), ...(readable ? { readable } : {}) };
}

/** The text anywhere in the field, whatever the case: what `?email=` asks for. */
export function containing(field: string, text: string): Search {
  const pattern = { ...partsOf(field, [text]), fromStart: false, toEnd: false };
  const term: Term = { is: "like", field, pattern };
  return { groups: [{ field, oneOf: [term] }], all: [], none: [], ignored: [], tokens: 1 };
}

/** Both must match. Groups of one field stay apart: they are not alternatives to each other. */
export function bothOf(a: Search, b: Search): Search {
  return {
    groups: [...a.groups, ...b.groups],
    all: [...a.all, ...b.all],
    none: [...a.none, ...b.none],
    ignored: [...a.ignored, ...b.ignored],
    tokens: a.tokens + b.tokens,
  };
}

/** Nothing to look for: such a query finds nothing, not everything. */
export function isEmpty({ groups, all, none }: Search): boolean {
  return groups.length === 0 && all.length === 0 && none.length === 0;
}

/** What a row holds in a column: text, epoch milliseconds, or nothing. */
type Cell = string | number | null | undefined;

/** Whether a row is found. A column without a value meets no condition, and so every negation of one. */
export function matches({ groups, all, none }: Search, cell: (field: string) => Cell): boolean {
  const meets = (term: Term) => meetsTerm(term, cell(term.field));
  return groups.every(({ oneOf }) => oneOf.some(meets)) && all.every(meets) && !none.some(meets);
}

function meetsTerm(term: Term, value: Cell): boolean {
  if (value === null || value === undefined) return false;
  switch (term.is) {
    case "equal":
      return value === term.value;
    case "like":
      return typeof value === "string" && like(value, term.pattern);
    case "within":
      return typeof value === "number" && value >= term.from && value < term.to;
    case "compared":
      return compares(order(value, term.to), term.by);
  }
}

function like(value: string, pattern: Pattern): boolean {
  return fits(fold(value), pattern) || (pattern.readable === true && fits(fold(readableEmail(value)), pattern));
}

/** Each segment at its first place after the one before; the last at the end when it must be there. */
function fits(text: string, { segments, fromStart, toEnd }: Pattern): boolean {
  let at = 0;
  for (const [index, segment] of segments.entries()) {
    const pinned = index === 0 && fromStart;
    const found = pinned ? (text.startsWith(segment) ? 0 : -1) : text.indexOf(segment, at);
    if (found < 0) return false;
    at = found + segment.length;
    if (index < segments.length - 1 || !toEnd) continue;
    const start = text.length - segment.length;
    return start >= found && (!pinned || start === 0) && text.endsWith(segment);
  }
  return true;
}

function compares(difference: number, by: Comparison): boolean {
  switch (by) {
    case ">":
      return difference > 0;
    case "<":
      return difference < 0;
    case ">=":
      return difference >= 0;
    case "<=":
      return difference <= 0;
  }
}

/** Texts by code points, which is the order of their bytes in UTF-8. */
function order(a: string | number, b: string | number): number {
  if (typeof a === "number" || typeof b === "number") return Number(a) - Number(b);
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = (left[index]?.codePointAt(0) ?? 0) - (right[index]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
