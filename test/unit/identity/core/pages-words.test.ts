import { describe, expect, test } from "bun:test";
import { accentOf } from "../../../../src/identity/core/accent.ts";
import { cookieName, cookieText, readCookie } from "../../../../src/identity/core/cookies.ts";
import { knownEndpoints, shownError } from "../../../../src/identity/core/endpoints.ts";
import { chooseLanguage } from "../../../../src/identity/core/languages.ts";
import { mailText } from "../../../../src/identity/core/mail-text.ts";
import { german } from "../../../../src/identity/core/messages-de.ts";
import { english } from "../../../../src/identity/core/messages-en.ts";
import { sayIn } from "../../../../src/identity/core/messages.ts";
import { passwordProblem } from "../../../../src/identity/core/password-rules.ts";

describe("languages", () => {
  const cases: [string, string | null, string][] = [
    ["auto", null, "en"],
    ["auto", "de", "de"],
    ["auto", "de-CH, en;q=0.9", "de"],
    ["auto", "en;q=0.2, de;q=0.8", "de"],
    ["auto", "de;q=0, en", "en"],
    ["auto", "deX, *", "en"],
    ["auto", "fr,".repeat(500), "en"],
    ["auto", "de;q=abc", "en"],
    ["de", "en", "de"],
    ["xx", "de", "de"],
  ];
  for (const [setting, header, expected] of cases) {
    test(`${setting} and ${String(header).slice(0, 30)}: ${expected}`, () =>
      expect(chooseLanguage(setting, header)).toBe(expected as "en"));
  }
  test("every text has the same gaps in both", () => {
    const gaps = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
    for (const [key, text] of Object.entries(english))
      expect([key, gaps(german[key as keyof typeof english])]).toEqual([key, gaps(text)]);
  });
  test("what fills a gap is not looked at for gaps", () => {
    expect(sayIn("en")("continue_as", { name: "{name} {count}" })).toBe("Continue as {name} {count}");
  });
});

describe("cookies", () => {
  const value = "a".repeat(43);
  test("of this host alone over https", () => {
    expect(cookieName("flow", "inst_a", true)).toBe("__Host-id_flow_inst_a");
    expect(cookieText({ name: "n", value, maxAgeMs: 600_000, secure: true })).toBe(
      `n=${value}; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure`,
    );
    expect(cookieText({ name: "n", value: "", maxAgeMs: 600_000, secure: false })).toBe(
      "n=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax",
    );
  });
  test("only values that could have been made here are read", () => {
    expect(readCookie(`x=1; n=${value} ; y=2`, "n")).toBe(value);
    expect(readCookie(`n=${value}.${value}`, "n")).toBe(`${value}.${value}`);
    for (const odd of [null, "", "n", "n=", "n=short", `n=${value}x`, `n=${value}.`, `nn=${value}`, `n="${value}"`]) {
      expect(readCookie(odd, "n")).toBeUndefined();
    }
  });
});

describe("colours", () => {
  test("what stands on them can be read", () => {
    const luminance = (hex: string) => {
      const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
        const c = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (a: string, b: string) => {
      const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
      return (high + 0.05) / (low + 0.05);
    };
    for (let step = 0; step < 512; step++) {
      const hex = `#${((step * 0x8765_21) & 0xff_ff_ff).toString(16).padStart(6, "0")}`;
      const { background, text } = accentOf(hex);
      expect([hex, ratio(background, text) >= 4]).toEqual([hex, true]);
    }
  });
  test("what is no colour is replaced", () => {
    for (const odd of ["", "red", "#fff", "#2f6fed;}", "url(x)"]) expect(accentOf(odd).background).toBe("#2f5fd0");
  });
});

describe("mails", () => {
  const mail = (title: string) =>
    mailText({ purpose: "verify_email", language: "en", title, link: "https://id.test/verify?token=x&a=b" });
  test("plain and HTML hold the link", () => {
    const { text, html } = mail("Shop");
    expect(text).toContain("\nhttps://id.test/verify?token=x&a=b\n");
    expect(html).toContain('href="https://id.test/verify?token=x&amp;a=b"');
  });
  test("a title cannot become a header or markup", () => {
    const { subject, html } = mail("Shop\r\nBcc: x@evil.test <b>");
    expect(subject).not.toMatch(/[\r\n]/);
    expect(html).toContain("&lt;b&gt;");
  });
});

test("new passwords: length counts", () => {
  const problem = (password: string) =>
    passwordProblem({ password, email: "ana@example.com", lengthMin: 8, bytesMax: 1_024 });
  expect(problem("1234567")).toBe("password_short");
  expect(problem("84720163")).toBeUndefined();
  expect(problem("12345678")).toBe("password_common");
  expect(problem("😀".repeat(7))).toBe("password_short");
  const twoBytesEach = Array.from({ length: 512 }, (_, at) => String.fromCharCode(0xc0 + ((at * 37) % 300))).join("");
  expect(problem(twoBytesEach)).toBeUndefined();
  expect(problem("ä".repeat(513))).toBe("password_long");
  expect(problem(" Ana@Example.com ")).toBe("password_email");
});

test("errors of providers: only codes of the standards", () => {
  expect(shownError("access_denied")).toBe("access_denied");
  for (const odd of [undefined, "", "<script>", "redirect_uri_mismatch", "constructor"])
    expect(shownError(odd)).toBe("server_error");
});

test("endpoints: an override of one's own leaves google's issuer aside", () => {
  expect(knownEndpoints("google", {})).toMatchObject({ issuer: "https://accounts.google.com", auth: "body" });
  expect(knownEndpoints("google", { token_url: "https://x.test/t" })).toMatchObject({
    issuer: undefined,
    jwks: undefined,
    token: "https://x.test/t",
  });
  expect(knownEndpoints("github", { userinfo_url: "https://ghe.test/api/v3/user" }).emails).toBe(
    "https://ghe.test/api/v3/user/emails",
  );
  expect(knownEndpoints("twitter", {}).auth).toBe("basic");
});
