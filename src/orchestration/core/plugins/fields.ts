import { isFields, own } from "../../../base/pure/fields.ts";
import type { Problem } from "../../../base/wire/failure.ts";
import { isInside, isPluginName, pluginNameForm } from "../plugin-names.ts";

export type Fields = Record<string, unknown>;

/** Fields of a map by type: what is of another type becomes a problem and counts as absent, as does null. */
export interface FieldReader {
  text(key: string): string | undefined;
  /** A path inside the package. */
  path(key: string): string | undefined;
  flag(key: string): boolean | undefined;
  whole(key: string): number | undefined;
  list(key: string): unknown[] | undefined;
  words(key: string): string[] | undefined;
  /** Words that may be names of plugins. */
  names(key: string): string[] | undefined;
  map(key: string): Fields | undefined;
  texts(key: string): Record<string, string> | undefined;
  /** The value is there and not null. */
  has(key: string): boolean;
}

/** Longest list in a plugin.yml. */
const listMax = 200;

/** `at` is the path of `value`; problems go to `problems`. */
export function fieldReader(value: unknown, at: string, problems: Problem[]): FieldReader {
  if (!isFields(value)) problems.push({ path: at, message: "expected a map" });
  const fields = isFields(value) ? value : {};
  const fault = (key: string, wanted: string) => {
    problems.push({ path: at === "" ? key : `${at}.${key}`, message: `expected ${wanted}` });
    return undefined;
  };
  const found = (key: string) => own(fields, key) ?? undefined;
  const typed = <T>(key: string, wanted: string, is: (value: unknown) => value is T): T | undefined => {
    const value = found(key);
    return value === undefined || is(value) ? value : fault(key, wanted);
  };
  const list = (key: string) => {
    const items = typed(key, "a list", isList);
    return items !== undefined && items.length > listMax ? fault(key, `at most ${listMax} entries`) : items;
  };
  const words = (key: string) => {
    const items = list(key);
    return items === undefined || items.every(isText) ? items : fault(key, "a list of texts");
  };
  return {
    has: (key) => found(key) !== undefined,
    text: (key) => typed(key, "a text", isText),
    path(key) {
      const path = typed(key, "a path", isText);
      return path === undefined || isInside(path) ? path : fault(key, "a path inside the package");
    },
    flag: (key) => typed(key, "true or false", (item) => typeof item === "boolean"),
    whole: (key) => typed(key, "a whole number", (item): item is number => Number.isSafeInteger(item)),
    list,
    words,
    names(key) {
      const items = words(key);
      const bad = items?.find((item) => !isPluginName(item));
      return bad === undefined ? items : fault(key, `names (${pluginNameForm}), got "${bad}"`);
    },
    map: (key) => typed(key, "a map", isFields),
    texts(key) {
      const entries = typed(key, "a map", isFields) ?? {};
      const texts: Record<string, string> = {};
      for (const [name, text] of Object.entries(entries)) {
        if (isText(text)) texts[name] = text;
        else if (text === null) texts[name] = "";
        else fault(`${key}.${name}`, "a text");
      }
      return found(key) === undefined ? undefined : texts;
    },
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}
