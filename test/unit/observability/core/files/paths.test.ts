import { expect, test } from "bun:test";
import { attachment, readPath, splitPath } from "../../../../../src/observability/core/files/paths.ts";

test.each([
  ["/", "/"],
  ["//etc/./nginx/", "/etc/nginx"],
  ["/a/../../etc/passwd", "/etc/passwd"],
  ["/a b\n", "/a b\n"],
])("%j is the path %j", (given, path) => expect(readPath(given)).toBe(path));

test.each([null, "", "etc", "../etc", "/a\0b", `/${"x".repeat(4_096)}`])("%j is refused", (given) => {
  expect(() => readPath(given)).toThrow("query path: ");
});

test("a path has a folder and a last name", () => {
  expect(splitPath("/a/b")).toEqual({ folder: "/a", name: "b" });
  expect(splitPath("/a")).toEqual({ folder: "/", name: "a" });
  expect(splitPath("/")).toEqual({ folder: "/", name: "" });
});

test.each(['a"b', "a\r\nSet-Cookie: x=1", "é (1)*.txt", "a\\b", "%41"])(
  "the name %j stays inside its header",
  (name) => {
    const value = attachment(name);
    expect(value).toMatch(/^attachment; filename="[^"\r\n]*"; filename\*=UTF-8''[\w!#$&+\-.^`|~%]*$/);
    expect(decodeURIComponent(value.split("''")[1] ?? "")).toBe(name);
    expect(() => new Headers({ "Content-Disposition": value })).not.toThrow();
  },
);
