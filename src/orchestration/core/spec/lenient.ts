import { parseDuration } from "../../../base/pure/duration.ts";
import { isFields } from "../../../base/pure/fields.ts";

/**
 * Reading of stored specs: they passed validation once, perhaps that of another version, so a field of the wrong type
 * counts as absent instead of stopping everything. What is whole already is handed on as it is, so it must not be changed.
 */
export type Fields = Readonly<Record<string, unknown>>;

const noWords: readonly string[] = [];
const noTexts: Readonly<Record<string, string>> = {};

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function integerOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

/** Milliseconds of a duration. */
export function msOf(value: unknown): number | undefined {
  return typeof value === "string" ? parseDuration(value) : undefined;
}

export function wordsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return noWords;
  return value.every(isText) ? value : value.filter(isText);
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : noTexts;
}

export function listOf(value: unknown): readonly Fields[] {
  if (!Array.isArray(value)) return [];
  return value.every(isFields) ? value : value.filter(isFields);
}

export function textMapOf(value: unknown): Readonly<Record<string, string>> {
  if (!isFields(value)) return noTexts;
  return isTextMap(value) ? value : Object.fromEntries(Object.entries(value).filter(isTextEntry));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTextEntry(entry: [string, unknown]): entry is [string, string] {
  return isText(entry[1]);
}

function isTextMap(fields: Fields): fields is Readonly<Record<string, string>> {
  for (const name in fields) if (!isText(fields[name])) return false;
  return true;
}
