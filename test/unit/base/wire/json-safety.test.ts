import { expect, test } from "bun:test";
import { safetyProblems } from "../../../../src/base/wire/json-safety.ts";

const find = (value: unknown, depthMax = 10) => safetyProblems(value, "spec", depthMax);

test("ordinary JSON passes", () => {
  expect(find({ a: [1, null, true, { b: "x\ny" }], toString: "x" })).toEqual([]);
  expect(find("x")).toEqual([]);
  expect(find(undefined)).toEqual([]);
});

test("every forbidden key is found, wherever it is", () => {
  const value = JSON.parse('{"a":[{"__proto__":1},{"constructor":{"prototype":2}}],"prototype":3}');
  expect(find(value).map(({ path }) => path)).toEqual([
    "spec.a[0].__proto__",
    "spec.a[1].constructor",
    "spec.prototype",
  ]);
});

test("texts with NUL and broken Unicode", () => {
  expect(find({ a: "x\0", b: ["\udfff"] }).map(({ path }) => path)).toEqual(["spec.a", "spec.b[0]"]);
});

test("depth is counted in objects and arrays", () => {
  expect(find([[["x"]]], 3)).toEqual([]);
  expect(find([[["x"]]], 2)).toEqual([{ path: "spec[0][0]", message: "is nested too deeply" }]);
});
