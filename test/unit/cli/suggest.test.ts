import { describe, expect, test } from "bun:test";
import { closest, didYouMean, editDistance } from "../../../src/cli/suggest.ts";

describe("editDistance", () => {
  test.each([
    ["", "", 0],
    ["abc", "abc", 0],
    ["abc", "ab", 1],
    ["abc", "abcd", 1],
    ["abc", "axc", 1],
    ["aplpy", "apply", 1],
    ["kitten", "sitting", 3],
  ])("%p to %p is %p", (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
    expect(editDistance(b, a)).toBe(distance);
  });
});

describe("closest", () => {
  const verbs = ["apply", "diff", "get", "describe", "delete"];

  test("finds the word of one slip, and of a beginning", () => {
    expect(closest("aply", verbs)).toBe("apply");
    expect(closest("desc", verbs)).toBe("describe");
    expect(closest("gte", verbs)).toBe("get");
  });

  test("finds nothing for another word", () => {
    expect(closest("install", verbs)).toBeUndefined();
    expect(closest("xyz", verbs)).toBeUndefined();
  });

  test("didYouMean is empty without a guess", () => {
    expect(didYouMean("dif", verbs)).toBe(': did you mean "diff"?');
    expect(didYouMean("install", verbs)).toBe("");
  });
});
