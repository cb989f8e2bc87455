import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type IdentityNouns,
  type IdentityStore,
  openIdentityStore,
} from "../../../../src/identity/store/open-store.ts";
import type { Session, User } from "../../../../src/identity/store/records.ts";
import { testKey } from "../../../support/store-root.ts";

let folder: string;
let store: IdentityStore;
let instance: number;
let user: User;
let session: Session;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "subjects-"));
  store = openIdentityStore({ path: join(folder, "identity.db"), key: testKey, usersKept: 4 });
  instance = await store.write(({ apps, instances }) => {
    apps.put({ id: "app_a", name: "shop", createdAt: 1 });
    const names = { id: "inst_a", appId: "app_a", name: "main", publishableKey: "pk_live_a", host: undefined };
    return instances.add({ ...names, environment: "production", settings: {}, createdAt: 1, updatedAt: 1 }).seq;
  });
  user = await addUser();
  session = await addSession(user);
  // Only what is read a second time is kept.
  get();
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

function addUser(): Promise<User> {
  const id = crypto.randomUUID();
  return store.write(({ users }) =>
    users.add({
      id,
      instance,
      email: `${id}@example.test`,
      name: "Ana",
      avatarUrl: undefined,
      emailVerifiedAt: undefined,
      placeholder: false,
      passwordHash: undefined,
      bannedAt: undefined,
      createdAt: 1,
      updatedAt: 1,
    }),
  );
}

function addSession(of: User): Promise<Session> {
  const id = crypto.randomUUID();
  return store.write(({ sessions }) =>
    sessions.add({
      id,
      sessionId: `svc_session_${id}`,
      instance,
      user: of.seq,
      provider: "google",
      name: "Ana",
      email: of.email,
      ipAddress: "",
      userAgent: "",
      geoData: {},
      device: undefined,
      loggedInAt: 1,
      lastSigninAt: 1,
      lastActivityAt: 1,
      expiresAt: undefined,
      revokedAt: undefined,
      revokeReason: undefined,
      createdAt: 1,
    }),
  );
}

const get = () => store.tokenSubjects.get(instance, user.id, session.sessionId);

test("what was read is kept as it is", () => {
  const first = get();
  expect(first?.session?.provider).toBe("google");
  expect(get()).toBe(first as NonNullable<typeof first>);
});

/** Every way in which a subject may change. */
const changes: [string, (nouns: IdentityNouns) => void, unknown][] = [
  ["a ban", ({ users }) => users.update({ ...user, bannedAt: 7 }), { bannedAt: 7 }],
  ["a new name", ({ users }) => users.update({ ...user, name: "Zoë" }), { name: "Zoë" }],
  [
    "a revocation",
    ({ sessions }) => sessions.update({ ...session, revokedAt: 7, revokeReason: "api" }),
    { session: { revokedAt: 7 } },
  ],
  ["the end of all sessions", ({ sessions }) => sessions.revokeAll(user.seq, "ban", 8), { session: { revokedAt: 8 } }],
  [
    "a refresh",
    ({ sessions }) => sessions.update({ ...session, lastActivityAt: 9 }),
    { session: { lastActivityAt: 9 } },
  ],
  ["the removal of the user", ({ users }) => users.remove(user.seq), undefined],
  ["the removal of the instance", ({ instances }) => instances.remove(instance), undefined],
  ["the removal of the app", ({ apps }) => apps.remove("app_a"), undefined],
];

describe("is forgotten by the very commit of", () => {
  test.each(changes)("%s", async (_name, change, expected) => {
    expect(get()?.bannedAt).toBeUndefined();
    const written = store.write(change);
    expect(get()).toMatchObject({ name: "Ana", bannedAt: undefined });
    await written;
    if (expected === undefined) expect(get()).toBeUndefined();
    else expect(get()).toMatchObject(expected as object);
  });
});

test("whoever waits for the write sees it, and so does whoever comes in between", async () => {
  get();
  const seen: (number | undefined)[] = [];
  const written = store.write(({ users }) => users.update({ ...user, bannedAt: 7 }));
  const other = store.write(() => undefined).then(() => seen.push(get()?.bannedAt));
  await Promise.all([written.then(() => seen.push(get()?.bannedAt)), other]);
  expect(seen).toEqual([7, 7]);
});

test("what is rolled back changes nothing, and what is read inside a write is not kept", async () => {
  const failed = store.write((nouns) => {
    nouns.users.update({ ...user, bannedAt: 7 });
    expect(nouns.tokenSubjects.get(instance, user.id, session.sessionId)?.bannedAt).toBe(7);
    throw new Error("no");
  });
  await expect(failed).rejects.toThrow("no");
  expect(get()).toMatchObject({ bannedAt: undefined });
});

test("a session of somebody else, of another instance, or of nobody is not found, also after its owner's was", async () => {
  const other = await addUser();
  get();
  expect(store.tokenSubjects.get(instance, other.id, session.sessionId)?.session).toBeUndefined();
  expect(store.tokenSubjects.get(instance + 1, user.id, session.sessionId)).toBeUndefined();
  expect(store.tokenSubjects.get(instance, user.id, "svc_session_none")?.session).toBeUndefined();
  expect(get()?.session?.provider).toBe("google");
});

test("a session that is made after a look in vain is found", async () => {
  const sessionId = `svc_session_${crypto.randomUUID()}`;
  expect(store.tokenSubjects.get(instance, user.id, sessionId)?.session).toBeUndefined();
  await store.write(({ sessions }) => sessions.add({ ...session, id: crypto.randomUUID(), sessionId }));
  expect(store.tokenSubjects.get(instance, user.id, sessionId)?.session).toBeDefined();
});

test("no more are kept than there is room for, and all of them are right", async () => {
  const people = await Promise.all(Array.from({ length: 10 }, addUser));
  const theirs = await Promise.all(people.map(async (one) => ({ one, session: await addSession(one) })));
  for (let round = 0; round < 3; round += 1) {
    for (const { one, session: its } of theirs) {
      expect(store.tokenSubjects.get(instance, one.id, its.sessionId)?.email).toBe(one.email);
    }
  }
  const first = store.tokenSubjects.get(instance, user.id, session.sessionId);
  for (const { one, session: its } of theirs) store.tokenSubjects.get(instance, one.id, its.sessionId);
  expect(get()).toEqual(first as NonNullable<typeof first>);
  expect(get()).not.toBe(first as NonNullable<typeof first>);
});

test("a change of more users than are told apart forgets everything", async () => {
  const people: User[] = [];
  for (let count = 0; count < 12; count += 1) people.push(...(await Promise.all(Array.from({ length: 100 }, addUser))));
  const before = get();
  await store.write(({ users }) => {
    for (const one of people) users.update({ ...one, name: "Bo" });
  });
  expect(get()).not.toBe(before as NonNullable<typeof before>);
  expect(get()).toEqual(before as NonNullable<typeof before>);
});
