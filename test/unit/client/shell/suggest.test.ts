import { describe, expect, test } from "bun:test";
import { closest, didYouMean } from "../../../../src/client/shell/suggest.ts";

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
