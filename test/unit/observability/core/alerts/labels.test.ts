import { expect, test } from "bun:test";
import { appOf, fits, isAbout, labelText } from "../../../../../src/observability/core/alerts/labels.ts";

test.each([
  ["shop/web", "shop/web", true],
  ["shop/*", "shop/web", true],
  ["*", "", true],
  ["*/web", "shop/web", true],
  ["s*p/w*b", "shop/web", true],
  ["shop/w", "shop/web", false],
  ["ab*ba", "aba", false],
  ["*a*b*", "ba", false],
  ["shop.web", "shop/web", false],
])("pattern %s and %s: %p", (pattern, text, expected) => {
  expect(fits(pattern, text)).toBe(expected);
});

test("labels are the same in any order", () => {
  expect(labelText({ scope: "a", name: "b" })).toBe(labelText({ name: "b", scope: "a" }));
  expect(appOf({ scope: "shop", name: "web" })).toBe("shop/web");
  expect(appOf({ host: "a.example" })).toBeUndefined();
});

test("a list of apps leaves out what is about no app", () => {
  expect(isAbout({ mount: "/" }, ["shop/*"])).toBe(false);
  expect(isAbout({ mount: "/" }, [])).toBe(true);
  expect(isAbout({ scope: "shop", name: "web" }, ["blog/*", "shop/*"])).toBe(true);
});
