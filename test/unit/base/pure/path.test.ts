import { expect, test } from "bun:test";
import { childPath, withoutPath } from "../../../../src/base/pure/path.ts";

test.each([
  ["spec", "ports", "spec.ports"],
  ["", "image", "image"],
  ["spec.ports", 0, "spec.ports[0]"],
  ["spec.env", "a.b", 'spec.env["a.b"]'],
  ["spec", "", 'spec[""]'],
  ["spec", "a[0]", 'spec["a[0]"]'],
  ["spec.headers", "X-Y", "spec.headers.X-Y"],
] as const)("%s + %p", (path, key, expected) => {
  expect(childPath(path, key)).toBe(expected);
});

test.each<[object, string, object]>([
  [{ spec: { a: 1, b: 2 } }, "spec.a", { spec: { b: 2 } }],
  [{ spec: { lists: [{ x: 1 }, { x: 2, y: 3 }] } }, "spec.lists[1].y", { spec: { lists: [{ x: 1 }, { x: 2 }] } }],
  [{ env: { 'a."b]': 1, c: 2 } }, childPath("env", 'a."b]'), { env: { c: 2 } }],
  [{ a: { "": 1 } }, childPath("a", ""), { a: {} }],
  [{ a: 1 }, "b", { a: 1 }],
  [{ a: 1 }, "a.b.c", { a: 1 }],
  [{ a: [1] }, "a.b", { a: [1] }],
  [{ a: 1 }, "constructor", { a: 1 }],
  [{ a: 1 }, "", { a: 1 }],
])("%j without %s", (value, path, expected) => {
  expect(withoutPath(value, path)).toEqual(expected);
});
