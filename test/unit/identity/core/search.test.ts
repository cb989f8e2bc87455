import { describe, expect, test } from "bun:test";
import { bothOf, containing, isEmpty, matches, parseSearch } from "../../../../src/identity/core/search.ts";
import { searchColumns } from "../../../../src/identity/core/search-columns.ts";

const parse = (query: string) => parseSearch(query, searchColumns.users);

describe("reading a query", () => {
  test("equalities and wildcards of a field are alternatives, everything else stands alone", () => {
    expect(parse("email:a email:b* name:c created_at>2026-01-01 created_at<2026-02-01 -name:d")).toEqual({
      groups: [
        {
          field: "email",
          oneOf: [
            { is: "equal", field: "email", value: "a" },
            { is: "like", field: "email", pattern: { segments: ["b"], fromStart: true, toEnd: false } },
          ],
        },
        { field: "name", oneOf: [{ is: "equal", field: "name", value: "c" }] },
      ],
      all: [
        { is: "compared", field: "created_at", by: ">", to: Date.UTC(2026, 0, 1) },
        { is: "compared", field: "created_at", by: "<", to: Date.UTC(2026, 1, 1) },
      ],
      none: [{ is: "equal", field: "name", value: "d" }],
      ignored: [],
      tokens: 6,
    });
  });

  test("wildcards stand anywhere; what is between them keeps its order", () => {
    const patterns = (query: string) => {
      const [term] = parse(query).groups[0]?.oneOf ?? [];
      return term?.is === "like" ? term.pattern : undefined;
    };
    expect(patterns("name:*A*")).toEqual({ segments: ["a"], fromStart: false, toEnd: false });
    expect(patterns("name:*a")).toEqual({ segments: ["a"], fromStart: false, toEnd: true });
    expect(patterns("name:a*b")).toEqual({ segments: ["a", "b"], fromStart: true, toEnd: true });
    expect(patterns("name:**")).toEqual({ segments: [], fromStart: false, toEnd: false });
  });

  test("an escaped star is a star, and an escaped backslash a backslash", () => {
    const term = (query: string) => parse(query).groups[0]?.oneOf[0];
    const like = (segments: string[], fromStart: boolean, toEnd: boolean) =>
      ({ is: "like", field: "name", pattern: { segments, fromStart, toEnd } }) as const;
    const equal = (value: string) => ({ is: "equal", field: "name", value }) as const;
    expect(term(String.raw`name:5\*`)).toEqual(equal("5*"));
    expect(term(String.raw`name:*\**`)).toEqual(like(["*"], false, false));
    expect(term(String.raw`name:A\*B*`)).toEqual(like(["a*b"], true, false));
    expect(term(String.raw`name:a\\*`)).toEqual(like(["a\\"], true, false));
    expect(term(String.raw`name:a\\\*`)).toEqual(equal(String.raw`a\*`));
    for (const plain of [String.raw`dom\ana`, String.raw`end\ `.trim(), "\ud800"]) {
      expect(term(`name:${plain}`)).toEqual(equal(plain.toWellFormed()));
    }
    const found = (query: string, name: string) => matches(parse(query), (field) => (field === "name" ? name : null));
    expect(found(String.raw`name:*\**`, "five * stars")).toBe(true);
    expect(found(String.raw`name:*\**`, "five stars")).toBe(false);
    expect(found(String.raw`name:5\*`, "5 stars")).toBe(false);
  });

  test("the first operator counts, the rest is the value", () => {
    expect(parse("name:a:b>c").groups[0]?.oneOf).toEqual([{ is: "equal", field: "name", value: "a:b>c" }]);
    expect(parse("name>=a").all).toEqual([{ is: "compared", field: "name", by: ">=", to: "a" }]);
  });

  test("what means nothing is told, in the words it was written in", () => {
    const nothing = [
      "foo",
      "name",
      "name:",
      "name>=",
      ":a",
      "status:active",
      "Name:a",
      "created_at:soon",
      "created_at:2026-*",
    ];
    const more = [
      "password_hash:*",
      "secret_key:x",
      "kv:x",
      "instance:1",
      "seq>0",
      "__proto__:x",
      "constructor:x",
      "--name:a",
    ];
    const search = parse([...nothing, ...more].join("  "));
    expect(search.ignored).toEqual([...nothing, ...more]);
    expect(isEmpty(search)).toBe(true);
    expect(isEmpty(parse("   "))).toBe(true);
    expect(isEmpty(parse("-name:a"))).toBe(false);
  });
});

describe("deciding", () => {
  const ana = {
    email: "ana@shop.test",
    name: "Ana Silva",
    created_at: Date.UTC(2026, 0, 2, 12),
    email_verified_at: null,
  };
  const finds = (query: string) => matches(parse(query), (field) => ana[field as keyof typeof ana]);

  test("exact is exact, wildcards do not mind the case", () => {
    expect(["name:Ana", "name:ana silva", "name:ana*", "name:*SILVA", "name:A*a"].map(finds)).toEqual([
      ...[false, false, true, true, true],
    ]);
  });

  test("an address is found however it is written, as at a sign-in", () => {
    for (const query of ["email:ana@shop.test", "email:Ana@SHOP.test", "-email:bob@shop.test", "email>ANA"]) {
      expect(finds(query)).toBe(true);
    }
    expect(finds("-email:ANA@Shop.test")).toBe(false);
    const umlaut = (query: string) => matches(parse(query), () => "ana@xn--mnchen-3ya.de");
    const found = ["ana@münchen.de", "ANA@MÜNCHEN.DE", "ana@xn--mnchen-3ya.de", "ana@mu\u0308nchen.de"];
    const wild = ["*@münchen.de", "*MÜNCHEN*", "ana@mü*", "*xn--mnchen*", "a*ü*e", "*mu\u0308n*"];
    for (const value of [...found, ...wild]) expect([value, umlaut(`email:${value}`)]).toEqual([value, true]);
    for (const value of ["*@munchen.de", "ana@mün", "*ö*"]) expect(umlaut(`email:${value}`)).toBe(false);
    expect(matches(containing("email", "MÜNCH"), () => "ana@xn--mnchen-3ya.de")).toBe(true);
  });

  test("a day is all of it for equality, and its beginning for comparisons", () => {
    const cases = ["created_at:2026-01-02", "created_at:2026-01-01", "created_at>2026-01-02", "created_at<=2026-01-02"];
    expect(cases.map(finds)).toEqual([true, false, true, false]);
  });

  test("what has no value meets nothing, and so every negation", () => {
    expect(
      ["email_verified_at>2000-01-01", "-email_verified_at>2000-01-01", "avatar_url:*", "-avatar_url:*"].map(finds),
    ).toEqual([...[false, true, false, true]]);
  });

  test("segments do not overlap", () => {
    const finds = (name: string, query: string) => matches(parse(query), () => name);
    expect(finds("aba", "name:ab*ba")).toBe(false);
    expect(finds("abba", "name:ab*ba")).toBe(true);
    expect(finds("xax", "name:x*x*x")).toBe(false);
    expect(finds("abcab", "name:*ab")).toBe(true);
  });

  test("two searches together want both, also of the same field", () => {
    const both = bothOf(parse("email:*shop*"), containing("email", "ANA"));
    expect(matches(both, (field) => ana[field as keyof typeof ana])).toBe(true);
    expect(matches(both, () => "bo@shop.test")).toBe(false);
    expect(matches(containing("email", "a*b"), () => "xa*bx")).toBe(true);
    expect(matches(containing("email", "a*b"), () => "axb")).toBe(false);
  });

  test("texts are ordered as their bytes in UTF-8 are", () => {
    const sorted = ["", "a", "ab", "b", "é", "\uffff", "𝒜"];
    for (const [index, a] of sorted.entries()) {
      for (const b of sorted.slice(index + 1))
        expect([a, b, matches(parse(`name>${a || "\u0001"}`), () => b)]).toEqual([a, b, true]);
    }
  });
});
