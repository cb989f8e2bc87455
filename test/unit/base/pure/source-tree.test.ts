import { describe, expect, test } from "bun:test";
import {
  contextDigest,
  linkProblem,
  neededEntries,
  pathProblem,
  plainMode,
} from "../../../../src/base/pure/source-tree.ts";

const file = (path: string, digest = "a", executable = false) => ({
  ...{ path, kind: "file" as const, digest },
  mode: executable ? 0o755 : 0o644,
});
const place = (path: string, mode = 0o755) => ({ path, kind: "folder" as const, mode, digest: "" });

describe("the name of a folder", () => {
  test("does not depend on the order of its files", () => {
    expect(contextDigest([file("a"), file("b/c")])).toBe(contextDigest([file("b/c"), file("a")]));
  });

  test.each([
    ["content", file("a", "b")],
    ["path", file("b")],
    ["executable bit", file("a", "a", true)],
    ["mode", { ...file("a"), mode: 0o600 }],
    ["kind", { ...file("a"), kind: "link" as const }],
  ])("depends on the %s", (_, other) => {
    expect(contextDigest([other])).not.toBe(contextDigest([file("a")]));
  });

  test("depends on empty folders, and on the mode of one, and not on those that are there through what is in them", () => {
    const plain = contextDigest([file("a/b/c")]);
    expect(contextDigest([place("a"), place("a/b"), file("a/b/c")])).toBe(plain);
    const others = [[place("x")], [place("a", 0o700)], [place("a/x")]].map((more) =>
      contextDigest([...more, file("a/b/c")]),
    );
    expect(new Set([plain, ...others]).size).toBe(4);
    expect(neededEntries([place("a"), place("a/x"), file("ab")]).map(({ path }) => path)).toEqual(["a/x", "ab"]);
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

test.each([
  [0o100644, 0o644],
  [0o100600, 0o600],
  [0o664, 0o644],
  [0o775, 0o755],
  [0o770, 0o750],
  [0o777, 0o777],
  [0o666, 0o666],
  [0o4755, 0o4755],
  [0o400, 0o400],
])("the mode %o is packed as %o", (mode, packed) => {
  expect(plainMode(mode)).toBe(packed);
});
