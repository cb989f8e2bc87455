import { isFields } from "../../../base/pure/fields.ts";
import { levelNamed, levelNumbered, type Scale } from "./level-scales.ts";
import type { Level } from "./line.ts";

/** What a key of an object says. A `name` is the level of the logger; a `severity` may also be a field of the app. */
type Meaning = { kind: "name" | "severity" | "number"; scale: Scale } | { kind: "mark"; mark: number };

/** Bits for keys that tell which logger wrote a line. */
const marksOf = { pid: 1, hostname: 2, python: 4, clefTime: 8, clefText: 16 } as const;
const ofPino = marksOf.pid | marksOf.hostname;
const clef = marksOf.clefTime | marksOf.clefText;

const quote = 0x22;
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

const meanings = new Map<string, Meaning>();
for (const key of [
  "level",
  "lvl",
  "levelname",
  "level_name",
  "log.level",
  "log_level",
  "loglevel",
  "@level",
  "@l",
  "_level_name",
])
  meanings.set(key, { kind: "name", scale: "level" });
for (const key of ["severity", "severitytext", "severity_text", "error_severity"])
  meanings.set(key, { kind: "severity", scale: "severity" });
const numbers = {
  levelno: "python",
  level_no: "python",
  levelnumber: "python",
  level_number: "python",
  levelvalue: "logback",
  level_value: "logback",
  severitynumber: "telemetry",
  severity_number: "telemetry",
} as const;
for (const [key, scale] of Object.entries(numbers)) meanings.set(key, { kind: "number", scale });
for (const key of ["pid", "hostname"] as const) meanings.set(key, { kind: "mark", mark: marksOf[key] });
for (const key of ["asctime", "lineno", "funcname", "pathname", "threadname", "taskname"])
  meanings.set(key, { kind: "mark", mark: marksOf.python });
meanings.set("@t", { kind: "mark", mark: marksOf.clefTime });
for (const key of ["@m", "@mt"]) meanings.set(key, { kind: "mark", mark: marksOf.clefText });
/** .NET and journald write these keys exactly so. */
meanings.set("LogLevel", { kind: "name", scale: "dotnet" });
meanings.set("PRIORITY", { kind: "number", scale: "syslog" });

/** Whether a key that means something begins with a letter (in either case) and has a length: most keys end here. */
const lengthBits = 5;
const begins = new Uint8Array(128 << lengthBits);
for (const key of meanings.keys())
  for (const letter of [key, key.toLowerCase(), key.toUpperCase()])
    begins[(letter.charCodeAt(0) << lengthBits) | key.length] = 1;

/** Levels of MongoDB are one letter, beside the time `t` and the component `c`. */
const mongo = /^\s*\{\s*"t"\s*:\s*\{[^{}]*\}\s*,\s*"s"\s*:\s*"([FEWID])\d?"\s*,\s*"c"\s*:/;
const mongoLevels: Record<string, Level> = { F: "fatal", E: "error", W: "warn", I: "info", D: "debug" };

const wholeNumber = /(\d{1,5})\s*(?=[,}]|$)/y;
const quotedNumber = /"(\d)"/y;

/**
 * The level of a line that is a JSON object: a name before a number, and a field of the object itself before a nested one.
 * Other values are skipped. It goes through the line without parsing it, and only as far as the first name.
 */
export function levelOfJson(text: string, from = 0): Level {
  const found: Found = { severity: undefined, number: undefined, marks: 0, isNested: false };
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === openBrace || code === openBracket) depth += 1;
    else if (code === closeBrace || code === closeBracket) depth -= 1;
    if (code !== quote) continue;
    const end = endOfText(text, at + 1);
    if (end < 0) break;
    const length = end - at - 1;
    if (length < 1 << lengthBits && begins[(text.charCodeAt(at + 1) << lengthBits) | length] === 1) {
      const value = valueAt(text, end + 1);
      const level = value < 0 ? undefined : take(found, text, { key: text.slice(at + 1, end), value, depth });
      if (level !== undefined) return level;
    }
    at = end;
  }
  return atTheEnd(found, text, from);
}

/** What was seen of a line on the way. */
interface Found {
  severity: Level | undefined;
  number: { value: number; scale: Scale } | undefined;
  marks: number;
  isNested: boolean;
}

/** One key that may mean something: the level where it is the name of one. */
function take(
  found: Found,
  text: string,
  { key, value, depth }: { key: string; value: number; depth: number },
): Level | undefined {
  const meaning = meanings.get(key) ?? meanings.get(key.toLowerCase());
  if (meaning === undefined) return undefined;
  if (depth !== 1) {
    found.isNested ||= meaning.kind === "name";
    return undefined;
  }
  if (meaning.kind === "mark") {
    found.marks |= meaning.mark;
    return undefined;
  }
  const { kind, scale } = meaning;
  const first = text.charCodeAt(value);
  if (first === quote && kind !== "number") {
    const named = levelNamed(text.slice(value + 1, Math.max(endOfText(text, value + 1), value + 1)));
    if (kind === "name") return named;
    found.severity ??= named;
  } else if (first === openBrace) found.isNested = true;
  else if (found.number === undefined || (found.number.scale === "level" && scale !== "level")) {
    const written = numberAt(text, value, scale === "syslog" ? quotedNumber : wholeNumber);
    if (written !== undefined && levelNumbered(written, scale === "level" ? "pino" : scale) !== undefined)
      found.number = { value: written, scale };
  }
  return undefined;
}

function atTheEnd({ severity, number, marks, isNested }: Found, text: string, from: number): Level {
  if (severity !== undefined) return severity;
  const numbered = number === undefined ? undefined : levelNumbered(number.value, scaleOf(number.scale, marks));
  if (numbered !== undefined) return numbered;
  // The compact format of Serilog leaves the commonest level out.
  if ((marks & clef) === clef) return "info";
  return mongoLevels[mongo.exec(text)?.[1] ?? ""] ?? (isNested ? nestedLevel(text.slice(from)) : "none");
}

function scaleOf(scale: Scale, marks: number): Scale {
  if (scale !== "level") return scale;
  if ((marks & marksOf.python) !== 0) return "python";
  // Both have levels between their own ones.
  return (marks & ofPino) === ofPino ? "pino" : "level";
}

/** Where a text that begins at `from` ends: its closing quote, or -1. */
function endOfText(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === 0x5c) at += 1;
  }
  return -1;
}

/** Where the value of a key begins that ends before `at`; -1 where it is not a key. */
function valueAt(text: string, at: number): number {
  const colon = pastSpace(text, at);
  return text.charCodeAt(colon) === 0x3a ? pastSpace(text, colon + 1) : -1;
}

function pastSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === 0x20 || text.charCodeAt(at) === 0x09) at += 1;
  return at;
}

function numberAt(text: string, at: number, form: RegExp): number | undefined {
  form.lastIndex = at;
  const written = form.exec(text)?.[1];
  return written === undefined ? undefined : Number(written);
}

/** The level in Elastic's `log.level`, loguru's `record.level.name` and others, one object down. */
function nestedLevel(text: string): Level {
  const fields = parsed(text);
  if (fields === undefined) return "none";
  for (const inner of [fields, fields.log, fields.record, ...Object.values(fields)]) {
    if (!isFields(inner)) continue;
    for (const [key, value] of Object.entries(inner)) {
      if (meanings.get(key.toLowerCase())?.kind !== "name") continue;
      const name = isFields(value) ? value.name : value;
      const level = typeof name === "string" ? levelNamed(name) : undefined;
      if (level !== undefined) return level;
    }
  }
  return "none";
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
