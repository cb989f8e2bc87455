import { expect, test } from "bun:test";
import fc from "fast-check";
import { mayReach, reachesAll } from "../../../../../src/access/apps.ts";
import { globFault } from "../../../../../src/observability/core/tokens/grant.ts";

const reach = (apps: string[], scope: string, name: string) => mayReach({ apps }, { scope, name });

test("a token without a filter reaches every app", () => {
  expect(reach([], "shop", "web")).toBe(true);
  expect(reachesAll({ apps: [] })).toBe(true);
});

test.each([
  [["shop"], "shop", "web", true],
  [["shop"], "shop2", "web", false],
  [["shop/web"], "shop", "web", true],
  [["shop/web"], "shop", "worker", false],
  [["shop/w*"], "shop", "worker", true],
  [["shop/*-web"], "shop", "a-b-web", true],
  [["*/web"], "blog", "web", true],
  [["*"], "blog", "web", true],
  [["blog", "shop/web"], "shop", "web", true],
  [["sh*p"], "shop", "web", true],
  [["s*p*"], "shop", "web", true],
  [["shop/web"], "shop", "webs", false],
] as const)("%p on %s/%s: %p", (apps, scope, name, expected) => {
  expect(reach([...apps], scope, name)).toBe(expected);
  expect(reachesAll({ apps: [...apps] })).toBe(false);
});

test("a glob means what a regular expression of it means", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 12 });
  const glob = fc.string({ unit: fc.constantFrom("a", "b", "*"), minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(glob, text, (pattern, name) => {
      const expected = new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(name);
      expect(reach([`s/${pattern}`], "s", name)).toBe(expected);
    }),
  );
});

test.each(["shop", "shop/web", "*", "sh*/w-*", "a.b/c_d"])("%s is a glob", (glob) => {
  expect(globFault(glob)).toBeUndefined();
});

test.each(["", "/web", "shop/", "a/b/c", "a b", "shop/we?", "x".repeat(201)])("%p is none", (glob) => {
  expect(globFault(glob)).toBeString();
});
