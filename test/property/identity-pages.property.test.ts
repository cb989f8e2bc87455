import { expect, test } from "bun:test";
import fc from "fast-check";
import { defaultSettings } from "../../src/identity/api/settings.ts";
import { normaliseEmail } from "../../src/identity/core/email.ts";
import { checkRedirect, withParameters } from "../../src/identity/core/redirect.ts";
import { signInPage, signUpPage } from "../../src/identity/http/pages/sign-in.ts";
import { forgotPage, messagePage, resetPage, returnPage, verifyPage } from "../../src/identity/http/pages/steps.ts";

/** Texts that try to be more than text. */
const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    "</title><script>",
    "</style><script>",
    "&lt;b&gt;",
    "${1}`",
    "<!--",
    "javascript:alert(1)",
  ),
);

const view = fc.record({
  title: hostile,
  logoUrl: hostile,
  accent: hostile,
  redirectUri: hostile,
  email: hostile,
  name: hostile,
  problem: hostile,
  value: hostile,
  provider: hostile,
  label: hostile,
});

const nonce = "n0nce";
const seal = { token: "t", at: 1 };

/** Every page, with the same texts in every place that takes one. */
function pages(
  texts: Record<
    "title" | "logoUrl" | "accent" | "redirectUri" | "email" | "name" | "problem" | "value" | "provider" | "label",
    string
  >,
) {
  const { title, logoUrl, accent, redirectUri, email, name, problem, value, provider, label } = texts;
  const face = { language: "en" as const, title, logoUrl, accent };
  const offer = { title, providers: [{ name: provider, label }], email: true, signUp: true, current: { name, email } };
  const form = { face, nonce, prefix: "/i/inst_a", seal, problem };
  return [
    signInPage({ ...form, redirectUri, offer, email }),
    signUpPage({ ...form, redirectUri, offer, email, name, lengthMin: 8 }),
    forgotPage({ ...form, redirectUri, email }),
    resetPage({ ...form, value, lengthMin: 8 }),
    verifyPage({ ...form, value, needsPassword: true }),
    messagePage({ face, nonce, heading: title, text: problem, hint: name, action: { href: redirectUri, label } }),
    returnPage({ face, nonce, to: redirectUri, fields: { [name]: value } }),
  ];
}

/** Tags of a page without what their attributes hold. */
function skeleton(html: string): string[] {
  const plain = html.replace(/"[^"]*"/g, '""').replace(/<style nonce="">[\s\S]*?<\/style>/, "<style>");
  return [...plain.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replace(/\s+/g, " "));
}

test("whatever is filled in, the structure of a page stays the same", () => {
  const harmless = pages({
    title: "T",
    logoUrl: "x",
    accent: "x",
    redirectUri: "x",
    email: "x",
    name: "x",
    problem: "x",
    value: "x",
    provider: "x",
    label: "x",
  }).map(skeleton);
  fc.assert(
    fc.property(view, (texts) => {
      fc.pre(texts.logoUrl !== "" && texts.title.trim() !== "");
      const made = pages(texts).map(skeleton);
      // Three providers have marks of their own.
      fc.pre(!["google", "github", "twitter"].includes(texts.provider));
      expect(made).toEqual(harmless);
    }),
    { numRuns: 300 },
  );
});

test("a redirect that is accepted is one of the list, and what is added cannot be mistaken for the app's", () => {
  const listed = ["https://app.example.com/cb", "http://127.0.0.1:4000/cb", "https://app.example.com/cb?tenant=7"];
  const piece = fc.constantFrom(
    "https://",
    "http://",
    "app.example.com",
    "evil.test",
    "127.0.0.1",
    ":4000",
    "/cb",
    "/",
    "\\",
    "@",
    "?",
    "&",
    "#",
    "state=1",
    "token=x",
    "%2f",
    "..",
    " ",
    "tenant=7",
    "\t",
  );
  const address = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((parts) => parts.join("")),
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc.tuple(fc.constantFrom(...listed), fc.array(piece, { maxLength: 3 })).map(([base, tail]) => base + tail.join("")),
  );
  fc.assert(
    fc.property(
      address,
      fc.constantFrom("known" as const, "any" as const, "exact" as const),
      (text, redirect_query) => {
        const result = checkRedirect(text, { ...defaultSettings, redirect_uris: listed, redirect_query });
        if (!result.ok) return;
        const url = new URL(withParameters(result.value, { token: "ours" }));
        expect(["https://app.example.com", "http://127.0.0.1"]).toContain(`${url.protocol}//${url.hostname}`);
        expect(url.pathname).toBe("/cb");
        expect(url.username + url.password + url.hash).toBe("");
        expect(url.searchParams.getAll("token")).toEqual(["ours"]);
        expect(checkRedirect(result.value, { ...defaultSettings, redirect_uris: listed, redirect_query })).toEqual(
          result,
        );
      },
    ),
    { numRuns: 2_000 },
  );
});

test("an address is normalised once and for all", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.emailAddress(),
        fc.string({ unit: "binary" }),
        fc.tuple(fc.string({ unit: "grapheme" }), fc.domain()).map(([a, b]) => `${a}@${b}`),
      ),
      (text) => {
        const email = normaliseEmail(text);
        if (email === undefined) return;
        expect(normaliseEmail(email)).toBe(email);
        expect(normaliseEmail(` ${text.toUpperCase()} `) ?? email).toBe(normaliseEmail(text.toUpperCase()) ?? email);
        expect(email).not.toMatch(/[\s<>"\\,;]/);
      },
    ),
    { numRuns: 1_000 },
  );
});
