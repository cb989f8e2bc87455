import { isFields } from "../../../base/pure/fields.ts";
import type { Lose } from "./lose.ts";
import { withDefaults } from "./variables.ts";

/** Parts of a text between separators; those inside of variables do not count. */
export function splitOutside(text: string, separator: ":" | "/" | "-"): string[] {
  const parts = [""];
  let inside = false;
  for (const character of text) {
    if (character === "\uE000") inside = true;
    if (character === "\uE001") inside = false;
    if (character === separator && !inside) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts;
}

/**
 * The words of a command line as a shell splits them; nothing else of a shell has a meaning. A variable is part of a word.
 * One whose default has blanks stands for several words, as in Compose, and so the default takes its place.
 */
export function shellWords(text: string): string[] {
  const marks: string[] = [];
  const kept = text.replaceAll(/\uE000[^\uE001]*\uE001/g, (mark) => {
    if (/\s/.test(mark)) return withDefaults(mark);
    marks.push(mark);
    return `\uE005${marks.length - 1}\uE006`;
  });
  const words: string[] = [];
  const pattern = /\s*((?:[^\s"'\\]|\\[\s\S]|"(?:[^"\\]|\\[\s\S])*"|'[^']*'|["'\\])+)/gy;
  for (let found = pattern.exec(kept); found !== null; found = pattern.exec(kept)) words.push(unquoted(found[1] ?? ""));
  return words.map((word) => word.replaceAll(/\uE005(\d+)\uE006/g, (_, index: string) => marks[Number(index)] ?? ""));
}

function unquoted(word: string): string {
  return word.replaceAll(
    /"((?:[^"\\]|\\[\s\S])*)"|'([^']*)'|\\([\s\S])/g,
    (_, double?: string, single?: string, one?: string) => {
      return single ?? one ?? (double ?? "").replaceAll(/\\(["\\$`])/g, "$1");
    },
  );
}

export function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** Texts of a list, or of one text; what is neither is lost. */
export function textsOf(value: unknown, path: string, lose: Lose): string[] {
  const list = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];
  return list.flatMap((item, index) => {
    if (isScalar(item)) return [String(item)];
    lose(Array.isArray(value) ? `${path}[${index}]` : path, "is not text: left out");
    return [];
  });
}

/** Pairs of a map, or of a list of `KEY=VALUE`; null where no value is written. */
export function pairsOf(value: unknown, path: string, lose: Lose): [string, string | null][] {
  if (isFields(value)) {
    return Object.entries(value).flatMap(([key, item]): [string, string | null][] => {
      if (item === null || isScalar(item)) return [[key, item === null ? null : String(item)]];
      lose(`${path}.${key}`, "is not text: left out");
      return [];
    });
  }
  return textsOf(value, path, lose).map((text): [string, string | null] => {
    const equals = text.indexOf("=");
    return equals === -1 ? [text, null] : [text.slice(0, equals), text.slice(equals + 1)];
  });
}

/** A size of Compose, where `m` is 1,048,576 bytes, in the units of a manifest; undefined for what is not a size. */
export function sizeText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return undefined;
  const [, start, fallback, end] = /^(\uE000[A-Za-z_]\w*:-)([^\uE001]+)(\uE001)$/.exec(value) ?? [];
  if (fallback !== undefined) {
    const size = sizeText(fallback);
    return size === undefined ? undefined : start + size + end;
  }
  if (/^\uE000[^\uE001]*\uE001$/.test(value)) return value;
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?$/i.exec(value.trim()) ?? [];
  if (number === undefined) return undefined;
  return number + ({ k: "Ki", m: "Mi", g: "Gi", t: "Ti" }[unit.toLowerCase()] ?? "");
}

/** A text as the name of a scope or a resource. */
export function nameFrom(text: string, strange = /[^a-z0-9-]/g): string {
  const plain = text
    .toLowerCase()
    .replaceAll(strange, "-")
    .replaceAll(/^[._-]+|[._-]+$/g, "");
  return plain === "" ? "app" : plain.slice(0, 40).replace(/[._-]+$/, "");
}
