import { expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";

const checkout = join(import.meta.dir, "../..");

/** What makes a field work is counted, not what uses it: synonyms of what somebody typed, and manifests that are proposed. */
const aside = ["src/base/pure/field-words.ts", "src/orchestration/core/build/"];

const sources = await Promise.all(
  [...new Glob("{src,plugins}/**/*.{ts,tsx}").scanSync(checkout)]
    .filter((path) => !aside.some((place) => path.startsWith(place)))
    .map(async (path) => ({ path, text: await Bun.file(join(checkout, path)).text() })),
);

/** Files that name a field as a manifest writes it, or as the code does. */
function filesOf(field: string): string[] {
  const own = field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const word = new RegExp(`\\b(?:${field}|${own}|${own}Ms)\\b`);
  return sources.flatMap(({ path, text }) => (word.test(text) ? [path] : [])).sort();
}

// The list of "Add a field to a kind" in CONTRIBUTING.md. A field that other parts of the product act on has more.
test.each(["stop_signal", "volume_owner"])("%s, a field of containers, is named in few files", (field) => {
  const files = filesOf(field);
  expect(files).toContain("src/orchestration/api/kinds/container.ts");
  expect(files.slice(8)).toEqual([]);
});
