import { describe, expect, test } from "bun:test";
import { closest, didYouMean, editDistance } from "../../../../src/base/pure/suggest.ts";

describe("edit distance", () => {
  test.each([
    ["", "", 0],
    ["image", "image", 0],
    ["imagee", "image", 1],
    ["iamge", "image", 1],
    ["port", "ports", 1],
    ["kitten", "sitting", 3],
  ])("%s → %s is %d", (a, b, expected) => {
    expect(editDistance(a, b)).toBe(expected);
  });
});

describe("suggestions", () => {
  const words = ["image", "replicas", "ports", "env"];
  test("the nearest word within reach", () => {
    expect(closest("replica", words)).toBe("replicas");
    expect(closest("IMAGE", words)).toBe("image");
    expect(didYouMean("prots", words)).toBe('; did you mean "ports"');
  });
  test("nothing when no word is near, empty, or far too long", () => {
    expect(closest("volumes", words)).toBeUndefined();
    expect(closest("", words)).toBeUndefined();
    expect(closest("i".repeat(65), ["i".repeat(64)])).toBeUndefined();
    expect(didYouMean("zzzzzz", words)).toBe("");
  });
});
