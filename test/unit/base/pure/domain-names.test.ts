import { describe, expect, test } from "bun:test";
import { domainToUnicode } from "node:url";
import { asciiDomain, readableEmail } from "../../../../src/base/pure/domain-names.ts";

describe("the one form of a domain", () => {
  test.each([
    ["Example.COM", "example.com"],
    ["münchen.de", "xn--mnchen-3ya.de"],
    ["MÜNCHEN.DE", "xn--mnchen-3ya.de"],
    ["mu\u0308nchen.de", "xn--mnchen-3ya.de"],
    ["XN--MNCHEN-3YA.de", "xn--mnchen-3ya.de"],
    ["straße.de", "xn--strae-oqa.de"],
    ["ΣΊΓΜΑ.gr", "xn--kxaef0b6a.gr"],
    ["σίγμα.gr", "xn--kxaef0b6a.gr"],
    ["例え.テスト", "xn--r8jz45g.xn--zckzah"],
    ["例え。テスト", "xn--r8jz45g.xn--zckzah"],
    ["почта.рф", "xn--80a1acny.xn--p1ai"],
    ["ｅｘａｍｐｌｅ.com", "example.com"],
    ["１.２", "1.2"],
    ["1.2", "1.2"],
    ["xn--a.de", "xn--a.de"],
    ["localhost", "localhost"],
  ])("%s is %s", (text, domain) => {
    expect(asciiDomain(text)).toBe(domain);
    expect(asciiDomain(domain)).toBe(domain);
  });

  test.each([
    "",
    ".",
    "a..b",
    "-a.de",
    "a-.de",
    "münchen-.de",
    "mün chen.de",
    "mün/chen.de",
    "mün:80.de",
    "ü%41.de",
    "mün@x.de",
    "a_b.de",
    "ü".repeat(63) + ".de",
    "a\u200db.de",
    "אa.de",
  ])("%s is none", (text) => {
    expect(asciiDomain(text)).toBeUndefined();
  });
});

describe("a domain as people read it", () => {
  const readable = [
    "münchen.de",
    "straße.de",
    "例え.テスト",
    "почта.рф",
    "ρέδιο.gr",
    "한국.kr",
    "ag日本.jp",
    "مثال.إختبار",
    "भारत.in",
  ];
  test.each(readable)("%s", (text) => {
    const domain = asciiDomain(text) ?? "";
    expect(domain).toContain("xn--");
    expect(readableEmail(`a@${domain}`)).toBe(`a@${text}`);
    expect(domainToUnicode(domain)).toBe(text);
  });

  test.each(["аpple.com", "аррӏе.com", "googlе.com", "gοοgle.com"])(
    "%s stays as it is stored: it looks like another one",
    (text) => {
      const domain = asciiDomain(text) ?? "";
      expect(domain).toContain("xn--");
      expect(readableEmail(`a@${domain}`)).toBe(`a@${domain}`);
    },
  );

  test.each(["example.com", "xn--a.de", "xn--.de", "xn--99999999999.de", "xn--mnchen-3y!.de", "xn--ls8h.la"])(
    "%s stays",
    (domain) => {
      expect(readableEmail(`a@${domain}`)).toBe(`a@${domain}`);
    },
  );
});
