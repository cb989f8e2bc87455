import { parseKind } from "../../orchestration/core/kind.ts";

/** The core kind that a word names, singular or plural, in any case; undefined for anything else. */
export function kindNamed(word: string): string | undefined {
  const kind = parseKind(word);
  // No resource is of it: what it stands for is a deployment with an ingress.
  return kind === "app" ? undefined : kind;
}

/** Kinds as they identify a manifest: core kinds in their one spelling, others as written. */
export function normalKind(word: string): string {
  return kindNamed(word) ?? word;
}
