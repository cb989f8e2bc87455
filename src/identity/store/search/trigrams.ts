import { fold } from "../../core/fold.ts";
import type { Search, Term } from "../../core/search.ts";

/** More of them make a query slower, not narrower. */
const trigramsMax = 24;

/**
 * A full-text query over `columns` that every row that is found meets: all runs of three characters of its texts.
 * Undefined when there is none, for what is shorter than three characters is in no index.
 */
export function trigramQuery(columns: readonly string[], { groups }: Search): string | undefined {
  const parts = groups.flatMap(({ field, oneOf }) => {
    if (!columns.includes(field)) return [];
    const alternatives = oneOf.map(trigramsOf);
    if (alternatives.some((grams) => grams.length === 0)) return [];
    return [`(${alternatives.map((grams) => `({${field}} : (${grams.map(quote).join(" AND ")}))`).join(" OR ")})`];
  });
  return parts.length === 0 ? undefined : parts.join(" AND ");
}

function trigramsOf(term: Term): string[] {
  const texts = term.is === "like" ? term.pattern.segments : term.is === "equal" ? [fold(term.value)] : [];
  const grams = new Set(texts.flatMap((text) => runsOfThree(Array.from(text))));
  return [...grams].slice(0, trigramsMax);
}

function runsOfThree(characters: readonly string[]): string[] {
  const runs: string[] = [];
  for (let at = 0; at + 3 <= characters.length; at++) runs.push(characters.slice(at, at + 3).join(""));
  return runs.filter((run) => !run.includes("\0"));
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
