import { expect, test } from "bun:test";
import fc from "fast-check";
import { identityProblems } from "../../../../src/orchestration/core/identity.ts";
import { previewScope } from "../../../../src/orchestration/core/preview-scope.ts";

test("a plain branch keeps its name; any other has a part of its digest", () => {
  expect(previewScope("shop", "new-cart")).toEqual({ scope: "shop-new-cart", label: "new-cart" });
  expect(previewScope("shop", "feature/New cart")?.scope).toMatch(/^shop-feature-new-cart-[0-9a-f]{6}$/);
  expect(previewScope("shop", "x".repeat(60))?.scope).toMatch(/^shop-x{28}-[0-9a-f]{6}$/);
  expect(previewScope("shop", "äöü")?.label).toMatch(/^[0-9a-f]{6}$/);
  expect(previewScope("s".repeat(32), "x")).toBeUndefined();
});

test("every branch gets a scope that can be, and two branches get two", () => {
  const branch = fc.oneof(fc.string({ minLength: 1, maxLength: 80 }), fc.stringMatching(/^[a-z0-9/._-]{1,60}$/));
  fc.assert(
    fc.property(branch, branch, fc.stringMatching(/^[a-z][a-z0-9-]{0,28}[a-z0-9]$/), (a, b, of) => {
      const [one, two] = [previewScope(of, a), previewScope(of, b)];
      expect(identityProblems("deployment", one?.scope ?? "", "web")).toEqual([]);
      expect(one?.scope).toEndWith(one?.label ?? "?");
      if (a !== b) expect(one?.scope).not.toBe(two?.scope);
    }),
    { numRuns: 500 },
  );
});
