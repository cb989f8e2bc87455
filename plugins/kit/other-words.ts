import type { Fields } from "./fields.ts";

/** From the name of a field in other plugins of the same kind to the one that it has here. */
type OtherWords = Readonly<Record<string, string>>;

type Spec = Readonly<Record<string, unknown>>;

/** The spec with fields of other plugins under the names that they have here. */
export function inOwnWords(spec: Spec, words: OtherWords): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).map(([field, value]) => [words[field] ?? field, value]));
}

/** Makes `fields` know the other names, and reports a field that was written under both. */
export function checkOtherWords(spec: Spec, words: OtherWords, fields: Fields): void {
  for (const [other, own] of Object.entries(words)) {
    fields.raw(other);
    if (spec[other] === undefined || spec[own] === undefined) continue;
    fields.problem(other, `is ${own} in other words; write one of the two`);
  }
}
