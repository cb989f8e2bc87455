import { beforeEach, describe, expect, test } from "bun:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { GuardedFetch } from "../../../../src/base/deliver/guarded-fetch.ts";
import { createOidc, type Oidc } from "../../../../src/identity/service/oidc.ts";
import { createFakeClock, type FakeClock } from "../../../support/fake-clock.ts";
import { thrownBy } from "../../../support/failure.ts";

const issuer = "https://i.test";
const limits = { oidcCacheMs: 600_000, oidcCacheMax: 2, oidcRefetchMs: 10_000, clockLeewayMs: 60_000 };
const signal = new AbortController().signal;

let clock: FakeClock;
let documents: Record<string, unknown>;
let asked: string[];
let oidc: Oidc;

beforeEach(() => {
  clock = createFakeClock();
  asked = [];
  documents = {
    [`${issuer}/.well-known/openid-configuration`]: {
      issuer,
      authorization_endpoint: `${issuer}/a`,
      token_endpoint: `${issuer}/t`,
      userinfo_endpoint: `${issuer}/u`,
      jwks_uri: `${issuer}/jwks`,
    },
  };
  const fetch: GuardedFetch = ({ url }) => {
    asked.push(url);
    const body = documents[url];
    return Promise.resolve(
      body === undefined ? { status: 404, body: "{}" } : { status: 200, body: JSON.stringify(body) },
    );
  };
  oidc = createOidc({ fetch, clock, limits });
});

const discovery = `${issuer}/.well-known/openid-configuration`;

describe("discovery", () => {
  test("is asked for once in a while, by everybody together", async () => {
    await Promise.all([1, 2, 3].map(() => oidc.configuration(issuer, signal)));
    expect(asked).toEqual([discovery]);
    clock.moveTo(clock.now() + limits.oidcCacheMs);
    await oidc.configuration(issuer, signal);
    expect(asked).toHaveLength(2);
  });

  test("what failed is not remembered", async () => {
    const good = documents[discovery];
    documents[discovery] = undefined;
    await thrownBy(() => oidc.configuration(issuer, signal));
    documents[discovery] = good;
    expect((await oidc.configuration(issuer, signal)).token).toBe(`${issuer}/t`);
  });

  const wrong: [string, Record<string, unknown>][] = [
    ["speaks for another issuer", { issuer: "https://evil.test" }],
    ["lacks an endpoint", { token_endpoint: undefined }],
    ["has an endpoint that is no address", { userinfo_endpoint: "javascript:alert(1)" }],
    ["has an endpoint that is no text", { jwks_uri: 7 }],
  ];
  for (const [name, change] of wrong) {
    test(`a document that ${name} is refused`, async () => {
      documents[discovery] = { ...(documents[discovery] as object), ...change };
      expect(await thrownBy(() => oidc.configuration(issuer, signal))).toMatchObject({ code: "invalid" });
    });
  }

  test("a client that may not use Basic sends its secret in the body", async () => {
    expect((await oidc.configuration(issuer, signal)).auth).toBe("basic");
    clock.moveTo(clock.now() + limits.oidcCacheMs);
    const methods = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
    documents[discovery] = { ...(documents[discovery] as object), ...methods };
    expect((await oidc.configuration(issuer, signal)).auth).toBe("body");
  });

  test("so many issuers are remembered and no more", async () => {
    for (const name of ["a", "b", "c"]) {
      const url = `https://${name}.test`;
      documents[`${url}/.well-known/openid-configuration`] = { ...(documents[discovery] as object), issuer: url };
      await oidc.configuration(url, signal);
    }
    await oidc.configuration("https://a.test", signal);
    expect(asked.filter((url) => url.includes("a.test"))).toHaveLength(2);
  });
});

describe("id tokens", () => {
  async function keys(algorithm: string, kid: string) {
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid };
    const sign = (header: Record<string, unknown> = {}) =>
      new SignJWT({ nonce: "n" })
        .setProtectedHeader({ alg: algorithm, kid, ...header })
        .setIssuer(issuer)
        .setAudience("c")
        .setSubject("7")
        .setIssuedAt(clock.now() / 1_000)
        .setExpirationTime(clock.now() / 1_000 + 60)
        .sign(privateKey);
    return { jwk, sign };
  }
  const claims = (token: string) =>
    oidc.claims({ token, jwks: `${issuer}/jwks`, expected: { issuer, clientId: "c", nonce: "n" } }, signal);

  for (const algorithm of ["RS256", "RS512", "PS256", "ES256", "ES384", "EdDSA"]) {
    test(`${algorithm} is checked as the rest of the world signs it`, async () => {
      const { jwk, sign } = await keys(algorithm, "k1");
      documents[`${issuer}/jwks`] = { keys: [jwk] };
      expect((await claims(await sign())).sub).toBe("7");
      const token = await sign();
      const [head, body] = token.split(".");
      expect(await thrownBy(() => claims(`${head}.${body}.${"A".repeat(342)}`))).toMatchObject({ code: "invalid" });
    });
  }

  test("a new key is asked for, but not at every token that names one", async () => {
    const [old, fresh] = [await keys("RS256", "k1"), await keys("RS256", "k2")];
    documents[`${issuer}/jwks`] = { keys: [old.jwk] };
    await claims(await old.sign());
    documents[`${issuer}/jwks`] = { keys: [old.jwk, fresh.jwk] };
    await thrownBy(async () => claims(await fresh.sign()));
    clock.moveTo(clock.now() + limits.oidcRefetchMs);
    await claims(await fresh.sign());
    const count = asked.length;
    for (const kid of ["x", "y", "z"]) {
      const unknown = await fresh.sign({ kid });
      await thrownBy(() => claims(unknown));
    }
    expect(asked).toHaveLength(count);
  });

  test("a new key with the name of the old one is asked for, but not at every wrong signature", async () => {
    const [old, fresh, other] = [await keys("RS256", "k1"), await keys("RS256", "k1"), await keys("RS256", "k1")];
    documents[`${issuer}/jwks`] = { keys: [old.jwk] };
    await claims(await old.sign());
    documents[`${issuer}/jwks`] = { keys: [fresh.jwk] };
    clock.moveTo(clock.now() + limits.oidcRefetchMs);
    expect((await claims(await fresh.sign())).sub).toBe("7");
    const count = asked.length;
    for (let time = 0; time < 3; time++) await thrownBy(async () => claims(await other.sign()));
    expect(asked).toHaveLength(count);
  });

  test("a key of one kind does not check another, nor one that is meant for encryption", async () => {
    const [rsa, ec] = [await keys("RS256", "k1"), await keys("ES256", "k1")];
    documents[`${issuer}/jwks`] = { keys: [ec.jwk, { ...rsa.jwk, use: "enc" }] };
    expect(await thrownBy(async () => claims(await rsa.sign()))).toMatchObject({ code: "invalid" });
  });

  test("a set that is no set", async () => {
    const { sign } = await keys("RS256", "k1");
    for (const odd of [{}, { keys: "x" }, { keys: [null, 1, {}] }, []]) {
      documents[`${issuer}/jwks`] = odd;
      clock.moveTo(clock.now() + limits.oidcCacheMs);
      expect(await thrownBy(async () => claims(await sign()))).toMatchObject({ code: "invalid" });
    }
  });
});
