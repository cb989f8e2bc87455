import { expect, test } from "bun:test";
import { difference, differenceLines, isSame } from "../../../../src/client/env/difference.ts";

test("says what is added, changed and removed, by key and without a value", () => {
  const changes = difference({ A: "1", B: "2", C: "3" }, { D: "4", B: "hunter2", A: "1" });
  expect(changes).toEqual({ added: ["D"], changed: ["B"], removed: ["C"] });
  expect(differenceLines(changes)).toEqual(["+ D", "~ B", "- C"]);
  expect(isSame(changes)).toBe(false);
});

test("a key with the name of something that every object has is one like others", () => {
  expect(difference({}, { constructor: "x" })).toEqual({ added: ["constructor"], changed: [], removed: [] });
});

test("the same variables are the same in any order", () => {
  expect(isSame(difference({ A: "1", B: "2" }, { B: "2", A: "1" }))).toBe(true);
});
