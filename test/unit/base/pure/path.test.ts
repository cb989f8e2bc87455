import { expect, test } from "bun:test";
import { childPath } from "../../../../src/base/pure/path.ts";

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
