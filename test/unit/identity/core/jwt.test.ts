import { expect, test } from "bun:test";
import { decodePart, encodePart, equalTexts, headerFits, splitToken } from "../../../../src/identity/core/jwt.ts";

test("a token has three parts, none but the last empty", () => {
  expect(splitToken("a.b.c")).toEqual({ input: "a.b", header: "a", payload: "b", signature: "c" });
  expect(splitToken("aa.bb.")).toEqual({ input: "aa.bb", header: "aa", payload: "bb", signature: "" });
  for (const text of ["", ".", "a", "a.b", "a.b.c.d", ".b.c", "a..c", "..", "..."]) {
    expect([text, splitToken(text)]).toEqual([text, undefined]);
  }
});

test("a part is a JSON object as base64url", () => {
  expect(decodePart(encodePart({ name: "Zoë 🎉", n: 1 }))).toEqual({ name: "Zoë 🎉", n: 1 });
  for (const text of ["null", "[]", "7", '"x"', "{", ""]) {
    expect(decodePart(Buffer.from(text).toString("base64url"))).toBeUndefined();
  }
});

test.each(["Zoë 東京", "🎉 \u2028 \0 \x7f \x80 \uffff", "\ud800", 'a"\\u00eb'])(
  "a browser reads %j with atob alone",
  (name) => {
    const part = encodePart({ name });
    const text = atob(part.replaceAll("-", "+").replaceAll("_", "/"));
    expect(text).toMatch(/^[\0-\x7f]*$/);
    expect(JSON.parse(text)).toEqual({ name });
    expect(decodePart(part)).toEqual({ name });
  },
);

test("a header fits by exactly its algorithm, and misleads by none of its other fields", () => {
  expect(headerFits({ alg: "HS256" }, "HS256")).toBe(true);
  expect(headerFits({ alg: "HS256", typ: "JWT", kid: "k" }, "HS256")).toBe(true);
  expect(headerFits({ alg: "RS256" }, "RS256")).toBe(true);
  for (const header of [{}, { alg: "none" }, { alg: "RS256" }, { alg: ["HS256"] }, { alg: "hs256" }]) {
    expect(headerFits(header, "HS256")).toBe(false);
  }
  for (const name of ["crit", "jku", "jwk", "x5u", "x5c", "b64"]) {
    expect([name, headerFits({ alg: "HS256", [name]: undefined }, "HS256")]).toEqual([name, false]);
  }
});

test("texts are equal letter by letter", () => {
  expect(equalTexts("", "")).toBe(true);
  expect(equalTexts("abc", "abc")).toBe(true);
  for (const other of ["", "ab", "abcd", "abd", "Abc"])
    expect([other, equalTexts("abc", other)]).toEqual([other, false]);
});
