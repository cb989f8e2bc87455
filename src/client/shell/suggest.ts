import { closest as nearest } from "../../base/pure/suggest.ts";

/** Shorter beginnings of a word say nothing. */
const beginningMin = 3;

/** The candidate that a mistyped or cut-off word most likely meant. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const begun = word.length < beginningMin ? undefined : candidates.find((candidate) => candidate.startsWith(word));
  return nearest(word, candidates) ?? begun;
}

/** `: did you mean "x"?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[], prefix = ""): string {
  const guess = closest(word, candidates);
  return guess === undefined ? "" : `: did you mean "${prefix}${guess}"?`;
}
