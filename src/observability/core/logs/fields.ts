import { isFields } from "../../../base/pure/fields.ts";

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
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * One field as text: `status`, or `http.status` for `{"http":{"status":500}}` and for a key that has the point in it.
 * Undefined where it is missing. Numbers and booleans as JSON writes them.
 */
export function fieldText(fields: LogFields, path: string): string | undefined {
  const direct = Object.hasOwn(fields, path) ? fields[path] : undefined;
  if (direct !== undefined) return textOf(direct);
  const dot = path.indexOf(".");
  if (dot < 0) return undefined;
  const inner = Object.hasOwn(fields, path.slice(0, dot)) ? fields[path.slice(0, dot)] : undefined;
  if (typeof inner !== "object" || inner === null) return undefined;
  return fieldText(inner as LogFields, path.slice(dot + 1));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
