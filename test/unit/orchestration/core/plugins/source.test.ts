import { describe, expect, test } from "bun:test";
import { assetNames, parseChecksums } from "../../../../../src/orchestration/core/plugins/release-assets.ts";
import { isVersionWord, parseSource, tagsOf } from "../../../../../src/orchestration/core/plugins/source.ts";

describe("a source", () => {
  test.each([
    ["/opt/x", { type: "local", path: "/opt/x" }],
    ["./x y", { type: "local", path: "./x y" }],
    ["../x", { type: "local", path: "../x" }],
    [".", { type: "local", path: "." }],
    ["ana/tool", { type: "release", owner: "ana", repo: "tool" }],
    ["github.com/ana/tool.x", { type: "release", owner: "ana", repo: "tool.x" }],
    ["https://github.com/ana/tool.git", { type: "release", owner: "ana", repo: "tool" }],
    ["https://git.example.com/a/b.git", { type: "git", url: "https://git.example.com/a/b.git" }],
    ["file:///tmp/x.git", { type: "git", url: "file:///tmp/x.git" }],
    ["ssh://git@host/a/b", { type: "git", url: "ssh://git@host/a/b" }],
    ["git@host:a/b.git", { type: "git", url: "git@host:a/b.git" }],
  ] as const)("%s is understood", (text, source) => {
    expect(parseSource(text)).toEqual(source);
  });

  test.each([
    "",
    "tool",
    "a/b/c",
    "--flag",
    "-a/b",
    "ext::sh -c x",
    "ana/..",
    "ana/to ol",
    "ftp://x/y",
    "ssh://-oProxy/x",
    "git@-x:a",
  ])("%p is none", (text) => {
    expect(parseSource(text)).toBeUndefined();
  });

  test("a word that names a folder is one", () => {
    expect(parseSource("ana/tool", (path) => path === "ana/tool")).toEqual({ type: "local", path: "ana/tool" });
  });
});

test("a version is looked for with and without v", () => {
  expect(tagsOf("1.2")).toEqual(["v1.2", "1.2"]);
  expect(tagsOf("v1.2")).toEqual(["v1.2", "1.2"]);
  expect(tagsOf("main")).toEqual(["main", "vmain"]);
  for (const word of ["1.2.0", "v1", "feature/x", "2026-01-01"]) expect(isVersionWord(word)).toBe(true);
  for (const word of ["-x", "a..b", "", "a b", "x.lock", "a/", "a//b"]) expect(isVersionWord(word)).toBe(false);
});

test("programs of a release are looked for under the names in use", () => {
  const names = assetNames(["tool", "tool", "my-tool"], { os: "linux", arch: "arm64" }).map(({ name }) => name);
  expect(names).toEqual([
    "tool_linux_arm64",
    "tool-linux-arm64",
    "tool_linux_aarch64",
    "tool-linux-aarch64",
    "my-tool_linux_arm64",
    "my-tool-linux-arm64",
    "my-tool_linux_aarch64",
    "my-tool-linux-aarch64",
  ]);
});

test("checksums are read in both forms, and nothing else is", () => {
  const [a, b, c] = ["a", "B", "c"].map((letter) => letter.repeat(64));
  const sums = parseChecksums(`${a}  one\n${b} *./two\r\n# no\nshort  three\n`);
  expect([...sums]).toEqual([
    ["one", a ?? ""],
    ["two", "b".repeat(64)],
  ]);
  expect([...parseChecksums(`${c}\n`, "own")]).toEqual([["own", c ?? ""]]);
});
