import { describe, expect, test } from "bun:test";
import { readableEmail } from "../../../../src/base/pure/domain-names.ts";
import { normaliseEmail, searchedEmail } from "../../../../src/identity/core/email.ts";

describe("one form of an address", () => {
  test.each([
    [" Ana@Shop.Test ", "ana@shop.test"],
    ["ana@münchen.de", "ana@xn--mnchen-3ya.de"],
    ["ana@mu\u0308nchen.de", "ana@xn--mnchen-3ya.de"],
    ["ANA@MÜNCHEN.DE", "ana@xn--mnchen-3ya.de"],
    ["ana@XN--mnchen-3ya.de", "ana@xn--mnchen-3ya.de"],
    ["ana@shop。test", "ana@shop.test"],
    ["Jürgen+x@münchen.de", "jürgen+x@xn--mnchen-3ya.de"],
    ["用户@例え.テスト", "用户@xn--r8jz45g.xn--zckzah"],
    ["o'hara@sub.xn--mnchen-3ya.de", "o'hara@sub.xn--mnchen-3ya.de"],
  ])("%s", (text, email) => {
    expect(normaliseEmail(text)).toBe(email);
    expect(normaliseEmail(email)).toBe(email);
    expect(normaliseEmail(readableEmail(email))).toBe(email);
    expect(searchedEmail(text)).toBe(email);
  });

  test.each([
    "",
    "@",
    "ana",
    "ana@",
    "@shop.test",
    "ana@localhost",
    "ana@shop..test",
    "ana@mün chen.de",
    "ana@münchen-.de",
    "a@b@shop.test",
    "ana@ü%2e.de",
    `${"a".repeat(65)}@shop.test`,
    `ana@${"ü".repeat(60)}.de`,
  ])("%j is none", (text) => {
    expect(normaliseEmail(text)).toBeUndefined();
  });
});

test("people read the letters, not the code", () => {
  expect(readableEmail("ana@xn--mnchen-3ya.de")).toBe("ana@münchen.de");
  expect(readableEmail("ana@shop.test")).toBe("ana@shop.test");
  expect(readableEmail("xn--mnchen-3ya@shop.test")).toBe("xn--mnchen-3ya@shop.test");
});

test("a search for what is no address ignores the case all the same", () => {
  expect(searchedEmail("ANA@")).toBe("ana@");
  expect(searchedEmail("MU\u0308N")).toBe("mün");
});
