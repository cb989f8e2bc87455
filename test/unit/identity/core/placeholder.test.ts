import { expect, test } from "bun:test";
import { isPlaceholder, normaliseEmail } from "../../../../src/identity/core/email.ts";
import { placeholderEmail } from "../../../../src/identity/core/placeholder.ts";

const domain = "users.noreply.invalid";
const make = (provider: string, handle: string, attempt = 0, uid = handle) =>
  placeholderEmail({ provider, uid, handle, domain, attempt });

test("the contract's form for twitter, the provider's name in it elsewhere", () => {
  expect(make("twitter", "42")).toBe(`42@${domain}`);
  expect(make("github", "42")).toBe(`42@github.${domain}`);
});

test("ids that would meet in lower case, or are no part of an address, become digests", () => {
  const [upper, lower] = [make("acme", "AbC"), make("acme", "abc")];
  expect(lower).toBe(`abc@acme.${domain}`);
  expect(upper).not.toBe(lower);
  for (const odd of ["AbC", "a b", "ä", "a@b", "", "x".repeat(60), "<script>"])
    expect(make("acme", odd)).toMatch(/^[0-9a-f]{24}@acme\./);
});

test("each attempt is another address, each of them ours and an address", () => {
  const all = [0, 1, 2].map((attempt) => make("github", "42", attempt));
  expect(new Set(all).size).toBe(3);
  for (const email of all) {
    expect(isPlaceholder(email, domain)).toBe(true);
    expect(normaliseEmail(email)).toBe(email);
  }
});
