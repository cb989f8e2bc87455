import { expect, test } from "bun:test";
import {
  asList,
  envRecord,
  envRows,
  epochMs,
  isObjectName,
  labelFilter,
} from "../../../../../src/orchestration/engine/docker/formats.ts";

test("an environment goes there and back", () => {
  const env = { A: "1", EMPTY: "", EQUALS: "a=b=c", LINES: "x\ny", "=odd": "kept?" };
  const { "=odd": _, ...ordinary } = env;
  expect(envRecord(envRows(ordinary))).toEqual(ordinary);
  expect(envRecord(["BARE"])).toEqual({ BARE: "" });
  expect(envRecord(null)).toEqual({});
});

test("epochMs knows the engine's never", () => {
  expect(epochMs("2024-05-01T10:00:00.5Z")).toBe(Date.UTC(2024, 4, 1, 10, 0, 0, 500));
  expect(epochMs("2024-05-01T12:00:00.000000001+02:00")).toBe(Date.UTC(2024, 4, 1, 10));
  expect(epochMs("0001-01-01T00:00:00Z")).toBeUndefined();
  expect(epochMs("")).toBeUndefined();
  expect(epochMs(undefined)).toBeUndefined();
});

test("labelFilter writes rows", () => {
  expect(labelFilter({ a: "1", "b.c": "" })).toEqual({ label: ["a=1", "b.c="] });
});

test("asList takes both of the engine's forms", () => {
  expect([asList("a"), asList(["a", "b"]), asList(null), asList(undefined)]).toEqual([["a"], ["a", "b"], [], []]);
});

test("isObjectName takes what the engine takes, and nothing that could become a path", () => {
  for (const name of ["web.1", "shop-web.ab2cd", "a", "A_b-c.d", "0".repeat(64)]) expect(isObjectName(name)).toBe(true);
  for (const name of ["", ".", "..", ".a", "-a", "a/b", "a b", "a?b", "a%2f", "ä", "a\n"])
    expect(isObjectName(name)).toBe(false);
});
