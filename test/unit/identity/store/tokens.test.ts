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

describe("refresh chains", () => {
  const chain = (fill: number, session: number) => ({
    id: new Uint8Array(16).fill(fill),
    session,
    generation: 0,
    spent: [1],
    sharedAt: undefined,
    expiresAt: 10,
    createdAt: 1,
  });

  test("move on, and are burnt with their session", async () => {
    const [mine, other] = [await it.signedIn(shop), await it.signedIn(shop)];
    const { store } = it.context;
    const [one, two] = [chain(1, mine.session.seq), chain(2, other.session.seq)];
    await store.write(({ refreshChains }) => {
      refreshChains.add(one);
      refreshChains.add(two);
      refreshChains.move(one.id, { generation: 1, spent: [1, 7], sharedAt: 8 });
    });
    expect(store.refreshChains.get(one.id)).toEqual({ ...one, generation: 1, spent: [1, 7], sharedAt: 8 });
    expect(store.refreshChains.get(new Uint8Array(16))).toBeUndefined();
    await store.write(({ refreshChains }) => refreshChains.burn(one.session));
    expect([store.refreshChains.get(one.id), store.refreshChains.get(two.id)]).toEqual([undefined, two]);
  });

  test("go with their user, and with all sessions of one", async () => {
    const [mine, other] = [await it.signedIn(shop), await it.signedIn(shop)];
    const { store } = it.context;
    const [one, two] = [chain(1, mine.session.seq), chain(2, other.session.seq)];
    await store.write(({ refreshChains }) => {
      refreshChains.add(one);
      refreshChains.add(two);
    });
    await store.write(({ users, sessions }) => {
      users.remove(mine.user.seq);
      sessions.revokeAll(other.user.seq, "ban", 5);
    });
    expect([store.refreshChains.get(one.id), store.refreshChains.get(two.id)]).toEqual([undefined, undefined]);
  });
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
});
