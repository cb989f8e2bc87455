import { afterEach, beforeEach, expect, test } from "bun:test";
import { type IdentityWorld, identityWorld, type Tenant } from "../../../support/identity.ts";

let it: IdentityWorld;
let shop: Tenant;

beforeEach(async () => {
  it = identityWorld();
  shop = await it.tenant({ algorithm: "RS256" });
  await it.running.identity.signingPairs.ensure(shop.entry().instance);
});

afterEach(() => it.close());

const states = () => shop.entry().pairs.map(({ id, state }) => [id, state] as const);
const published = () => it.running.identity.signingPairs.jwks(shop.entry()).keys.map(({ kid }) => kid);

test("two who make the first pair at the same time get one", async () => {
  const other = await it.tenant({ algorithm: "RS256" });
  const { signingPairs } = it.running.identity;
  await Promise.all([signingPairs.ensure(other.entry().instance), signingPairs.ensure(other.entry().instance)]);
  expect(other.entry().pairs.map(({ state }) => state)).toEqual(["signing"]);
});

test("a published key is public alone", () => {
  const { keys } = it.running.identity.signingPairs.jwks(shop.entry());
  expect(Object.keys(keys[0] ?? {}).sort()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
  expect(keys[0]).toMatchObject({ kty: "RSA", alg: "RS256", use: "sig", e: "AQAB" });
});

test("stage publishes, promote signs, and the one before is accepted as long as its tokens last", async () => {
  const { signingPairs, tokens } = it.running.identity;
  const first = shop.entry().pairs[0]?.id ?? "";
  const { token: before } = await it.signedIn(shop);
  it.clock.moveTo(it.clock.now() + 1_000);
  const staged = await signingPairs.stage(shop.entry().instance);
  expect(published().sort()).toEqual([first, staged.id].sort());
  expect(states()).toContainEqual([first, "signing"]);

  await signingPairs.promote(shop.entry().instance);
  expect(states()).toEqual([
    [staged.id, "signing"],
    [first, "previous"],
  ]);
  const { token: after } = await it.signedIn(shop);
  const read = (token: string) => typeof tokens.read(shop.entry(), token);
  expect([read(before), read(after)]).toEqual(["object", "object"]);
  it.clock.moveTo(it.clock.now() + 3_600_000);
  expect(published()).toEqual([staged.id]);
  await signingPairs.tend();
  expect(states()).toEqual([[staged.id, "signing"]]);
});

test("promote without a staged one makes one", async () => {
  const first = shop.entry().pairs[0]?.id ?? "";
  it.clock.moveTo(it.clock.now() + 1_000);
  const promoted = await it.running.identity.signingPairs.promote(shop.entry().instance);
  expect(states()).toEqual([
    [promoted.id, "signing"],
    [first, "previous"],
  ]);
});

test("a clock that is a year ahead for a while drops no key that tokens are still signed with", async () => {
  const { signingPairs } = it.running.identity;
  const first = shop.entry().pairs[0]?.id ?? "";
  const { token } = await it.signedIn(shop);
  await signingPairs.promote(shop.entry().instance);
  it.clock.jump(366 * 24 * 3_600_000);
  await signingPairs.tend();
  it.clock.jump(-366 * 24 * 3_600_000);
  expect(states()).toContainEqual([first, "previous"]);
  expect(typeof it.running.identity.tokens.read(shop.entry(), token)).toBe("object");
});

test("tending makes what an instance lacks, and leaves the others alone", async () => {
  const bare = await it.tenant();
  const { instance } = bare.entry();
  await it.context.store.write(({ instances }) => instances.update({ ...instance, settings: { algorithm: "RS256" } }));
  const plain = await it.tenant();
  await it.running.identity.signingPairs.tend();
  expect(bare.entry().pairs).toHaveLength(1);
  expect(plain.entry().pairs).toHaveLength(0);
  expect(states()).toHaveLength(1);
});
