import { expect, test } from "bun:test";
import { gitRules } from "../../../../src/base/pure/git-rules.ts";
import { dockerRules } from "../../../../src/client/build/ignore-files.ts";
import { inTime } from "../../../../src/client/build/pattern-time.ts";

const kinds = [
  ["git", (text: string) => inTime(gitRules(text, ""), text, "sub/.gitignore")],
  ["docker", (text: string) => inTime(dockerRules(text, ".dockerignore"), text, ".dockerignore")],
] as const;

test.each(kinds)("%s: a pattern that would take for ever is refused by its line, before it is matched", (_, rules) => {
  const hostile = [
    ["dist\n# six groups\n**/a/**/a/**/a/**/a/**/a/**/a/b\n", `${"a/".repeat(500)}c`, 3],
    ["*a*a*a*a*a*a*a*ab\n", "a".repeat(250), 1],
    ["**/*a*a*a/**/*a*a*ab\n", `${"aaaaaaaaaaaaaaaa/".repeat(60)}c`, 1],
  ] as const;
  for (const [text, path, line] of hostile) {
    const began = performance.now();
    expect(() => rules(text).leavesOut(path)).toThrow(`ignore:${line}: the pattern `);
    expect(performance.now() - began).toBeLessThan(1_000);
  }
});

test.each(kinds)("%s: what people write is matched, whatever the path", (_, rules) => {
  const text =
    "**/node_modules/**\n**/__tests__/**/*.snap.*\n*.min.*.js\n**/*-*-*-*.log\npackages/*/src/**/*.test.ts\n";
  const told = rules(text);
  expect(told.leavesOut("a/b/c/node_modules/x")).toBe(true);
  expect(told.leavesOut(`${"folder-of-some-length/".repeat(12)}a-b-c-d.log`)).toBe(true);
  expect(told.leavesOut(`${"folder-of-some-length/".repeat(12)}main.ts`)).toBe(false);
});
