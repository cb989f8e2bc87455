import { expect, test } from "bun:test";
import { importersOf, testsOf } from "../../mutate/dependents.ts";
import { mutantsOf, mutated } from "../../mutate/mutants.ts";
import { source } from "../../support/source.ts";

const all = (text: string) => mutantsOf("a.ts", text).map((mutant) => mutated(text, mutant));

test("operators, truths, questions and early returns are turned round, one at a time", () => {
  expect(all("const a = b < c && d;\n")).toEqual(["const a = b <= c && d;\n", "const a = b < c || d;\n"]);
  expect(all("const a = { b: true };\n")).toEqual(["const a = { b: false };\n"]);
  expect(all("  if (!a) return 1;\n")).toEqual(["  if (a) return 1;\n", "  if (!a) {}\n"]);
  expect(all("  if (a) return;\n")).toEqual(["  if (!a) return;\n", "  if (a) {}\n"]);
  expect(all("const a = Math.min(b, c.some(d) ? 1 : 2);\n")).toEqual([
    "const a = Math.max(b, c.some(d) ? 1 : 2);\n",
    "const a = Math.min(b, c.every(d) ? 1 : 2);\n",
  ]);
});

test("types, comments and texts stay", () => {
  for (const text of [
    "type A = Map<string, B> | true;\n",
    "  | true\n",
    "// a === b\n",
    'const a = "b === c && true";\n',
    "const a = new Map<string, number>();\n",
  ])
    expect(all(text)).toEqual([]);
});

test("the tests that reach a file come with the nearest first, each once", () => {
  const sources = [
    source("src/a.ts", ""),
    source("src/b.ts", 'import { a } from "./a.ts";'),
    source("test/unit/a.test.ts", 'import { a } from "../../src/a.ts"; import { b } from "../../src/b.ts";'),
    source("test/unit/b.test.ts", 'import { b } from "../../src/b.ts";'),
    source("test/unit/c.test.ts", ""),
  ];
  const importers = importersOf(sources);
  expect(testsOf("src/a.ts", importers)).toEqual(["test/unit/a.test.ts", "test/unit/b.test.ts"]);
  expect(testsOf("src/b.ts", importers).toSorted()).toEqual(["test/unit/a.test.ts", "test/unit/b.test.ts"]);
});
