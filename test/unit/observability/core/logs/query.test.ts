import { describe, expect, test } from "bun:test";
import type { FoundLine } from "../../../../../src/observability/core/logs/line.ts";
import { compileQuery, lineFits } from "../../../../../src/observability/core/logs/query.ts";
import { quotedPhrase } from "../../../../../src/observability/api/log-phrase.ts";
import { termsOf } from "../../../../../src/observability/core/logs/query-words.ts";
import { literalOf, regexCharacters, regexFault } from "../../../../../src/observability/core/logs/regex.ts";
import { readCursor } from "../../../../../src/observability/core/logs/cursor.ts";

const line: FoundLine = {
  app: { scope: "shop", name: "web" },
  at: 1_000,
  source: { id: "c", pod: "shop-web.ab12c", replica: "ab12c", release: "r2", role: "" },
  stream: "stdout",
  level: "error",
  text: '{"msg":"Payment failed","status":502,"user":{"name":"ann"}}',
};
const fits = (text: string) => lineFits(compileQuery({ text, apps: [] }), line);

describe("a query", () => {
  const holding = [
    "payment",
    "Payment",
    '"payment failed"',
    "/fail(ed)?/",
    "/PAYMENT/i",
    "status=502",
    "status>=500",
    "status<600",
    "user.name=ann",
    "user.name!=bob",
    "-missing",
    "-user.name=bob",
    "level>=warn",
    "level=error",
    "-level=info",
    "app=shop",
    "app=shop/web",
    "replica=ab12c",
    "release=r2",
    "stream=stdout",
    "pod=shop-web.ab12c",
    "payment status=502 -bob",
    "  ",
    "app!=blog",
    ".level!=x",
  ];
  for (const text of holding) test(`${text} holds`, () => expect(fits(text)).toBe(true));
  const failing = [
    "PAYMENT",
    "refund",
    "-payment",
    "status=500",
    "status>502",
    "user.name=bob",
    "level=info",
    "level>error",
    "app=blog",
    "-app=shop",
    "release!=r2",
    "stream=stderr",
    "missing=1",
    "msg>1",
  ];
  for (const text of failing) test(`${text} does not hold`, () => expect(fits(text)).toBe(false));

  const wrong: [string, string][] = [
    ["level=loud", 'unknown level "loud"'],
    ["stream=out", 'unknown stream "out"'],
    ["status>many", '"many" is not a number'],
    ["/(a+)+$/", "repeats a group"],
    ["/(/", "is not a regular expression"],
    ["replica>3", "compares nothing"],
    [Array.from({ length: 30 }, () => "x").join(" "), "more than 20 terms"],
  ];
  for (const [text, fault] of wrong)
    test(`${text.slice(0, 20)} is refused`, () => expect(() => compileQuery({ text, apps: [] })).toThrow(fault));

  test("times, apps and what a token may reach", () => {
    expect(lineFits(compileQuery({ apps: [], from: 1_000, until: 1_001 }), line)).toBe(true);
    expect(lineFits(compileQuery({ apps: [], until: 1_000 }), line)).toBe(false);
    expect(lineFits(compileQuery({ apps: ["shop/api", "shop/web"] }), line)).toBe(true);
    expect(lineFits(compileQuery({ apps: [], mayReach: () => false }), line)).toBe(false);
    expect(lineFits(compileQuery({ apps: [], level: "fatal" }), line)).toBe(false);
  });

  test("a text becomes one phrase, whatever is in it", () => {
    const text = String.raw`a "b" \c -d level=x`;
    expect(termsOf(quotedPhrase(text))).toEqual([{ kind: "text", text, negated: false }]);
  });
});

describe("an expression", () => {
  const refused = [
    "(a+)+",
    "(a|b)*",
    "(x?y)+",
    String.raw`(a)\1`,
    "(?=a)",
    "[^](a+)+]",
    "[](a+)+]",
    `${"a?".repeat(30)}b`,
    `${"(a|a)".repeat(30)}b`,
    "a*b*c*d*e*f*g*",
    "a*a*a*[bc]",
    ".*x.*y.*z",
    `(${"a|".repeat(38)}a)`.repeat(6),
    "x".repeat(501),
  ];
  for (const source of refused)
    test(`/${source.slice(0, 20)}/ is refused`, () => expect(regexFault(source)).toBeDefined());
  const fine = [
    "abc",
    "a+b",
    "(abc)+",
    "[a-z]+-[0-9]{2,}",
    String.raw`\d+\.\d+`,
    "^x$",
    "(a|b)c",
    "(?:GET|PUT) https?://[a-z]+?/",
  ];
  for (const source of fine) test(`/${source}/ is fine`, () => expect(regexFault(source)).toBeUndefined());

  test("what it looks at of a line depends on how many places its repeats can end in", () => {
    const characters = (source: string) => regexCharacters(source) ?? 0;
    for (const source of ["a+b", ".*x", String.raw`\d+\.\d+ ms`, "[a-z]+=[0-9]+ x"])
      expect(characters(source)).toBe(4_096);
    const slow = [
      ".*x.*y",
      "a*a*[bc]",
      String.raw`.*\d+x`,
      "[ê]*[ê]*x",
      String.raw`\x61*\x61*x`,
      "(a*)(a*)b",
      "a{1,99}a*?b",
    ];
    for (const source of slow) expect(characters(source)).toBeWithin(256, 1_000);
  });

  test("its literal part is known", () => {
    expect(literalOf("timeout after [0-9]+")).toBe("timeout after ");
    expect(literalOf("colou?r off")).toBe("r off");
    expect(literalOf(String.raw`user\.id=\d+`)).toBe("user.id=");
    expect(literalOf("a|b")).toBe("");
  });
});

test("a cursor that was changed is refused", () => {
  expect(readCursor("17.2")).toEqual({ at: 17, skip: 2 });
  expect(() => readCursor("x")).toThrow('"x" is not a cursor');
});
