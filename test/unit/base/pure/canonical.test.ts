import { expect, test } from "bun:test";
import { orderedJson, inOrder } from "../../../../src/base/pure/canonical.ts";

test("the order of keys does not matter, at any depth", () => {
  const one = orderedJson({ b: 1, a: { d: [{ y: 1, x: 2 }], c: null } });
  expect(one).toBe(orderedJson({ a: { c: null, d: [{ x: 2, y: 1 }] }, b: 1 }));
  expect(one).toBe('{"a":{"c":null,"d":[{"x":2,"y":1}]},"b":1}');
});

test("the order of lists does matter", () => {
  expect(orderedJson({ a: [1, 2] })).not.toBe(orderedJson({ a: [2, 1] }));
});

test("undefined fields are left out", () => {
  expect(orderedJson({ a: undefined, b: 1 })).toBe('{"b":1}');
});

test("a key named __proto__ stays a key", () => {
  expect(orderedJson(JSON.parse('{"z":1,"__proto__":{"b":1,"a":2}}'))).toBe('{"__proto__":{"a":2,"b":1},"z":1}');
});

test("the given object is left as it is", () => {
  const given = { b: 1, a: 2 };
  orderedJson(given);
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

test("a value that is out of order at every depth is put in order once, not twice a level", () => {
  let deep: object = { z: 1 };
  let text = '{"z":1}';
  // With two looks a level it would never end.
  for (let depth = 0; depth < 64; depth++) {
    deep = { b: deep, a: depth };
    text = `{"a":${depth},"b":${text}}`;
  }
  expect(orderedJson(deep)).toBe(text);
});
