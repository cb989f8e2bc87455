import { expect, test } from "bun:test";
import { isPlaceholderAddress, normalEmail } from "../../../../src/core/identity/email.ts";

test.each([
  [" Ana@Shop.Test ", "ana@shop.test"],
  ["a+b.c@x.test", "a+b.c@x.test"],
  ["e\u0301va@x.test", "\u00e9va@x.test"],
  ["ana@xn--mnchen-3ya.test", "ana@xn--mnchen-3ya.test"],
  ["ana@localhost", "ana@localhost"],
])("%p is %p", (text, address) => {
  expect(normalEmail(text)).toBe(address);
  expect(normalEmail(address)).toBe(address);
});

test.each([
  "",
  "ana",
  "@x.test",
  "ana@",
  "a@b@c.test",
  "an a@x.test",
  "ana@x..test",
  "ana@-x.test",
  "ana@x.test\r\nBcc: all@x.test",
  "ana\u0000@x.test",
  "ana\u200b@x.test",
  "<ana@x.test>",
  '"ana"@x.test',
  `${"a".repeat(65)}@x.test`,
  `a@${"b.".repeat(126)}test`,
  "a".repeat(100_000),
])("%p is no address", (text) => {
  expect(normalEmail(text)).toBeUndefined();
});

test("addresses below the reserved domain are ours alone", () => {
  const domain = "users.noreply.invalid";
  expect(isPlaceholderAddress("1@users.noreply.invalid", domain)).toBe(true);
  expect(isPlaceholderAddress("1@github.users.noreply.invalid", domain)).toBe(true);
  expect(isPlaceholderAddress("1@notusers.noreply.invalid", domain)).toBe(false);
  expect(isPlaceholderAddress("users.noreply.invalid@x.test", domain)).toBe(false);
});
