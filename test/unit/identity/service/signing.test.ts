import { afterEach, beforeEach, expect, test } from "bun:test";
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, SignJWT } from "jose";
import { splitToken, type TokenParts } from "../../../../src/identity/core/jwt.ts";
import { signerOf } from "../../../../src/identity/service/signing.ts";
import { type IdentityWorld, identityWorld, type Tenant } from "../../../support/identity.ts";

let it: IdentityWorld;
let shop: Tenant;

beforeEach(async () => {
  it = identityWorld();
  shop = await it.tenant();
});

afterEach(() => it.close());

const parts = (token: string): TokenParts => {
  const split = splitToken(token);
  if (split === undefined) throw new Error("no token");
  return split;
};
const secretOf = ({ secretKey }: Tenant) => new TextEncoder().encode(secretKey);
const at = () => ({ currentDate: new Date(it.clock.now()) });

test("jose takes our tokens, and we take those of jose", async () => {
  const { token, user } = await it.signedIn(shop);
  const { payload, protectedHeader } = await jwtVerify(token, secretOf(shop), { algorithms: ["HS256"], ...at() });
  expect(payload.sub).toBe(user.id);
  expect(protectedHeader).toEqual({ alg: "HS256", typ: "JWT", kid: shop.entry().keys[0]?.id });

  const theirs = await new SignJWT({ instance_id: shop.id, name: "Zoë 🎉" })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(user.id)
    .setExpirationTime(it.clock.now() / 1000 + 10)
    .sign(secretOf(shop));
  expect(signerOf(shop.entry()).check(parts(theirs), it.clock.now())).toBe("JWT");
  expect(it.running.identity.tokens.verify(shop.entry(), theirs)).toMatchObject({ valid: true });
});

test("an access token says what it is in its header, which is signed", async () => {
  const { user, session } = await it.signedIn(shop);
  const token = it.running.identity.tokens.issueAccess({ entry: shop.entry(), user, session });
  expect(decodeProtectedHeader(token).typ).toBe("at+jwt");
  expect(signerOf(shop.entry()).check(parts(token), it.clock.now())).toBe("at+jwt");
  const written = await new SignJWT({ sub: "x" })
    .setProtectedHeader({ alg: "HS256", typ: "AT+JWT" })
    .sign(secretOf(shop));
  expect(signerOf(shop.entry()).check(parts(written), it.clock.now())).toBe("at+jwt");
});

test("jose finds the published key of an RS256 token by its kid, and its audience", async () => {
  const rsa = await it.tenant({ algorithm: "RS256" });
  const { identity } = it.running;
  await identity.signingPairs.ensure(rsa.entry().instance);
  const { token } = await it.signedIn(rsa);
  const keys = createLocalJWKSet(identity.signingPairs.jwks(rsa.entry()));
  const { payload } = await jwtVerify(token, keys, { algorithms: ["RS256"], audience: rsa.publishableKey, ...at() });
  expect(payload.exp).toBe((payload.iat ?? 0) + 3600);
  expect(decodeProtectedHeader(token).kid).toBe(rsa.entry().pairs[0]?.id);
});

test("a staged key is accepted before it signs, a previous one until it ends", async () => {
  const { instance, keys } = shop.entry();
  const [first] = keys;
  if (first === undefined) throw new Error("no key");
  const next = { ...first, id: "key_next", value: "sk_live_next", state: "staged" as const };
  await it.context.store.write((nouns) => nouns.keys.add(next, new Uint8Array(32).fill(1)));
  const { user, session, token: before } = await it.signedIn(shop);
  const early = await new SignJWT({ sub: user.id, exp: 9_999_999_999 })
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(next.value));
  const check = (token: string) => signerOf(shop.entry()).check(parts(token), it.clock.now());
  expect(decodeProtectedHeader(before).kid).toBe(first.id);
  expect([check(before), check(early)]).toEqual(["JWT", "JWT"]);

  await it.context.store.write((nouns) => {
    nouns.keys.setState(first.id, "previous", it.clock.now() + 1_000);
    nouns.keys.setState(next.id, "signing", undefined);
  });
  const after = it.running.identity.tokens.issue({ entry: shop.entry(), user, session });
  expect(decodeProtectedHeader(after).kid).toBe(next.id);
  expect([check(before), check(after)]).toEqual(["JWT", "JWT"]);
  it.clock.moveTo(it.clock.now() + 1_000);
  expect([check(before), check(after)]).toEqual([undefined, "JWT"]);
  expect(instance.id).toBe(shop.id);
});

test("without a key that signs it says the way out", async () => {
  const { user, session } = await it.signedIn(shop);
  await it.context.store.write(({ keys }) => keys.remove(shop.entry().keys[0]?.id ?? ""));
  const issue = (tenant: Tenant) => it.running.identity.tokens.issue({ entry: tenant.entry(), user, session });
  expect(() => issue(shop)).toThrow("rotate its keys");
  const rsa = await it.tenant();
  const { instance } = rsa.entry();
  await it.context.store.write(({ instances }) => instances.update({ ...instance, settings: { algorithm: "RS256" } }));
  expect(() => issue(rsa)).toThrow("the first key pair of the instance is being made");
});
