import { own } from "../../base/pure/fields.ts";
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

/** Commands of other tools, and what says the same here. */
export const otherWords: Readonly<Record<string, readonly string[]>> = {
  rm: ["delete"],
  remove: ["delete"],
  destroy: ["delete"],
  down: ["delete"],
  ls: ["get"],
  list: ["get"],
  deploy: ["up", "apply"],
  update: ["apply"],
  secret: ["config"],
  secrets: ["config"],
  tail: ["logs -f"],
  console: ["shell"],
};

/** `: did you mean "x"?` for a word that is not a command: of another tool, or mistyped; nothing where it is neither. */
export function commandMeant(word: string, known: readonly string[]): string {
  const meant = own(otherWords, word);
  if (meant === undefined) return didYouMean(word, known);
  return `: did you mean ${meant.map((command) => `"${command}"`).join(" or ")}?`;
}
