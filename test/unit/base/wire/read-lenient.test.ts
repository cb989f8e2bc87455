import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { readLenient } from "../../../../src/base/wire/read-lenient.ts";
import { ListOf, MapOf, OneOf, Shape } from "../../../../src/base/wire/shape.ts";

const schema = Shape({
  size: Type.Optional(Type.Integer({ minimum: 1, default: 7 })),
  mode: Type.Optional(OneOf(["a", "b"], "mode")),
  inner: Type.Optional(Shape({ name: Type.String(), note: Type.Optional(Type.String()) })),
  items: Type.Optional(ListOf(Shape({ path: Type.String() }))),
  texts: Type.Optional(MapOf(Type.String(), "texts")),
});
const read = (value: unknown): unknown => readLenient(schema, value);

test("what fits is read as it is, and defaults are not filled in", () => {
  const value = { size: 1, mode: "b", inner: { name: "x" }, items: [{ path: "/" }], texts: { a: "b" } };
  expect(read(value)).toEqual(value);
  expect(read({})).toEqual({});
});

test.each<[written: object, rest: object]>([
  [{ size: "1" }, {}],
  [{ size: 0, mode: "c" }, {}],
  [{ newer: true, mode: "a" }, { mode: "a" }],
  [{ inner: { name: "x", note: 3, more: 1 } }, { inner: { name: "x" } }],
  [{ inner: { note: "x" } }, {}],
  [
    { items: [{ path: "/" }, { path: 3 }, "x", { path: "/b", strip: true }] },
    { items: [{ path: "/" }, { path: "/b" }] },
  ],
  [{ items: { path: "/" } }, {}],
  [{ texts: { a: "b", c: 3 } }, { texts: { a: "b" } }],
  [{ inner: null, texts: [] }, {}],
])("of %j the rest is %j", (written, rest) => {
  expect(read(written)).toEqual(rest);
});

test("what is not an object is not read", () => {
  for (const value of [undefined, null, 3, "x", []]) expect(read(value)).toBeUndefined();
});
