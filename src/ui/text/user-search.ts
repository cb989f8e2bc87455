/** A query of the search grammar from what was typed: words without an operator are looked for in `field`. */
export function searchOf(typed: string, field: string): string | undefined {
  const words = typed
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return undefined;
  return words
    .map((word) =>
      /^-?[a-z_]+(?::|[<>]=?)/.test(word) ? word : `${field}:*${word.replaceAll("*", "").replaceAll("\\", "\\\\")}*`,
    )
    .join(" ");
}
