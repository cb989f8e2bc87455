import { expect, test } from "bun:test";
import fc from "fast-check";
import { certificateId, covers, registeredDomain } from "../../../../../src/ingress/core/certificates/names.ts";

test.each([
  ["shop.example.com", "shop.example.com", true],
  ["shop.example.com", "api.example.com", false],
  ["*.example.com", "shop.example.com", true],
  ["*.example.com", "a.shop.example.com", false],
  ["*.example.com", "example.com", false],
  ["*.example.com", "*.example.com", true],
  ["*.com", "*.example.com", false],
  ["*.example.com", ".example.com", false],
  ["shop.example.com", "*.example.com", false],
])("a certificate for %s covers %s: %p", (name, host, expected) => {
  expect(covers(name, host)).toBe(expected);
});

test.each([
  ["example.com", "example.com"],
  ["a.b.example.com", "example.com"],
  ["*.example.com", "example.com"],
  ["shop.example.co.uk", "example.co.uk"],
  ["shop.example.com.au", "example.com.au"],
  ["co.example.org", "example.org"],
  ["localhost", "localhost"],
])("%s is counted under %s", (name, domain) => {
  expect(registeredDomain(name)).toBe(domain);
});

test("an id depends on the issuer and on the set of names, not on their order", () => {
  const id = certificateId(["a.test", "b.test"], "internal");
  expect(id).toStartWith("a.test-");
  expect(certificateId(["a.test", "b.test"], "other")).not.toBe(id);
  expect(certificateId(["a.test"], "internal")).not.toBe(id);
  expect(certificateId(["b.test", "a.test"], "internal").slice(-12)).toBe(id.slice(-12));
});

test("an id is a safe file name, whatever the names are", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 300 })), fc.string(), (names, issuer) => {
      const id = certificateId(names, issuer);
      expect(id).toMatch(/^[a-z0-9._-]{13,120}$/);
      expect(id).not.toBe("..");
    }),
  );
});
