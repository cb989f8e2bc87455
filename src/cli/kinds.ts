import { coreKinds } from "../api/manifest.ts";

const plurals = new Map<string, string>(coreKinds.flatMap((kind) => spellings(kind).map((word) => [word, kind])));

function spellings(kind: string): string[] {
  return [kind, `${kind}s`, `${kind}es`, kind.replace(/y$/, "ies")];
}

/** The core kind that a word names, singular or plural, in any case; undefined for anything else. */
export function kindNamed(word: string): string | undefined {
  return plurals.get(word.toLowerCase());
}

/** Kinds as they identify a manifest: core kinds in their one spelling, others as written. */
export function normalKind(word: string): string {
  return kindNamed(word) ?? word;
}
