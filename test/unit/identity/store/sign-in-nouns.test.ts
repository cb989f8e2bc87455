import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Database } from "bun:sqlite";
import { createOneTime } from "../../../../src/identity/store/one-time.ts";
import type { Instance, OAuthState } from "../../../../src/identity/store/records.ts";
import { createSeal } from "../../../../src/base/sqlite/seal.ts";
import {
  openTestIdentityStore,
  putInstance,
  putSession,
  putUser,
  type TestIdentityStore,
} from "../../../support/identity-store.ts";
import { testKey } from "../../../support/store-root.ts";

let db: TestIdentityStore;
let instance: Instance;

beforeEach(async () => {
  db = openTestIdentityStore();
  instance = await db.store.write((nouns) => putInstance(nouns, "a"));
});
afterEach(() => db.remove());

const hash = (byte: number) => new Uint8Array(32).fill(byte);
const state = (byte: number, fields: Partial<OAuthState> = {}): OAuthState => ({
  hash: hash(byte),
  instance: instance.seq,
  provider: "google",
  redirectUri: "https://app.test/cb",
  browser: hash(200),
  client: "203.0.113.7",
  endpoints: {
    clientId: "c",
    token: "https://p.test/t",
    userinfo: "https://p.test/u",
    emails: undefined,
    issuer: undefined,
    jwks: undefined,
    auth: "body",
    namesItself: false,
  },
  codeVerifier: "verifier-that-must-not-show",
  nonce: "n",
  createdAt: 1,
  expiresAt: 10 + byte,
  ...fields,
});

describe("states", () => {
  test("are taken once, whole", async () => {
    await db.store.write(({ oauthStates }) => oauthStates.put(state(1)));
    const taken = await db.store.write(({ oauthStates }) => oauthStates.take(hash(1)));
    expect(taken).toEqual(state(1));
    expect(await db.store.write(({ oauthStates }) => oauthStates.take(hash(1)))).toBeUndefined();
  });

  test("are counted by client and instance, whatever ends them", async () => {
    const { oauthStates } = db.store;
    const other = await db.store.write((nouns) => putInstance(nouns, "other"));
    const counts = (seq = instance.seq, client = "203.0.113.7") => Object.values(oauthStates.waiting(seq, client));
    await db.store.write((nouns) => {
      for (let byte = 1; byte <= 3; byte++) nouns.oauthStates.put(state(byte));
      nouns.oauthStates.put(state(4, { client: "198.51.100.9" }));
      nouns.oauthStates.put(state(5, { instance: other.seq }));
    });
    expect(counts()).toEqual([5, 4, 3]);
    expect(counts(other.seq)).toEqual([5, 1, 1]);
    await db.store.write((nouns) => {
      nouns.oauthStates.take(hash(1));
      nouns.purge.expired(12, 100);
    });
    expect(counts()).toEqual([3, 2, 1]);
    await db.store.write((nouns) => nouns.instances.remove(instance.seq));
    expect(counts()).toEqual([1, 0, 0]);
    expect(oauthStates.has(hash(5))).toBe(true);
    expect(oauthStates.has(hash(4))).toBe(false);
  });

  test("their verifier does not stand in the file", async () => {
    await db.store.write(({ oauthStates }) => oauthStates.put(state(1)));
    const files = [db.path, `${db.path}-wal`].map((path) => readFileSync(path).toString("latin1")).join("");
    expect(files).not.toContain("verifier-that-must-not-show");
  });

  test("go with their instance", async () => {
    await db.store.write(({ oauthStates, instances }) => {
      oauthStates.put(state(1));
      instances.remove(instance.seq);
    });
    expect(db.store.oauthStates.waiting(instance.seq, "").all).toBe(0);
  });
});

describe("one-time values", () => {
  const value = (byte: number) => ({
    hash: hash(byte),
    instance: instance.seq,
    user: undefined,
    purpose: "verify_email" as const,
    data: { name: "Ana", secret: "data-that-must-not-show" },
    createdAt: 1,
    expiresAt: 10 + byte,
  });

  test("are looked at, and taken once, for their purpose alone", async () => {
    await db.store.write(({ oneTime }) => oneTime.put(value(1)));
    expect(db.store.oneTime.get(hash(1), "verify_email")).toEqual(value(1));
    expect(db.store.oneTime.get(hash(1), "reset_password")).toBeUndefined();
    const take = (purpose: "verify_email" | "reset_password") =>
      db.store.write(({ oneTime }) => oneTime.take(hash(1), purpose));
    expect(await take("reset_password")).toBeUndefined();
    expect(await take("verify_email")).toEqual(value(1));
    expect(await take("verify_email")).toBeUndefined();
    const files = [db.path, `${db.path}-wal`].map((path) => readFileSync(path).toString("latin1")).join("");
    expect(files).not.toContain("data-that-must-not-show");
  });

  test("those of a user go together, and codes are capped", async () => {
    await db.store.write((nouns) => {
      const { seq } = putUser(nouns, instance, { email: "a@b.io" });
      for (const byte of [1, 2]) nouns.oneTime.put({ ...value(byte), user: seq });
      nouns.oneTime.clear(seq, "verify_email");
    });
    expect(db.store.oneTime.get(hash(1), "verify_email")).toBeUndefined();
    const raw = new Database(db.path);
    const few = createOneTime(raw, createSeal(testKey));
    for (let put = 0; put <= 1_000; put++)
      few.putCode({ ...value(9), hash: new Uint8Array([put >> 8, put & 255, ...hash(9).slice(2)]) }, 2);
    expect(raw.query<{ n: number }, []>("select count(*) as n from one_time").get()?.n).toBeLessThanOrEqual(3);
    expect(few.linksWaiting(instance.seq)).toEqual({ all: 0, instance: 0 });
    raw.close();
  });

  test("links are counted by instance, whatever ends them, and none is dropped for another", async () => {
    const other = await db.store.write((nouns) => putInstance(nouns, "other"));
    await db.store.write(({ oneTime }) => {
      for (const byte of [1, 2, 3]) oneTime.put(value(byte));
      oneTime.put({ ...value(4), instance: other.seq });
    });
    expect(db.store.oneTime.linksWaiting(instance.seq)).toEqual({ all: 4, instance: 3 });
    await db.store.write((nouns) => {
      nouns.oneTime.take(hash(1), "verify_email");
      nouns.purge.expired(12, 100);
    });
    expect(db.store.oneTime.linksWaiting(instance.seq)).toEqual({ all: 2, instance: 1 });
    await db.store.write(({ instances }) => instances.remove(instance.seq));
    expect(db.store.oneTime.linksWaiting(instance.seq)).toEqual({ all: 1, instance: 0 });
    expect(db.store.oneTime.linksWaiting(other.seq)).toEqual({ all: 1, instance: 1 });
  });
});

test("a browser belongs to one instance, and goes with its session", async () => {
  const other = await db.store.write((nouns) => putInstance(nouns, "b"));
  await db.store.write((nouns) => {
    const user = putUser(nouns, instance, { email: "a@b.io" });
    const session = putSession(nouns, user);
    nouns.browsers.put({ hash: hash(1), instance: instance.seq, session: session.seq, createdAt: 1, expiresAt: 2 });
  });
  expect(db.store.browsers.get(instance.seq, hash(1))).toBeDefined();
  expect(db.store.browsers.get(other.seq, hash(1))).toBeUndefined();
  await db.store.write(({ users }) => users.remove(db.store.users.byEmail(instance.seq, "a@b.io")?.seq ?? 0));
  expect(db.store.browsers.get(instance.seq, hash(1))).toBeUndefined();
});

test("identities: unique in their instance, tokens sealed, unproved ones go on demand", async () => {
  const identity = (uid: string, user: number, emailVerified: boolean) => ({
    id: crypto.randomUUID(),
    instance: instance.seq,
    user,
    provider: "google",
    uid,
    email: "a@b.io",
    emailVerified,
    accessToken: "access-that-must-not-show",
    refreshToken: undefined,
    tokenExpiresAt: 5,
    createdAt: 1,
    updatedAt: 1,
  });
  const { seq } = await db.store.write((nouns) => putUser(nouns, instance, { email: "a@b.io" }));
  await db.store.write(({ identities }) => {
    identities.add(identity("1", seq, true));
    identities.add(identity("2", seq, false));
    identities.add({ ...identity("3", seq, true), email: "other@b.io" });
  });
  expect(db.store.identities.get(instance.seq, "google", "1")?.accessToken).toBe("access-that-must-not-show");
  expect(db.store.write(({ identities }) => identities.add(identity("1", seq, true)))).rejects.toThrow();
  expect(await db.store.write(({ identities }) => identities.removeUnproved(seq, "a@b.io"))).toBe(2);
  expect(db.store.identities.list(seq).map(({ uid }) => uid)).toEqual(["1"]);
  const files = [db.path, `${db.path}-wal`].map((path) => readFileSync(path).toString("latin1")).join("");
  expect(files).not.toContain("access-that-must-not-show");
});
