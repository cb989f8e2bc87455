import { expect, test } from "bun:test";
import { defaultSettings } from "../../../../src/identity/api/settings.ts";
import { checkRedirect, type RedirectRules, withParameters } from "../../../../src/identity/core/redirect.ts";

const rules = (fields: Partial<RedirectRules> = {}): RedirectRules => ({
  ...defaultSettings,
  redirect_uris: [
    "https://app.example.com/auth/callback",
    "http://localhost:3000/callback",
    "http://127.0.0.1:4000/cb",
  ],
  ...fields,
});

const accepted = (text: string, fields: Partial<RedirectRules> = {}) => {
  const result = checkRedirect(text, rules(fields));
  return result.ok ? result.value : undefined;
};

/** Each would send the browser, and the token, somewhere that nobody has listed. */
const attacks = [
  "",
  " https://app.example.com/auth/callback",
  "https://app.example.com/auth/callback ",
  "https://app.example.com/auth/callback\n",
  "https://app.example.com/auth/callback\t",
  "\u0000https://app.example.com/auth/callback",
  "https://app.example.com/auth/callback%0d%0aSet-Cookie:a=b",
  "//app.example.com/auth/callback",
  "///app.example.com/auth/callback",
  "/auth/callback",
  "auth/callback",
  "app.example.com/auth/callback",
  "https:app.example.com/auth/callback",
  "https:/app.example.com/auth/callback",
  "https:///app.example.com/auth/callback",
  "https:\\\\app.example.com\\auth\\callback",
  "https://app.example.com\\@evil.example/auth/callback",
  "https://evil.example\\app.example.com/auth/callback",
  "https://evil.example/auth/callback",
  "https://evil.example/?https://app.example.com/auth/callback",
  "https://evil.example/https://app.example.com/auth/callback",
  "https://evil.example#https://app.example.com/auth/callback",
  "https://app.example.com.evil.example/auth/callback",
  "https://app.example.comevil.example/auth/callback",
  "https://evilapp.example.com/auth/callback",
  "https://sub.app.example.com/auth/callback",
  "https://example.com/auth/callback",
  "https://app.example.com./auth/callback",
  "https://app.example.com:444/auth/callback",
  "https://app.example.com:80/auth/callback",
  "http://app.example.com/auth/callback",
  "http://app.example.com:443/auth/callback",
  "https://app.example.com@evil.example/auth/callback",
  "https://app.example.com:pw@evil.example/auth/callback",
  "https://user@app.example.com/auth/callback",
  "https://user:pw@app.example.com/auth/callback",
  "https://@app.example.com/auth/callback",
  "https://app.example.com%40evil.example/auth/callback",
  "https://app.example.com%2f@evil.example/auth/callback",
  "https://app.example.com%00.evil.example/auth/callback",
  "https://app.example.com/",
  "https://app.example.com",
  "https://app.example.com/auth/callback/",
  "https://app.example.com/auth/callback/more",
  "https://app.example.com/auth/callback/../../evil",
  "https://app.example.com/auth/callback/%2e%2e/evil",
  "https://app.example.com/auth/callback;a=b",
  "https://app.example.com/auth/callback%2f",
  "https://app.example.com/auth/callback%3fx=y",
  "https://app.example.com/Auth/callback",
  "https://app.example.com//auth/callback",
  "https://app.example.com/auth//callback",
  "https://app.example.com/auth%2fcallback",
  "https://app.example.com/auth/callback#",
  "https://app.example.com/auth/callback#token=x",
  "https://app.example.com/auth/callback?next=https://evil.example",
  "https://app.example.com/auth/callback?state=1&redirect=https://evil.example",
  "https://app.example.com/auth/callback?State=1",
  "https://app.example.com/auth/callback?state[]=1",
  "javascript:alert(1)",
  "javascript://app.example.com/auth/callback%0aalert(1)",
  "data:text/html,<script>alert(1)</script>",
  "vbscript:x",
  "file:///etc/passwd",
  "ftp://app.example.com/auth/callback",
  "ws://app.example.com/auth/callback",
  "blob:https://app.example.com/auth/callback",
  "com.example.app://callback",
  "intent://app.example.com/#Intent;scheme=https;end",
  "https://аpp.example.com/auth/callback",
  "https://app。evil.example/auth/callback",
  "https://[::ffff:127.0.0.1]/auth/callback",
  "https://127.1/auth/callback",
  "http://localhost:3001/callback",
  "http://localhost/callback",
  "http://localhost.evil.example:3000/callback",
  "http://127.0.0.2:4000/cb",
  "http://[::1]:4000/cb",
  "http://0.0.0.0:3000/callback",
  "https://localhost:3000/callback",
  "https://127.0.0.1:4000/cb",
  `https://app.example.com/auth/callback?state=${"a".repeat(2_100)}`,
];

for (const attack of attacks) {
  test(`refused: ${JSON.stringify(attack.slice(0, 80))}`, () => expect(accepted(attack)).toBeUndefined());
}

test("there are enough of them", () => expect(attacks.length).toBeGreaterThanOrEqual(60));

test("a listed address is fine, with the query that apps need, as it was written", () => {
  for (const fine of [
    "https://app.example.com/auth/callback",
    "https://app.example.com/auth/callback?state=a%20b+c&return_to=%2Forders%3Fpage%3D2",
    "http://localhost:3000/callback?state=1",
    "http://127.0.0.1:4000/cb",
  ]) {
    expect(accepted(fine)).toBe(fine);
  }
});

test("case and default port of the host do not matter", () => {
  const expected = "https://app.example.com/auth/callback";
  expect(accepted("HTTPS://APP.example.com:443/auth/callback")).toBe(expected);
});

test("a listed loopback address takes any port, a name does not", () => {
  expect(accepted("http://127.0.0.1:51234/cb")).toBe("http://127.0.0.1:51234/cb");
  expect(accepted("http://127.0.0.1:51234/other")).toBeUndefined();
});

test("nobody brings a token, an error or a code along", () => {
  const base = "https://app.example.com/auth/callback";
  for (const key of ["token", "error", "%74oken", "token[]", "token%5B0%5D", "Token", "to%6ben"]) {
    expect(accepted(`${base}?state=1&${key}=stolen`)).toBe(`${base}?state=1`);
    expect(accepted(`${base}?${key}=stolen`)).toBe(base);
  }
  expect(accepted(`${base}?code=1`)).toBeUndefined();
  expect(accepted(`${base}?code=1`, { redirect_query: "any" })).toBe(`${base}?code=1`);
  expect(accepted(`${base}?code=1`, { redirect_query: "any", delivery: "code" })).toBe(base);
});

test("nor where semicolons part pairs, or a NUL ends a name", () => {
  const base = "https://app.example.com/auth/callback";
  for (const pair of ["state=1;token=x", "state=1;error=x;Token=y", "token%00=x&state=1"]) {
    expect([pair, accepted(`${base}?${pair}`)]).toEqual([pair, `${base}?state=1`]);
  }
  expect(accepted(`${base}?state=a;b`)).toBe(`${base}?state=a;b`);
});

test("letters that no header can hold are written as browsers do", () => {
  const base = "https://app.example.com/auth/callback";
  expect(accepted(`${base}?return_to=/日本&state=ü`)).toBe(`${base}?return_to=/%E6%97%A5%E6%9C%AC&state=%C3%BC`);
  expect(accepted(`${base}?state=\ud800`)).toBe(`${base}?state=%EF%BF%BD`);
  expect(accepted(`${base}?state=to\u200bken`)).toBe(`${base}?state=to%E2%80%8Bken`);
});

test("how much of the query must be listed is a setting", () => {
  const listed = { redirect_uris: ["https://app.example.com/cb?tenant=7"] };
  const base = "https://app.example.com/cb";
  expect(accepted(base, listed)).toBeUndefined();
  expect(accepted(`${base}?tenant=8`, listed)).toBeUndefined();
  expect(accepted(`${base}?state=1&tenant=7`, listed)).toBe(`${base}?state=1&tenant=7`);
  expect(accepted(`${base}?tenant=7&tenant=8`, listed)).toBeUndefined();
  expect(accepted(`${base}?tenant=7&state=1`, { ...listed, redirect_query: "exact" })).toBeUndefined();
  expect(accepted(`${base}?tenant=7`, { ...listed, redirect_query: "exact" })).toBe(`${base}?tenant=7`);
  expect(accepted(`${base}?x=1`, { ...listed, redirect_query: "any" })).toBe(`${base}?x=1`);
});

test("entries that could not be redirected to are no entries", () => {
  for (const entry of [
    "https://user@app.example.com/cb",
    "http://app.example.com/cb",
    "https://app.example.com/cb#x",
  ]) {
    expect(accepted("https://app.example.com/cb", { redirect_uris: [entry] })).toBeUndefined();
  }
  expect(accepted("https://app.example.com/cb", { redirect_uris: [] })).toBeUndefined();
});

test("parameters go to the end of the query", () => {
  expect(withParameters("https://a.test/cb", { token: "a.b" })).toBe("https://a.test/cb?token=a.b");
  expect(withParameters("https://a.test/cb?state=1", { token: "x" })).toBe("https://a.test/cb?state=1&token=x");
  expect(withParameters("https://a.test/cb?", { token: "x" })).toBe("https://a.test/cb?token=x");
  expect(withParameters("https://a.test/cb?a=1?", { token: "x" })).toBe("https://a.test/cb?a=1?&token=x");
  expect(withParameters("https://a.test/cb", { error: "a b&c" })).toBe("https://a.test/cb?error=a+b%26c");
});
