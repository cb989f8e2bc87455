import { expect, test } from "bun:test";
import { formatUserLine, parseUserLine } from "../../../../src/identity/core/user-line.ts";

const now = Date.UTC(2026, 0, 2);
const id = "5e0f7a52-1111-4a1b-9d11-000000000001";
const bcrypt = "$2y$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
const read = (fields: unknown) => parseUserLine(typeof fields === "string" ? fields : JSON.stringify(fields), now);

test("an address alone is enough", () => {
  const line = read({ email: " Ana@Shop.test " });
  expect(line).toEqual({
    ok: true,
    value: {
      id: undefined,
      email: "ana@shop.test",
      written: "ana@shop.test",
      name: undefined,
      avatarUrl: undefined,
      emailVerifiedAt: undefined,
      placeholder: false,
      passwordHash: undefined,
      bannedAt: undefined,
      createdAt: undefined,
      updatedAt: undefined,
      identities: [],
    },
  });
});

test("an address comes into its one form, and the line is known as it is written", () => {
  const identities = [{ provider: "google", uid: "1", email: "ana@MÜNCHEN.de" }];
  expect(read({ email: " Ana@MÜNCHEN.de ", identities })).toMatchObject({
    value: {
      email: "ana@xn--mnchen-3ya.de",
      written: "ana@münchen.de",
      identities: [{ email: "ana@xn--mnchen-3ya.de" }],
    },
  });
});

test("flags stand for a moment that nobody wrote down; times are read in UTC", () => {
  const said = { email: "a@x.test", email_verified: true, banned: true, created_at: "2020-01-01 10:00:00" };
  expect(read(said)).toMatchObject({
    value: { emailVerifiedAt: now, bannedAt: now, createdAt: Date.UTC(2020, 0, 1, 10) },
  });
  expect(read({ email: "a@x.test", email_verified: false, banned: null, id: id.toUpperCase() })).toMatchObject({
    value: { emailVerifiedAt: undefined, bannedAt: undefined, id },
  });
  expect(read({ email: "a@x.test", created_at: "2020-01-01T10:00:00+02:00" })).toMatchObject({
    value: { createdAt: Date.UTC(2020, 0, 1, 8) },
  });
});

test("a bcrypt hash is stored in the one spelling that is checked", () => {
  expect(read({ email: "a@x.test", password_hash: bcrypt })).toMatchObject({
    value: { passwordHash: bcrypt.replace("$2y$", "$2b$") },
  });
});

test("the end mark of an export is no user", () =>
  expect(read({ end: true, users: 3 })).toEqual({ ok: true, value: undefined }));

const at = (over: object) => ({ email: "a@x.test", ...over });
test.each<[unknown, string]>([
  ["{", "is not JSON"],
  ["[]", "not a JSON object"],
  ["null", "not a JSON object"],
  ["1", "not a JSON object"],
  [{}, "email: is required"],
  [at({ email: "nobody" }), "email:"],
  [at({ emial: 1 }), 'unknown field "emial"; did you mean "email"'],
  [at({ __proto__x: 1 }), "unknown field"],
  [at({ id: "7" }), "id: not a UUID"],
  [at({ id: `${id}x` }), "id: not a UUID"],
  [at({ name: 7 }), "name: not a string"],
  [at({ name: "x".repeat(257) }), "name: is longer"],
  [at({ name: "a\u0000b" }), "name: is not valid"],
  ['{"email":"a@x.test","name":"\\ud800"}', "name: is not valid"],
  [at({ avatar_url: "javascript:alert(1)" }), "avatar_url:"],
  [at({ email_verified: "yes" }), "email_verified:"],
  [at({ email_verified: false, email_verified_at: "2020-01-01" }), "email_verified_at:"],
  [at({ created_at: "yesterday" }), "created_at:"],
  [at({ created_at: "2020-13-45" }), "created_at:"],
  [at({ created_at: 1_577_836_800 }), "created_at:"],
  [at({ created_at: "1960-01-01" }), "created_at:"],
  [at({ password_hash: "hunter2-in-the-clear" }), "password_hash:"],
  [at({ identities: {} }), "identities: not a list"],
  [at({ identities: [{}] }), "identities: each needs"],
  [at({ identities: [null] }), "identities: each needs"],
  [at({ identities: [{ provider: "GitHub", uid: "1" }] }), "identities: each needs"],
  [at({ identities: Array(21).fill({ provider: "github", uid: "1" }) }), "identities: has more"],
  [at({ identities: Array(2).fill({ provider: "github", uid: "1" }) }), "identities: names one twice"],
])("%j is told and left out", (fields, text) => {
  const line = read(fields);
  expect(line).toMatchObject({ ok: false, error: expect.stringContaining(text) });
  expect(JSON.stringify(line)).not.toContain("hunter2");
});

test("what an export writes, an import reads", () => {
  const user = {
    id,
    email: "ana@shop.test",
    name: 'A "quoted" \u{1f600} name\nwith lines',
    avatarUrl: "https://x.test/a.png",
    emailVerifiedAt: 7,
    placeholder: true,
    passwordHash: bcrypt.replace("$2y$", "$2b$"),
    bannedAt: 9,
    createdAt: 1,
    updatedAt: 2,
    identities: [{ provider: "github", uid: "77", email: "a@x.test", emailVerified: true }],
  };
  const line = formatUserLine(user);
  expect(line).not.toContain("\n");
  expect(parseUserLine(line, now)).toEqual({ ok: true, value: { ...user, written: user.email } });
});
