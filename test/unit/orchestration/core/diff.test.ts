import { expect, test } from "bun:test";
import { changedPaths } from "../../../../src/orchestration/core/diff.ts";

test("objects are descended into, lists are one value, paths are sorted", () => {
  const before = { image: "a", env: { B: "1", A: "1" }, ports: ["1"], same: { x: [1] }, gone: true };
  const after = { image: "b", env: { B: "2", C: "1" }, ports: ["1", "2"], same: { x: [1] }, probes: { liveness: {} } };
  expect(changedPaths(before, after)).toEqual(["env.A", "env.B", "env.C", "gone", "image", "ports", "probes"]);
});

test("absent, empty and null are three things", () => {
  expect(changedPaths({}, { env: {} })).toEqual(["env"]);
  expect(changedPaths({ env: {} }, { env: {} })).toEqual([]);
  expect(changedPaths({ a: null }, {})).toEqual(["a"]);
  expect(changedPaths({ a: undefined }, {})).toEqual([]);
  expect(changedPaths({ a: 1 }, { a: { b: 1 } })).toEqual(["a"]);
});

test("odd keys stay readable", () => {
  expect(changedPaths({ env: { "a.b": 1 } }, { env: { "a.b": 2 } })).toEqual(['env["a.b"]']);
});
