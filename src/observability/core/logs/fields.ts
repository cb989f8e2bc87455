import { isFields, own } from "../../../base/pure/fields.ts";

/** Longest line that is looked through for fields. */
const charactersMax = 256 * 1024;
const pair = /(?:^|[\s,])([A-Za-z_][\w.-]*)=(?:"((?:[^"\\]|\\.)*)"|([^\s",]*))/g;

type LogFields = Record<string, unknown>;

/** The fields of a line that is a JSON object, or `key=value` pairs; undefined for other text. */
export function fieldsOf(text: string): LogFields | undefined {
  if (text.length > charactersMax) return undefined;
  if (text.startsWith("{")) return ofJson(text);
  if (!text.includes("=")) return undefined;
  const found: LogFields = {};
  for (const [, key = "", quoted, plain] of text.matchAll(pair)) found[key] = quoted ?? plain ?? "";
  return Object.keys(found).length > 0 ? found : undefined;
}

function ofJson(text: string): LogFields | undefined {
  try {
    const value: unknown = manyDigits.test(text) ? parseExactly(text) : JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** As many digits as a number needs to lose some. */
const manyDigits = /\d{16}/;
const wholeNumber = /^-?\d+$/;

/** Whole numbers that have more digits than a number can hold keep them. */
function parseExactly(text: string): unknown {
  return exactJson.parse(text, (_, value, { source }) => {
    const isLarge = typeof value === "number" && !Number.isSafeInteger(value) && wholeNumber.test(source ?? "");
    return isLarge && source !== undefined ? exactJson.rawJSON(source) : value;
  });
}

/** The part of `JSON` that TypeScript does not know yet. Source: the TC39 proposal "JSON.parse source text access". */
interface ExactJson {
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
}
const exactJson = JSON as unknown as ExactJson;

/** Compares two numbers that are written out: below 0 where `a` is less. Whole ones exactly, however long they are. */
export function compareNumbers(a: string, b: string): number {
  const [x, y] = wholeNumber.test(a) && wholeNumber.test(b) ? [BigInt(a), BigInt(b)] : [Number(a), Number(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

/**
 * One field as text: `status`, or `http.status` for `{"http":{"status":500}}` and for a key that has the point in it.
 * Undefined where it is missing. Numbers and booleans as JSON writes them.
 */
export function fieldText(fields: LogFields, path: string): string | undefined {
  const direct = own(fields, path);
  if (direct !== undefined) return textOf(direct);
  const dot = path.indexOf(".");
  if (dot < 0) return undefined;
  const inner = Object.hasOwn(fields, path.slice(0, dot)) ? fields[path.slice(0, dot)] : undefined;
  if (typeof inner !== "object" || inner === null || exactJson.isRawJSON(inner)) return undefined;
  return fieldText(inner as LogFields, path.slice(dot + 1));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
