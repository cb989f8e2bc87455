import { describe, expect, test } from "bun:test";
import { contextDigest, linkProblem, pathProblem } from "../../../../src/base/pure/source-tree.ts";

const file = (path: string, digest = "a", executable = false) => ({ path, kind: "file" as const, executable, digest });

describe("the name of a folder", () => {
  test("does not depend on the order of its files", () => {
    expect(contextDigest([file("a"), file("b/c")])).toBe(contextDigest([file("b/c"), file("a")]));
  });

  test.each([
    ["content", file("a", "b")],
    ["path", file("b")],
    ["executable bit", file("a", "a", true)],
    ["kind", { ...file("a"), kind: "link" as const }],
  ])("depends on the %s", (_, other) => {
    expect(contextDigest([other])).not.toBe(contextDigest([file("a")]));
  });

  test("is the same in every version, since clients and servers compare it", () => {
    expect(contextDigest([file("a"), file("bin/run", "b", true)])).toBe(
      "952eec8e1096442f8b02e9e4b890659fcba00ea30d333873c60a614d8092ff0f",
    );
  });
});

test.each([
  ["a", undefined],
  ["a/b.c", undefined],
  ["", "is not a path"],
  ["/a", "is not a path"],
  ["../a", "leads out"],
  ["a/../b", "leads out"],
  ["a//b", "leads out"],
  ["a\nb", "control character"],
  ["a\\b", "backslash"],
  ["a".repeat(1_025), "longer"],
])("path %j", (path, problem) => {
  if (problem === undefined) expect(pathProblem(path)).toBeUndefined();
  else expect(pathProblem(path)).toContain(problem);
});

test.each([
  ["a", "b", true],
  ["a/b", "../c", true],
  ["a/b/c", "../../d/../e", true],
  ["a", "../c", false],
  ["a/b", "../../c", false],
  ["a/b", "x/../../../c", false],
  ["a", "/etc/passwd", false],
  ["a", "", false],
])("link %j to %j: %p", (path, target, isFine) => {
  expect(linkProblem(path, target) === undefined).toBe(isFine);
});
