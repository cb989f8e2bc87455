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
  return a.suffix < b.suffix ? -1 : 1;
}

function partsOf(text: string): { numbers: number[]; suffix: string } {
  const [, major = "-1", minor = "0", patch = "0", suffix = ""] =
    /^(\d+)\.(\d+)\.(\d+)(?:-([^\s+]+))?/.exec(text) ?? [];
  return { numbers: [Number(major), Number(minor), Number(patch)], suffix };
}
