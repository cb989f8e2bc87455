import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IdentityWorld, identityWorld, type Tenant } from "../../../support/identity.ts";

let it: IdentityWorld;
let shop: Tenant;

beforeEach(async () => {
  it = identityWorld();
  shop = await it.tenant();
});

afterEach(() => it.close());

const hash = (fill: number) => new Uint8Array(32).fill(fill);

describe("refresh tokens", () => {
  test("are spent, burnt with their session, purged when they expire", async () => {
    const { session } = await it.signedIn(shop);
    const other = await it.signedIn(shop);
    const { store } = it.context;
    const row = (fill: number, at: number, of = session.seq) => ({
      hash: hash(fill),
      session: of,
      spentAt: undefined,
      expiresAt: at,
      createdAt: 1,
    });
    await store.write(({ refreshTokens }) => {
      for (const token of [row(1, 10), row(2, 20), row(3, 30, other.session.seq)]) refreshTokens.add(token);
      refreshTokens.spend(hash(2), 5);
    });
    expect(store.refreshTokens.get(hash(1))).toEqual(row(1, 10));
    expect(store.refreshTokens.get(hash(2))?.spentAt).toBe(5);
    expect(store.refreshTokens.get(hash(9))).toBeUndefined();
    expect(await store.write(({ refreshTokens }) => refreshTokens.purge(30, 2))).toBe(2);
    expect(store.refreshTokens.get(hash(3))).toBeDefined();
    await store.write(({ refreshTokens }) => refreshTokens.burn(other.session.seq));
    expect(store.refreshTokens.get(hash(3))).toBeUndefined();
  });

  test("go with their user", async () => {
    const { user, session } = await it.signedIn(shop);
    const { store } = it.context;
    const token = { hash: hash(1), session: session.seq, spentAt: undefined, expiresAt: 10, createdAt: 1 };
    await store.write(({ refreshTokens }) => refreshTokens.add(token));
    await store.write(({ users }) => users.remove(user.seq));
    expect(store.refreshTokens.get(hash(1))).toBeUndefined();
  });
});

test("exchanges are kept until their token expires", async () => {
  const { session } = await it.signedIn(shop);
  const { store } = it.context;
  const exchange = { jti: "a", session: session.seq, at: 1, expiresAt: 10 };
  await store.write(({ exchanges }) => exchanges.add(exchange));
  expect(store.exchanges.get("a")).toEqual(exchange);
  await expect(store.write(({ exchanges }) => exchanges.add(exchange))).rejects.toThrow();
  expect(await store.write(({ exchanges }) => exchanges.purge(9, 5))).toBe(0);
  expect(await store.write(({ exchanges }) => exchanges.purge(10, 5))).toBe(1);
  expect(store.exchanges.get("a")).toBeUndefined();
});

test("the private half of a pair is sealed in the file", async () => {
  const { store } = it.context;
  const { seq } = shop.entry().instance;
  const privatePem = "-----BEGIN PRIVATE KEY----- very secret";
  const pair = {
    id: "key_a",
    instance: seq,
    state: "signing" as const,
    publicJwk: { kty: "RSA" as const, n: "n", e: "AQAB" },
    privatePem,
    createdAt: 1,
    expiresAt: undefined,
  };
  await store.write(({ signingPairs }) => signingPairs.add(pair));
  expect(store.signingPairs.list(seq)).toEqual([pair]);
  const copy = join(tmpdir(), `pairs-${crypto.randomUUID()}.db`);
  store.copyTo(copy);
  const text = await Bun.file(copy).text();
  await Bun.file(copy).delete();
  expect(text).toContain("AQAB");
  expect(text).not.toContain("very secret");
});

describe("whom a token speaks of", () => {
  test("the user, and a session of this very user in this very instance", async () => {
    const [mine, other] = [await it.signedIn(shop), await it.signedIn(shop)];
    const elsewhere = await it.tenant();
    const { seq } = shop.entry().instance;
    const { tokenSubjects } = it.context.store;
    expect(tokenSubjects.get(seq, mine.user.id, mine.session.sessionId)).toEqual({
      email: mine.user.email,
      name: mine.user.name,
      avatarUrl: mine.user.avatarUrl,
      bannedAt: undefined,
      session: {
        provider: "google",
        loggedInAt: it.clock.now(),
        lastActivityAt: it.clock.now(),
        expiresAt: it.clock.now() + 720 * 3_600_000,
        revokedAt: undefined,
      },
    });
    expect(tokenSubjects.get(seq, mine.user.id, other.session.sessionId)?.session).toBeUndefined();
    expect(tokenSubjects.get(seq, mine.user.id, undefined)?.session).toBeUndefined();
    expect(tokenSubjects.get(elsewhere.entry().instance.seq, mine.user.id, mine.session.sessionId)).toBeUndefined();
  });

  test("reads of one turn see what was written before it, and writes wait for none of them", async () => {
    const { user, session } = await it.signedIn(shop);
    const { seq } = shop.entry().instance;
    const { store } = it.context;
    for (let round = 1; round <= 20; round += 1) {
      const write = store.write(({ users }) => users.update({ ...user, bannedAt: round }));
      store.tokenSubjects.get(seq, user.id, session.sessionId);
      await write;
      expect(store.tokenSubjects.get(seq, user.id, session.sessionId)?.bannedAt).toBe(round);
    }
    store.tokenSubjects.get(seq, user.id, session.sessionId);
    expect(store.check()).toBe("ok");
  });
});
