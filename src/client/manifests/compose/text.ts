import { isFields } from "../../../base/pure/fields.ts";
import { keptReference } from "../kept.ts";

/** Says what does not carry over; the path is that of the file: `services.web.ports[0]`. */
export type Lose = (path: string, message: string) => void;

const form = /^([A-Za-z_]\w*)(?:(:?[-?+])([\s\S]*))?$/;

/** A text of Compose with its variables as marks (`kept.ts`). `$NAME` is a variable there, and `$$` a dollar sign. */
export function composeText(text: string, path: string, lose: Lose): string {
  let result = "";
  for (let at = 0; at < text.length;) {
    const dollar = text.indexOf("$", at);
    if (dollar === -1) return result + text.slice(at);
    result += text.slice(at, dollar);
    const rest = text.slice(dollar + 1);
    const name = /^[A-Za-z_]\w*/.exec(rest)?.[0];
    if (rest.startsWith("{")) {
      const length = braced(rest);
      result += reference(rest.slice(1, length - 1), path, lose);
      at = dollar + 1 + length;
    } else if (name === undefined) {
      result += "$";
      at = dollar + (rest.startsWith("$") ? 2 : 1);
    } else {
      result += keptReference(name);
      at = dollar + 1 + name.length;
    }
  }
  return result;
}

/** Length of the text between braces, braces inside it counted. */
function braced(text: string): number {
  let open = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "{") open += 1;
    if (text[at] === "}") open -= 1;
    if (open === 0) return at + 1;
  }
  return text.length;
}

function reference(inner: string, path: string, lose: Lose): string {
  const [, name, operator = "", word = ""] = form.exec(inner) ?? [];
  if (name === undefined) {
    lose(path, `"\${${inner}}" is not a variable: left out`);
    return "";
  }
  if (operator.endsWith("+")) {
    lose(path, `"\${${inner}}" has no counterpart: left out`);
    return "";
  }
  if (!operator.endsWith("-")) return keptReference(name);
  if (/[${}\n]/.test(word) || word !== word.trim()) {
    lose(path, `the default of "\${${inner}}" cannot be written here: the variable must be set`);
    return keptReference(name);
  }
  if (operator === "-") lose(path, `"\${${inner}}": an empty variable counts as one that is not set`);
  return keptReference(`${name}:-${word}`);
}

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

/** The words of a command line as a shell splits them; nothing else of a shell has a meaning. */
export function shellWords(text: string): string[] {
  const words: string[] = [];
  const pattern = /\s*((?:[^\s"'\\]|\\[\s\S]|"(?:[^"\\]|\\[\s\S])*"|'[^']*'|["'\\])+)/gy;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) words.push(unquoted(found[1] ?? ""));
  return words;
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

/** A size of Compose, where `m` is 1,048,576 bytes, in the units of a manifest; undefined for what is no size. */
export function sizeText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return undefined;
  if (/^\uE000[^\uE001]*\uE001$/.test(value)) return value;
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?$/i.exec(value.trim()) ?? [];
  if (number === undefined) return undefined;
  return number + ({ k: "Ki", m: "Mi", g: "Gi", t: "Ti" }[unit.toLowerCase()] ?? "");
}
