import { expect, test } from "bun:test";
import { fit, matches } from "../../../../src/ui/text/match.ts";

test("what fits at the start of words comes first; what does not fit is left out", () => {
  const names = ["shop/newebsite", "shop/web", "data/main"];
  expect(matches(names, "web", (name) => name)).toEqual(["shop/web", "shop/newebsite"]);
  expect(matches(names, "dm", (name) => name)).toEqual(["data/main"]);
  expect(matches(names, "", (name) => name)).toEqual(names);
  expect(fit("xyz", "shop")).toBeUndefined();
});
