/** The candidate that a mistyped word most likely meant: at most two edits away, one for short words. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const allowed = word.length <= 3 ? 1 : 2;
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ candidate, distance }) => distance <= allowed || (word.length >= 3 && candidate.startsWith(word)))
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate;
}

/** `: did you mean "x"?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[], prefix = ""): string {
  const guess = closest(word, candidates);
  return guess === undefined ? "" : `: did you mean "${prefix}${guess}"?`;
}

/** Insertions, deletions, substitutions, and swaps of neighbours (optimal string alignment distance). */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const at = (list: number[], index: number) => list[index] ?? Number.POSITIVE_INFINITY;
      const substitution = at(previous, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? at(before, j - 2) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(at(previous, j) + 1, at(row, j - 1) + 1, substitution, swap));
    }
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
