import type { Language } from "./languages.ts";
import { german } from "./messages-de.ts";
import { english, type MessageKey } from "./messages-en.ts";

const tables: Record<Language, Record<MessageKey, string>> = { en: english, de: german };

/** A text in one language, with its gaps filled; not escaped. */
export type Say = (key: MessageKey, values?: Record<string, string | number>) => string;

export function sayIn(language: Language): Say {
  const table = tables[language];
  return (key, values = {}) =>
    table[key].replace(/\{(\w+)\}/g, (gap, name: string) => {
      const value = values[name];
      return value === undefined ? gap : String(value);
    });
}
