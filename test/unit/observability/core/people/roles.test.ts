import { expect, test } from "bun:test";
import { roles } from "../../../../../src/observability/api/people.ts";
import { scopes } from "../../../../../src/base/wire/endpoint.ts";
import { personAddress, scopesOf } from "../../../../../src/observability/core/people/roles.ts";

test("each role has what the one before has; secrets are for admins alone", () => {
  expect(scopesOf("viewer")).toEqual(["read"]);
  expect(scopesOf("operator")).toEqual(["read", "actions", "host:read"]);
  expect(scopesOf("admin")).toEqual(scopes);
  expect(roles.map((role) => scopesOf(role).includes("exec"))).toEqual([false, false, true]);
});

test.each([
  [" Ana@Example.com ", "ana@example.com"],
  ["ana+berth@example.com", "ana+berth@example.com"],
  ["Ana@MÜNCHEN.de", "ana@xn--mnchen-3ya.de"],
  ["ana@xn--mnchen-3ya.de", "ana@xn--mnchen-3ya.de"],
  ["ana@mün chen.de", undefined],
  ["ana@localhost", undefined],
  ["ana", undefined],
  ["a b@example.com", undefined],
  ["ána@example.com", undefined],
  ["ana/x@example.com", undefined],
  [`${"a".repeat(90)}@example.com`, undefined],
])("the address %j is kept as %j", (text, address) => expect(personAddress(text)).toBe(address));
