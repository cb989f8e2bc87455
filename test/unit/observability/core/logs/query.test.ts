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

describe("a line is searched as it reads", () => {
  const holds = (query: string, text: string) => lineFits(compileQuery({ text: query, apps: [] }), { ...line, text });
  const found: [string, string][] = [
    ["ошибка", "ОШИБКА: нет места"],
    ["éclair", "ÉCLAIR"],
    ["σίσυφος", "ΣΊΣΥΦΟΣ"],
    ["strasse", "Hauptstraße 7"],
    ["straße", "HAUPTSTRASSE 7"],
    ["istanbul", "İSTANBUL"],
    ["ılık", "ILIK"],
    ["café", "cafe\u0301"],
    ["cafe\u0301", "Café"],
    ["café", String.raw`{"msg":"caf\u00e9"}`],
    ["Café", String.raw`{"msg":"Caf\u00E9"}`],
    ["🚀", String.raw`{"msg":"\ud83d\ude80"}`],
    ["/api/users", String.raw`{"path":"\/api\/users"}`],
    [String.raw`"say \"hi\""`, String.raw`{"msg":"say \"hi\""}`],
    [String.raw`C:\temp`, String.raw`{"path":"C:\\temp"}`],
    [String.raw`caf\u00e9`, String.raw`{"msg":"caf\u00e9"}`],
    ['"first second"', String.raw`{"msg":"first\nsecond"}`],
    ["/caf. closed/", String.raw`{"msg":"caf\u00e9 closed"}`],
    [String.raw`/\p{Lu}\p{Ll}+:/`, "Ошибка: нет"],
    [String.raw`/^[\p{L} ]+$/`, "нет места"],
    [String.raw`/\x74imeout/`, "timeout"],
    [String.raw`/\u{1f680} go/`, "🚀 go"],
    ["/[🚀🎉] go/", "🎉 go"],
    ["/ОШИБ/i", "ошибка"],
    ["-ОШИБКА", "ошибка"],
    ["msg=café", String.raw`{"msg":"caf\u00e9"}`],
  ];
  for (const [query, text] of found) test(`${query} is in ${text}`, () => expect(holds(query, text)).toBe(true));
  const missed: [string, string][] = [
    ["Ошибка", "ошибка"],
    ["É", "é"],
    ["cafe", "café"],
    ["-café", String.raw`{"msg":"caf\u00e9"}`],
    ["-ошибка", "ОШИБКА"],
    ["u00e9", String.raw`{"msg":"caf\u00e9"}`],
  ];
  for (const [query, text] of missed) test(`${query} is not in ${text}`, () => expect(holds(query, text)).toBe(false));

  test("whole numbers are compared with all their digits", () => {
    const text = '{"id":9007199254740993,"inner":{"ids":[9007199254740993]},"small":5.0}';
    expect(holds("id=9007199254740993", text)).toBe(true);
    expect(holds("id=9007199254740992", text)).toBe(false);
    expect(holds("id!=9007199254740992", text)).toBe(true);
    expect(holds("id>9007199254740992", text)).toBe(true);
    expect(holds("id<=9007199254740992", text)).toBe(false);
    expect(holds("id>=9007199254740993", "id=9007199254740993")).toBe(true);
    expect(holds('inner.ids="[9007199254740993]"', text)).toBe(true);
    expect(holds("id.rawJSON=9007199254740993", text)).toBe(false);
    expect(holds("small=5", text)).toBe(true);
    expect(holds("small>4.5", text)).toBe(true);
  });

  test("an unknown class of Unicode is refused", () => {
    expect(() => compileQuery({ apps: [], text: String.raw`/\p{Loud}+/` })).toThrow("is not a regular expression");
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
    expect(literalOf(String.raw`\x74imeout \u00e9t\p{Lu}`)).toBe("imeout ");
  });
});

test("a cursor that was changed is refused", () => {
  expect(readCursor("17.2")).toEqual({ at: 17, skip: 2 });
  expect(() => readCursor("x")).toThrow('"x" is not a cursor');
});
