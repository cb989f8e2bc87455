/** How well a text fits what was typed: each character in order; undefined where one is missing. Higher is better. */
export function fit(typed: string, text: string): number | undefined {
  const wanted = typed.toLowerCase().replaceAll(/\s+/g, "");
  const given = text.toLowerCase();
  let score = 0;
  let at = 0;
  let last = -2;
  for (const char of wanted) {
    const found = given.indexOf(char, at);
    if (found === -1) return undefined;
    const startsWord = found === 0 || /[^a-z0-9]/.test(given.charAt(found - 1));
    score += 1 + (found === last + 1 ? 4 : 0) + (startsWord ? 3 : 0) - Math.min(found - at, 5) * 0.1;
    last = found;
    at = found + 1;
  }
  return score - given.length * 0.01;
}

/** The entries that fit, the best first; equal ones stay in their order, and all while nothing is typed. */
export function matches<T>(entries: readonly T[], typed: string, textOf: (entry: T) => string): T[] {
  if (typed.trim() === "") return [...entries];
  const scored = entries.flatMap((entry) => {
    const score = fit(typed, textOf(entry));
    return score === undefined ? [] : [{ entry, score }];
  });
  return scored.sort((a, b) => b.score - a.score).map(({ entry }) => entry);
}
