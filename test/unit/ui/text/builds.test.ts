import { expect, test } from "bun:test";
import { imageText, sourceText } from "../../../../src/ui/text/builds.ts";

test("a build names its commit, or its folder", () => {
  const git = { url: "https://git.example.com/shop.git", ref: "main", commit: "1a2b3c4d".repeat(5), subject: "faster" };
  expect(sourceText({ context: "c".repeat(64), git })).toBe("main 1a2b3c4 faster");
  expect(sourceText({ context: "c".repeat(64) })).toBe("folder cccccccccccc");
});

test.each([
  ["failed", false, [], "–"],
  ["succeeded", false, [], "not deployed"],
  ["succeeded", true, ["r1"], "kept for rollback"],
  ["succeeded", true, [], "in use"],
  ["succeeded", false, ["r1"], "removed when space is needed"],
] as const)("an image of a build that %s, kept %p, with releases %p", (status, kept, releases, text) => {
  expect(imageText({ status, kept, releases: [...releases] })).toBe(text);
});
