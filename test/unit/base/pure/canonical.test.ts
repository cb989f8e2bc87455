import { expect, test } from "bun:test";
import { canonicalJson, inOrder } from "../../../../src/base/pure/canonical.ts";

test("the order of keys does not matter, at any depth", () => {
  const one = canonicalJson({ b: 1, a: { d: [{ y: 1, x: 2 }], c: null } });
  expect(one).toBe(canonicalJson({ a: { c: null, d: [{ x: 2, y: 1 }] }, b: 1 }));
  expect(one).toBe('{"a":{"c":null,"d":[{"x":2,"y":1}]},"b":1}');
});

test("the order of lists does matter", () => {
  expect(canonicalJson({ a: [1, 2] })).not.toBe(canonicalJson({ a: [2, 1] }));
});

test("undefined fields are left out", () => {
  expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
});

test("a key named __proto__ stays a key", () => {
  expect(canonicalJson(JSON.parse('{"z":1,"__proto__":{"b":1,"a":2}}'))).toBe('{"__proto__":{"a":2,"b":1},"z":1}');
});

test("the given object is left as it is", () => {
  const given = { b: 1, a: 2 };
  canonicalJson(given);
  expect(Object.keys(given)).toEqual(["b", "a"]);
});

test("what is in order already is the same object, at every depth; the rest is a copy", () => {
  const ordered = { a: [{ b: 1, c: 2 }, "x"], d: { e: null } };
  expect(inOrder(ordered)).toBe(ordered);
  const mixed = { z: ordered, a: 1 };
  const copy = inOrder(mixed);
  expect(copy).not.toBe(mixed);
  expect(copy.z).toBe(ordered);
  expect(inOrder(copy)).toBe(copy);
  expect(Object.keys(inOrder([{ b: 1, a: 2 }])[0] ?? {})).toEqual(["a", "b"]);
});

test("undefined fields are no part of a value in order", () => {
  expect(Object.keys(inOrder({ a: 1, b: undefined }))).toEqual(["a"]);
});
