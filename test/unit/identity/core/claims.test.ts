import { expect, test } from "bun:test";
import { claimedProvider, claimsOf, readClaims } from "../../../../src/identity/core/claims.ts";

const input = {
  instance: { id: "inst_a", appId: "app_a", publishableKey: "pk_live_a" },
  settings: { jwt_issuer: "service", algorithm: "HS256" },
  user: { id: "u", email: "a@b.test", name: "Ana", avatarUrl: undefined, emailVerifiedAt: undefined },
  session: { sessionId: "svc_session_s", provider: "github" },
  jti: "j",
  now: 1_700_000_000_999,
  lifetimeMs: 3_600_000,
};

test("times are whole seconds, and exp is iat and the lifetime", () => {
  expect(claimsOf(input)).toEqual({
    iss: "service",
    sub: "u",
    email: "a@b.test",
    name: "Ana",
    avatar_url: "",
    provider: "github",
    instance_id: "inst_a",
    app_id: "app_a",
    iat: 1_700_000_000,
    exp: 1_700_003_600,
    session_id: "svc_session_s",
    jti: "j",
    email_verified: false,
  });
});

test("the publishable key is the audience where keys are published", () => {
  const rs256 = { ...input, settings: { jwt_issuer: "brand", algorithm: "RS256" } };
  expect(claimsOf(rs256)).toMatchObject({ iss: "brand", aud: "pk_live_a" });
  expect(claimsOf(input)).not.toHaveProperty("aud");
  expect(claimsOf(input)).not.toHaveProperty("nbf");
});

test("a password is called email", () => {
  expect(["password", "google", "email"].map(claimedProvider)).toEqual(["email", "google", "email"]);
});

const at = { instanceId: "inst_a", now: 1_000_000 };
const good = { sub: "u", exp: 1_001, instance_id: "inst_a" };

test("what is read of claims", () => {
  expect(readClaims({ ...good, provider: "google", session_id: "s", jti: "j" }, at)).toEqual({
    sub: "u",
    exp: 1_001,
    provider: "google",
    sessionId: "s",
    jti: "j",
  });
  const nothing = { provider: undefined, sessionId: undefined, jti: undefined };
  expect(readClaims({ sub: "u", exp: 1_001, provider: 7, session_id: "", jti: null }, at)).toEqual({
    sub: "u",
    exp: 1_001,
    ...nothing,
  });
});

test("instance before time, both before nothing", () => {
  expect(readClaims({ ...good, instance_id: "inst_b", exp: 1 }, at)).toBe("instance");
  expect(readClaims({ ...good, instance_id: 7 }, at)).toBe("instance");
  expect(readClaims({ ...good, exp: 1_000 }, at)).toBe("expired");
  expect(readClaims({ ...good, exp: 1_000.5 }, at)).toMatchObject({ sub: "u" });
  for (const wrong of [
    { sub: undefined },
    { sub: "" },
    { exp: undefined },
    { exp: Number.NaN },
    { nbf: 1_001 },
    { iat: "" },
  ]) {
    expect([wrong, readClaims({ ...good, ...wrong }, at)]).toEqual([wrong, "unusable"]);
  }
  expect(readClaims({ ...good, nbf: 1_000, iat: 9_999_999 }, at)).toMatchObject({ sub: "u" });
});
