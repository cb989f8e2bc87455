import { resolveImport, type Source } from "../support/source.ts";

/** Which files import which; paths are relative to the checkout. */
export function importersOf(sources: readonly Source[]): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const { path, imports } of sources) {
    for (const specifier of imports) {
      const target = resolveImport(path, specifier);
      if (target !== undefined) importers.set(target, [...(importers.get(target) ?? []), path]);
    }
  }
  return importers;
}

/** The tests that reach a file by imports: those at the fewest steps first. */
export function testsOf(path: string, importers: ReadonlyMap<string, readonly string[]>): string[] {
  const seen = new Set([path]);
  const tests: string[] = [];
  for (let ring = [path]; ring.length > 0;) {
    const next = ring.flatMap((file) => importers.get(file) ?? []).filter((file) => !seen.has(file));
    for (const file of next) seen.add(file);
    ring = [...new Set(next)];
    tests.push(...ring.filter((file) => file.endsWith(".test.ts")));
  }
  return tests;
}
