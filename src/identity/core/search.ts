import { readableEmail } from "../../base/pure/domain-names.ts";
import { searchedEmail } from "./email.ts";
import { fold, isAscii } from "./fold.ts";
import type { SearchColumns } from "./search-columns.ts";

/** A point in time as people write it, and how far it reaches: a day, a minute, a second or a millisecond. */
interface TimeValue {
  /** Epoch milliseconds. */
  from: number;
  /** The first one after it. */
  to: number;
}

const shape =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?:[Zz]|([+-])(\d{2}):(\d{2}))?)?$/;

const dayMs = 24 * 3_600_000;

/** ISO 8601: a date alone, or with a time and an offset; UTC without one. Undefined for anything else, and for 30 February. */
export function parseTimeValue(text: string): TimeValue | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHours, offsetMinutes] = match;
  const date = dateMs(Number(year), Number(month), Number(day));
  if (date === undefined) return undefined;
  if (hour === undefined) return { from: date, to: date + dayMs };
  const [h, m, s] = [Number(hour), Number(minute), Number(second ?? 0)];
  const [oh, om] = [Number(offsetHours ?? 0), Number(offsetMinutes ?? 0)];
  if (h > 23 || m > 59 || s > 59 || oh > 23 || om > 59) return undefined;
  const ms = Math.trunc(Number(`0.${fraction ?? "0"}`) * 1_000 + 1e-6);
  const offsetMs = (oh * 60 + om) * 60_000 * (sign === "-" ? -1 : 1);
  const from = date + ((h * 60 + m) * 60 + s) * 1_000 + ms - offsetMs;
  return { from, to: from + reachMs(second, fraction) };
}

function reachMs(second: string | undefined, fraction: string | undefined): number {
  if (second === undefined) return 60_000;
  return fraction === undefined ? 1_000 : 1;
}

function dateMs(year: number, month: number, day: number): number | undefined {
  const at = new Date(Date.UTC(2000, month - 1, day));
  at.setUTCFullYear(year, month - 1, day);
  return at.getUTCMonth() === month - 1 && at.getUTCDate() === day ? at.getTime() : undefined;
}

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
