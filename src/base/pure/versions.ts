/** Negative when `one` is older than `other`, both like `0.1.0` or `0.2.0-rc.1 (commit: …)`; a text of other form is oldest. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [partsOf(one), partsOf(other)];
  for (const [index, part] of a.numbers.entries()) {
    const difference = part - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.suffix === b.suffix) return 0;
  // What is being tried out comes before the release of the same number.
  if (a.suffix === "" || b.suffix === "") return a.suffix === "" ? 1 : -1;
  return comparePrereleases(a.suffix.split("."), b.suffix.split("."));
}

/** Numbers by their value and before words, and what is longer behind what it begins with (Semantic Versioning 2.0.0, section 11). */
function comparePrereleases(one: readonly string[], other: readonly string[]): number {
  for (const [index, word] of one.entries()) {
    const facing = other[index];
    if (facing === undefined) return 1;
    if (word === facing) continue;
    const [isNumber, isFacingNumber] = [/^\d+$/.test(word), /^\d+$/.test(facing)];
    if (isNumber && isFacingNumber) return Number(word) - Number(facing);
    if (isNumber !== isFacingNumber) return isNumber ? -1 : 1;
    return word < facing ? -1 : 1;
  }
  return one.length - other.length;
}

function partsOf(text: string): { numbers: number[]; suffix: string } {
  const [, major = "-1", minor = "0", patch = "0", suffix = ""] =
    /^(\d+)\.(\d+)\.(\d+)(?:-([^\s+]+))?/.exec(text) ?? [];
  return { numbers: [Number(major), Number(minor), Number(patch)], suffix };
}
