import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHmac, createPublicKey, createSign, generateKeyPairSync } from "node:crypto";
import { encodePart } from "../../../src/identity/core/jwt.ts";
import { type IdentityWorld, identityWorld, type Tenant, withPublishable, withSecret } from "../../support/identity.ts";

let it: IdentityWorld;
let shop: Tenant;
let token: string;
let claims: Record<string, unknown>;

beforeEach(async () => {
  it = identityWorld();
  shop = await it.tenant();
  ({ token } = await it.signedIn(shop));
  claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;
});

afterEach(() => it.close());

const verify = (text: string, tenant = shop) =>
  it.ask("POST /api/v1/tokens/verify", { headers: withSecret(tenant), body: { token: text } });
const hs = (hash: string, key: string | Buffer, input: string) =>
  createHmac(hash, key).update(input).digest("base64url");
/** A token under the right key with another header or other claims. */
const forged = (header: object, payload: object, hash = "sha256", key: string | Buffer = shop.secretKey) => {
  const input = `${encodePart(header)}.${encodePart(payload)}`;
  return `${input}.${hs(hash, key, input)}`;
};
const jwt = { alg: "HS256", typ: "JWT" };
const invalid = { valid: false, error: "Token invalid signature" };

async function refused(text: string, body: object = invalid): Promise<void> {
  const answer = await verify(text);
  expect([answer.status, answer.json]).toEqual([401, body]);
}

test("a token that an app has signed itself under the same key is one of ours", async () => {
  expect((await verify(forged(jwt, claims))).status).toBe(200);
  expect((await verify(forged({ alg: "HS256" }, claims))).status).toBe(200);
});

describe("the algorithm is ours to say", () => {
  const none = ["none", "None", "NONE", "nOnE", "", " none", null, 0, true, [], ["HS256"], undefined];
  test.each(none.map((alg) => [alg]))("alg %p, with and without a signature", async (alg) => {
    const input = `${encodePart({ alg, typ: "JWT" })}.${encodePart(claims)}`;
    await refused(`${input}.`);
    await refused(`${input}.${hs("sha256", shop.secretKey, input)}`);
    await refused(`${input}.${hs("sha256", "", input)}`);
  });

  test.each([
    ["HS512", "sha512"],
    ["HS384", "sha384"],
    ["hs256", "sha256"],
    ["HS256 ", "sha256"],
    ["HS224", "sha224"],
  ])("%s under the right key", (alg, hash) => refused(forged({ alg, typ: "JWT" }, claims, hash)));

  test("HS256 by its name, another hash by its bytes", async () => {
    await refused(forged(jwt, claims, "sha512"));
    await refused(forged(jwt, claims, "sha1"));
  });

  test("a key pair of somebody, also one that the token brings along", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const jwk = publicKey.export({ format: "jwk" });
    for (const header of [{ alg: "RS256" }, { alg: "RS256", jwk }, { alg: "HS256", jwk }, { alg: "PS256", jwk }]) {
      const input = `${encodePart(header)}.${encodePart(claims)}`;
      await refused(`${input}.${createSign("sha256").update(input).sign(privateKey, "base64url")}`);
    }
  });

  test("headers that lead elsewhere are refused even under the right key", async () => {
    for (const extra of [{ jku: "https://evil.test" }, { x5u: "https://evil.test" }, { crit: ["exp"] }, { crit: [] }]) {
      await refused(forged({ ...jwt, ...extra }, claims));
    }
    await refused(forged({ ...jwt, b64: false }, claims));
    await refused(forged({ ...jwt, jwk: { kty: "oct", k: "" } }, claims));
  });
});

describe("where keys are published", () => {
  test("the published key is no HMAC key, HS256 under the secret key is over, and so is none", async () => {
    const rsa = await it.tenant({ algorithm: "RS256" });
    await it.running.identity.signingPairs.ensure(rsa.entry().instance);
    const { user, session, token: real } = await it.signedIn(rsa);
    const ok = await verify(real, rsa);
    expect([ok.status, (ok.json as { data: { email: string } }).data.email]).toEqual([200, user.email]);
    const [header = "", payload = ""] = real.split(".");
    const { keys } = (await it.ask(`GET /i/${rsa.id}/.well-known/jwks.json`)).json as { keys: object[] };
    const pem = createPublicKey({ key: { ...keys[0] }, format: "jwk" }).export({ type: "spki", format: "pem" });
    const der = createPublicKey({ key: { ...keys[0] }, format: "jwk" }).export({ type: "spki", format: "der" });
    for (const key of [String(pem), String(pem).trim(), der, rsa.secretKey, JSON.stringify(keys[0])]) {
      const body = JSON.parse(Buffer.from(payload, "base64url").toString()) as object;
      const again = await verify(forged(jwt, body, "sha256", key), rsa);
      expect([again.status, again.json]).toEqual([401, invalid]);
      const kept = await verify(`${header}.${payload}.${hs("sha256", key, `${header}.${payload}`)}`, rsa);
      expect([kept.status, kept.json]).toEqual([401, invalid]);
    }
    expect(session.instance).toBe(rsa.entry().instance.seq);
    await refused(real, { valid: false, error: "Token does not belong to this instance" });
  });
});

describe("kid is a name, never a place", () => {
  const names = [
    "../../dev/null",
    "/dev/null",
    "' or 1=1 --",
    "\u0000",
    "key_none",
    "",
    7,
    null,
    {},
    ["a"],
    "x".repeat(2_000),
  ];
  test.each(names.map((kid) => [kid]))("kid %p: the instance's own key decides", async (kid) => {
    expect((await verify(forged({ ...jwt, kid }, claims))).status).toBe(200);
    await refused(forged({ ...jwt, kid }, claims, "sha256", ""));
    await refused(forged({ ...jwt, kid }, claims, "sha256", Buffer.alloc(32)));
  });

  test("the kid of another instance's key does not bring that key in", async () => {
    const other = await it.tenant();
    const kid = other.entry().keys[0]?.id;
    await refused(forged({ ...jwt, kid }, claims, "sha256", other.secretKey));
    const own = { ...claims, instance_id: other.id };
    await refused(forged({ ...jwt, kid }, own, "sha256", other.secretKey), {
      valid: false,
      error: "Token does not belong to this instance",
    });
  });

  test("a key that is only good for the API signs nothing", async () => {
    const { seq } = shop.entry().instance;
    const value = "ak_live_only_for_the_api";
    const hash = new Bun.CryptoHasher("sha256").update(value).digest();
    await it.context.store.write(({ keys }) =>
      keys.add(
        {
          id: "key_api",
          instance: seq,
          use: "api",
          state: "signing",
          value,
          prefix: "ak_live_only",
          createdAt: 1,
          expiresAt: undefined,
        },
        hash,
      ),
    );
    await refused(forged(jwt, claims, "sha256", value));
    const read = await it.ask("GET /api/v1/users", { headers: { "X-Service-Secret-Key": value } });
    expect(read.status).toBe(200);
  });
});

describe("tampering", () => {
  test("every single letter that is changed, dropped or doubled is noticed", async () => {
    for (let at = 0; at < token.length; at += 7) {
      const other = token[at] === "A" ? "B" : "A";
      await refused(token.slice(0, at) + other + token.slice(at + 1));
      await refused(token.slice(0, at) + token.slice(at + 1));
      await refused(token.slice(0, at) + token[at] + token.slice(at));
    }
  });

  test("a signature has one spelling", async () => {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = letters.indexOf(token.at(-1) ?? "");
    // The last letter carries four bits: three other letters decode to the same bytes.
    for (let twin = 1; twin < 4; twin += 1) await refused(token.slice(0, -1) + letters[last ^ twin]);
    await refused(`${token}=`);
    await refused(` ${token}`);
    await refused(`${token}\n`);
    await refused(token.replaceAll("-", "+").replaceAll("_", "/") + (/[-_]/.test(token) ? "" : "+"));
  });

  test("another's claims under this signature", async () => {
    const { token: second } = await it.signedIn(shop);
    const [header, , signature] = token.split(".");
    await refused(`${header}.${second.split(".")[1]}.${signature}`);
  });
});

describe("claims under the right key", () => {
  const now = () => it.clock.now() / 1000;
  test.each([
    ["no sub", { sub: undefined }],
    ["an empty sub", { sub: "" }],
    ["a sub that is no text", { sub: 7 }],
    ["no exp", { exp: undefined }],
    ["an exp that is text", { exp: "9999999999" }],
    ["an exp that is null", { exp: null }],
    ["an nbf to come", { nbf: 9_999_999_999 }],
    ["an nbf that is text", { nbf: "0" }],
    ["an iat that is text", { iat: "now" }],
  ])("%s", (_name, change) => refused(forged(jwt, { ...claims, ...change })));

  test("an exp that has come, or ever was", async () => {
    for (const exp of [now(), now() - 1, 0, -1, now() - 0.5]) {
      await refused(forged(jwt, { ...claims, exp }), { valid: false, error: "Token expired" });
    }
    expect((await verify(forged(jwt, { ...claims, exp: now() + 1 }))).status).toBe(200);
  });

  test("an exp at the end of all times is exchanged like any other", async () => {
    for (const [index, exp] of [1e18, 1e300, now() + 0.5].entries()) {
      const jti = `00000000-0000-4000-8000-00000000000${index}`;
      const body = { token: forged(jwt, { ...claims, exp, jti }) };
      const answer = await it.ask("POST /api/v1/sessions/exchange", { headers: withPublishable(shop), body });
      expect([exp, answer.status]).toEqual([exp, 200]);
    }
  });

  test("a jti that is no UUID is not what a verification is called", async () => {
    const answer = await verify(forged(jwt, { ...claims, jti: "abc" }));
    expect(answer.json).toMatchObject({ id: claims.sub, resource: "token" });
  });

  test("another instance's id", () =>
    refused(forged(jwt, { ...claims, instance_id: "inst_other" }), {
      valid: false,
      error: "Token does not belong to this instance",
    }));

  test("a user who never was is 404", async () => {
    for (const sub of [crypto.randomUUID(), "1", "' or 1=1 --", "%", "../x"]) {
      const answer = await verify(forged(jwt, { ...claims, sub }));
      expect([answer.status, answer.json]).toEqual([404, { error: "User not found" }]);
    }
  });

  test("a session of somebody else is none of this user's", async () => {
    const other = await it.signedIn(shop);
    const { json } = await verify(forged(jwt, { ...claims, session_id: other.session.sessionId }));
    expect(json).toMatchObject({ data: { session: { status: "not_found", session_id: other.session.sessionId } } });
  });

  test("names of JavaScript's own are no claims", async () => {
    const payload = `{"__proto__":{"sub":"${String(claims.sub)}"},"exp":9999999999,"constructor":1}`;
    const input = `${encodePart(jwt)}.${Buffer.from(payload).toString("base64url")}`;
    await refused(`${input}.${hs("sha256", shop.secretKey, input)}`);
  });
});

describe("shapes that are none", () => {
  const shapes = [
    "",
    ".",
    "..",
    "...",
    "a",
    "a.b",
    "a.b.c.d",
    "....",
    "null",
    "{}",
    "e30.e30.",
    ".e30.e30",
    "e30..e30",
  ];
  test.each(shapes.filter((shape) => shape !== ""))("%p", (shape) => refused(shape));

  test("parts that are no objects, under the right key", async () => {
    for (const part of ["null", "[]", "7", '"x"', "{", "", "\u0000", '{"alg":"HS256"']) {
      const text = Buffer.from(part).toString("base64url");
      for (const input of [`${text}.${encodePart(claims)}`, `${encodePart(jwt)}.${text}`]) {
        await refused(`${input}.${hs("sha256", shop.secretKey, input)}`);
      }
    }
  });

  test("oversize, also under the right key", async () => {
    await refused("a".repeat(60_000));
    await refused(`${"a".repeat(20_000)}.${"b".repeat(20_000)}.${"c".repeat(20_000)}`);
    await refused(forged(jwt, { ...claims, name: "x".repeat(32_768) }));
  });
});
