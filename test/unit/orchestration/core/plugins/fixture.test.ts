import { describe, expect, test } from "bun:test";
import { differences, readFixture } from "../../../../../src/orchestration/core/plugins/fixture.ts";

describe("a test of a plugin", () => {
  test("has defaults for all but its command", () => {
    expect(readFixture({ command: "hello" })).toEqual({
      fixture: { command: "hello", args: [], stdin: {}, env: {}, controller: {}, programs: {}, expect: undefined },
      problems: [],
    });
    expect(readFixture({ command: "x", expect: { data: null } }).fixture.expect).toEqual({ exit: 0, data: null });
  });

  test.each([
    [[], "expected a map"],
    [{}, "is required"],
    [{ command: "x", arg: [] }, "unknown field"],
    [{ command: "x", args: [1] }, "expected a list of texts"],
    [{ command: "x", expect: { exit: "0" } }, "expected a whole number"],
  ])("%p is told", (value, text) => {
    const { problems } = readFixture(value);
    expect(problems.map(({ message }) => message).join("\n")).toContain(text);
  });
});

describe("differences", () => {
  test("are none between the same, and <any> is like everything but nothing", () => {
    expect(differences({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toEqual([]);
    expect(differences({ a: "<any>" }, { a: { b: 1 } })).toEqual([]);
    expect(differences({ a: "<any>" }, {})).toEqual(['a: expected "<any>", got nothing']);
  });

  test("name their place and both sides", () => {
    expect(differences({ a: [1, 2], b: 1 }, { a: [1], c: 3 })).toEqual([
      "a[1]: expected 2, got nothing",
      "b: expected 1, got nothing",
      "c: expected nothing, got 3",
    ]);
    expect(differences({}, [])).toEqual(["it: expected {}, got []"]);
    expect(differences(Array(100).fill(1), [])).toHaveLength(20);
  });
});
