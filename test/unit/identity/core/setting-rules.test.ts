import { expect, test } from "bun:test";
import { changedSettings, redirectUriProblem } from "../../../../src/identity/core/setting-rules.ts";

test("a change keeps what it leaves out, and null goes back to the default", () => {
  const present = { jwt_issuer: "shop", max_concurrent_sessions: 2 };
  expect(changedSettings(present, { max_concurrent_sessions: null, language: "de" })).toEqual({
    settings: { jwt_issuer: "shop", language: "de" },
    problems: [],
  });
});

test.each([
  [{ jwt_isuer: "x" }, "jwt_isuer", 'did you mean "jwt_issuer"'],
  [{ jwt_isuer: null }, "jwt_isuer", "unknown field"],
  [{ jwt_issuer: "a b" }, "jwt_issuer", "without blanks"],
  [{ language: "fr" }, "language", "expected"],
  [{ min_password_length: 4 }, "min_password_length", "at least 8"],
  [{ redirect_uris: ["https://ok.test/", "http://shop.test/"] }, "redirect_uris[1]", "must be https"],
  [{ logo_url: "http://x.test/l.png" }, "logo_url", "https"],
  [{ accent: "red; background: url(x)" }, "accent", "colour"],
  [{ title: "a\u0000b" }, "title", "print"],
  [{ placeholder_domain: "Users.Invalid" }, "placeholder_domain", "lower case"],
  [{ placeholder_domain: "gmail.com" }, "placeholder_domain", "mailboxes of real people"],
  [{ placeholder_domain: "x.outlook.com" }, "placeholder_domain", "mailboxes of real people"],
  [{ redirect_uris: ["https://shop.com/*"] }, "redirect_uris[0]", "no wildcard"],
  [{ session_id_prefix: "a b" }, "session_id_prefix", "letters"],
  [{ secret_key_headers: ["Authorization"] }, "secret_key_headers", "meaning of its own"],
  [{ secret_key_headers: ["X-Forwarded-For"] }, "secret_key_headers", "meaning of its own"],
  [{ secret_key_headers: ["a b"] }, "secret_key_headers", "not a header name"],
])("%j is refused and stays out", (change, path, text) => {
  const { settings, problems } = changedSettings({}, change);
  expect(problems).toContainEqual(expect.objectContaining({ path, message: expect.stringContaining(text) }));
  if (problems[0]?.message.includes("unknown")) expect(settings).toEqual({});
});

test("what an earlier version has taken stands until it is changed", () => {
  const old = { placeholder_domain: "gmail.com", redirect_uris: ["https://shop.com/*"] };
  expect(changedSettings(old, { title: "Shop" })).toEqual({ settings: { ...old, title: "Shop" }, problems: [] });
  expect(changedSettings(old, { placeholder_domain: "outlook.com" }).problems).toHaveLength(1);
});

test.each([
  "https://app.test/callback",
  "https://app.test/callback?tenant=1",
  "http://localhost:3000/callback",
  "http://127.0.0.1:9/x",
  "http://[::1]:3000/",
])("browsers may be sent to %s", (uri) => expect(redirectUriProblem(uri)).toBeUndefined());

test.each([
  "",
  "/callback",
  "javascript:alert(1)",
  "custom://app/cb",
  "http://app.test/",
  "http://127.0.0.1.evil.test/",
  "http://localhost.evil.test/",
  "https://user:pw@app.test/",
  "https://@app.test/",
  "https://app.test\\@evil.test/",
  "https://app.test/#x",
  "https://*.app.test/",
  "https://app.test/*",
  "https://app.test/?x=*",
  "https://app.test/a b",
  "https://app.test/\n",
  "https:app.test/cb",
  `https://app.test/${"a".repeat(2_048)}`,
])("%p is no redirect address", (uri) => expect(redirectUriProblem(uri)).toBeString());
