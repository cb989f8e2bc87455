import { describe, expect, test } from "bun:test";
import { idTokenProblem, readIdToken } from "../../../../src/identity/core/id-token.ts";

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const token = (header: unknown, claims: unknown = {}) => `${part(header)}.${part(claims)}.c2ln`;
const now = Date.UTC(2026, 0, 1);
const seconds = now / 1_000;
const expected = { issuer: "https://i.test", clientId: "c1", nonce: "n1", now, leewayMs: 60_000 };
const claims = { iss: "https://i.test", aud: "c1", sub: "7", nonce: "n1", iat: seconds, exp: seconds + 60 };

describe("reading", () => {
  test("asymmetric algorithms alone, and nothing critical that is unknown", () => {
    for (const alg of ["none", "HS256", "HS512", "RS1", "", undefined, 1, "rs256", "toString"]) {
      expect(readIdToken(token({ alg })).ok).toBe(false);
    }
    expect(readIdToken(token({ alg: "RS256", crit: ["x"] })).ok).toBe(false);
    for (const alg of ["RS256", "ES256", "EdDSA", "PS256"]) expect(readIdToken(token({ alg })).ok).toBe(true);
  });
  test("what is no token", () => {
    const odd = [
      "",
      "a.b",
      "a.b.c.d",
      "..",
      `${part([])}.${part({})}.x`,
      `${part({ alg: "RS256" })}.${part(null)}.x`,
      "x".repeat(20_000),
    ];
    for (const text of odd) expect(readIdToken(text).ok).toBe(false);
  });
  test("keys that a header brings along are not looked at", () => {
    const read = readIdToken(token({ alg: "RS256", kid: "k1", jwk: { kty: "RSA" }, jku: "https://evil.test" }));
    expect(read).toMatchObject({ ok: true, value: { keyId: "k1", algorithm: "RS256" } });
  });
});

describe("claims", () => {
  const problem = (change: Record<string, unknown>, more = {}) =>
    idTokenProblem({ ...claims, ...change }, { ...expected, ...more });
  test("right ones", () => {
    expect(problem({})).toBeUndefined();
    expect(problem({ aud: ["c1", "c2"], azp: "c1" })).toBeUndefined();
    expect(problem({ exp: seconds - 59 })).toBeUndefined();
    for (const nbf of [seconds - 1_000, seconds, seconds + 60]) expect(problem({ nbf })).toBeUndefined();
    expect(problem({ nonce: undefined }, { nonce: undefined })).toBeUndefined();
  });
  const wrong: Record<string, unknown>[] = [
    { iss: "https://i.test/" },
    { iss: undefined },
    { aud: "c2" },
    { aud: ["c1", "c2"] },
    { azp: "c2" },
    { aud: [] },
    { exp: seconds - 60 },
    { exp: "9999999999" },
    { exp: undefined },
    { iat: seconds + 61 },
    { iat: undefined },
    { nbf: seconds + 61 },
    { nbf: String(seconds) },
    { nbf: null },
    { nonce: "n2" },
    { nonce: undefined },
    { sub: "" },
    { sub: 7 },
  ];
  for (const change of wrong) test(`wrong: ${JSON.stringify(change)}`, () => expect(problem(change)).toBeString());
  test("google writes its issuer in two ways, others do not", () => {
    const google = { issuer: "https://accounts.google.com" };
    expect(problem({ iss: "accounts.google.com" }, google)).toBeUndefined();
    expect(problem({ iss: "i.test" })).toBeString();
  });
});
