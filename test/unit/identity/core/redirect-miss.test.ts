import { expect, test } from "bun:test";
import { defaultSettings } from "../../../../src/identity/api/settings.ts";
import { checkRedirect } from "../../../../src/identity/core/redirect.ts";
import { shownRedirect } from "../../../../src/identity/core/redirect-miss.ts";

const why = (text: string, redirect_uris = ["https://shop.test/callback", "http://localhost:3000/cb"]) => {
  const checked = checkRedirect(text, { ...defaultSettings, redirect_uris });
  return checked.ok ? "" : checked.error;
};

test.each([
  [
    "https://shop.test/callback/",
    'its path is "/callback/"; the nearest address on the list, https://shop.test/callback, has "/callback"',
  ],
  ["https://shop.test:8443/callback", 'its port is "8443"'],
  [
    "http://localhost:3001/cb",
    'its port is "3001"; the nearest address on the list, http://localhost:3000/cb, has "3000"',
  ],
  ["https://localhost:3000/cb", 'its scheme is "https"'],
  [
    "https://www.shop.test/callback",
    'its host is "www.shop.test"; the nearest address on the list, https://shop.test/callback',
  ],
  ["http://shop.test/callback", "must be https"],
  ["https://shop.test/callback?x=1", "query parameters"],
  ["https://a@shop.test/callback", "user name"],
  ["", "missing"],
])("%p is refused with the rule", (text, part) => expect(why(text)).toContain(part));

test("localhost matches its own port alone, and the refusal names the address that matches any", () => {
  const hint = "localhost matches only its listed port: list this one, or http://127.0.0.1, which matches any";
  expect(why("http://localhost:3001/cb", ["http://localhost/cb"])).toEndWith(hint);
  expect(why("http://localhost:3001/cb", ["http://127.0.0.1/cb"])).not.toContain(hint);
  expect(why("http://127.0.0.1:3001/cb", ["http://127.0.0.1/cb"])).toBe("");
  expect(why("https://shop.test:8443/callback")).not.toContain(hint);
});

test("an instance without a list says so", () => expect(why("https://shop.test/", [])).toContain("lists no address"));

test.each([
  ["https://shop.test/cb?token=secret&state=s", "https://shop.test/cb?token=…&state=…"],
  ["https://ana:pw@shop.test/cb", "https://…@shop.test/cb"],
  ["https://shop.test/\r\nx", "https://shop.test/\u{fffd}\u{fffd}x"],
  ["javascript:alert(1)", "javascript:alert(1)"],
  [`https://${"a".repeat(2_000)}`, `https://${"a".repeat(292)}`],
])("%p is shown as %p", (text, shown) => expect(shownRedirect(text)).toBe(shown));
