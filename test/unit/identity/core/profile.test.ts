import { describe, expect, test } from "bun:test";
import { type ProfileInput, readProfile } from "../../../../src/identity/core/profile.ts";

const read = (input: ProfileInput) => {
  const result = readProfile(input);
  return result.ok ? result.value : result.error;
};

describe("google", () => {
  const google = (fields: object) => read({ kind: "google", userinfo: { sub: "1", ...fields } });
  test("name, picture and address", () => {
    const fields = { email: " Ana@Example.COM ", email_verified: true, name: "Ana", picture: "https://x.test/a.png" };
    expect(google(fields)).toEqual({
      uid: "1",
      handle: "1",
      email: "ana@example.com",
      emailVerified: true,
      authoritative: false,
      name: "Ana",
      avatarUrl: "https://x.test/a.png",
    });
  });
  test("it hosts gmail.com, and domains that hd names", () => {
    const authoritative = (fields: object) =>
      (google({ email_verified: true, ...fields }) as { authoritative: boolean }).authoritative;
    expect(authoritative({ email: "a@gmail.com" })).toBe(true);
    expect(authoritative({ email: "a@corp.io", hd: "Corp.io" })).toBe(true);
    expect(authoritative({ email: "a@corp.io", hd: "other.io" })).toBe(false);
    expect(authoritative({ email: "a@evil-gmail.com" })).toBe(false);
  });
  test("verified is a boolean or its text, nothing else; left out, it is so by contract", () => {
    const verified = (value: unknown) =>
      (google({ email: "a@b.io", email_verified: value }) as { emailVerified: boolean }).emailVerified;
    expect([true, "true", 1, "yes", false, undefined].map(verified)).toEqual([true, true, false, false, false, true]);
  });
});

describe("github", () => {
  const github = (emails: unknown, fields: object = {}) =>
    read({ kind: "github", userinfo: { id: 583231, login: "octo", ...fields }, emails });
  test("only an address that is primary and verified", () => {
    const email = (emails: unknown) => (github(emails) as { email: unknown }).email;
    expect(
      email([
        { email: "b@x.io", primary: false, verified: true },
        { email: "a@x.io", primary: true, verified: true },
      ]),
    ).toBe("a@x.io");
    expect(email([{ email: "a@x.io", primary: true, verified: false }])).toBeUndefined();
    expect(email([{ email: "a@x.io", primary: "true", verified: "true" }])).toBeUndefined();
    for (const odd of [undefined, null, {}, "x", [null, 1, "x", []]]) expect(email(odd)).toBeUndefined();
  });
  test("the number is the id; the login stands in for a missing name", () => {
    expect(github([])).toMatchObject({ uid: "583231", name: "octo" });
    expect(github([], { name: "Octo Cat" })).toMatchObject({ name: "Octo Cat" });
  });
});

test("twitter has no address", () => {
  const data = { id: "42", username: "ana", name: "", email: "a@x.io" };
  expect(read({ kind: "twitter", userinfo: { data } })).toMatchObject({
    uid: "42",
    name: "ana",
    email: undefined,
    emailVerified: false,
  });
  expect(read({ kind: "twitter", userinfo: { id: "42" } })).toBe("the profile has no data");
});

describe("oidc", () => {
  const oidc = (input: Partial<ProfileInput>) =>
    read({
      kind: "oidc",
      userinfo: { sub: "7", email: "a@x.io", email_verified: true },
      issuer: "https://i.test",
      ...input,
    });
  test("another issuer is another world", () => {
    expect(oidc({})).toMatchObject({ uid: "https://i.test|7", handle: "7" });
  });
  test("its word about addresses counts only when it is trusted", () => {
    expect(oidc({})).toMatchObject({ emailVerified: false, authoritative: false });
    expect(oidc({ trusted: true })).toMatchObject({ emailVerified: true, authoritative: true });
  });
});

describe("whatever comes", () => {
  const odd = [
    null,
    undefined,
    1,
    "x",
    [],
    {},
    { sub: "" },
    { sub: 1.5 },
    { sub: {} },
    { id: Number.NaN },
    { sub: "x".repeat(600) },
  ];
  for (const kind of ["google", "github", "twitter", "oidc"] as const) {
    test(`${kind}: nobody without an id`, () => {
      for (const userinfo of odd) expect(typeof read({ kind, userinfo })).toBe("string");
    });
  }
  test("ids are taken to the byte, or refused", () => {
    const uid = (sub: string) => {
      const profile = read({ kind: "oidc", userinfo: { sub }, issuer: "https://i.test" });
      return typeof profile === "string" ? undefined : profile.uid.split("|")[1];
    };
    for (const kept of ["joe", "joe ", " joe", "Joe", "jo\u00e9", "joe\u0301", "joe\u00a0", "joe\u200b", "\ufeffjoe"]) {
      expect([kept, uid(kept)]).toEqual([kept, kept]);
    }
    for (const refused of ["\tjoe", "joe\u0000", "joe\n", "joe\u0085", "joe\ud800", "x".repeat(256)]) {
      expect([refused, uid(refused)]).toEqual([refused, undefined]);
    }
  });
  test("texts are cleaned, addresses of pictures are http", () => {
    const userinfo = { sub: "1", name: "A\u0000na\n\ud800", picture: "javascript:alert(1)", email: "not an address" };
    expect(read({ kind: "google", userinfo })).toMatchObject({
      name: "Ana\ufffd",
      avatarUrl: undefined,
      email: undefined,
    });
  });
});
