import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type IdentityStore, openIdentityStore } from "../../src/identity/store/open-store.ts";
import { testKey } from "../support/store-root.ts";

const people = ["ana", "bo", "cy", "di"] as const;
const person = fc.constantFrom(...people);
const act = fc.oneof(
  fc.record({ type: fc.constant("add" as const), who: person }),
  fc.record({ type: fc.constant("rename" as const), who: person, name: fc.string({ maxLength: 5 }) }),
  fc.record({ type: fc.constant("move" as const), who: person, to: person }),
  fc.record({ type: fc.constant("password" as const), who: person, hash: fc.constantFrom(undefined, "hash") }),
  fc.record({ type: fc.constant("join" as const), who: person, provider: fc.constantFrom("google", "github") }),
  fc.record({ type: fc.constant("leave" as const), who: person }),
  fc.record({ type: fc.constant("remove" as const), who: person }),
  fc.record({ type: fc.constant("fail" as const), who: person }),
);
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never;

const email = (who: string) => `${who}@example.test`;

test("what is kept of users is what the database holds, whatever was written in between", async () => {
  const folder = mkdtempSync(join(tmpdir(), "shown-"));
  const path = join(folder, "identity.db");
  // Room for two of four: some are kept, some make room.
  const store = openIdentityStore({ path, key: testKey, usersKept: 4 });
  const plain = openIdentityStore({ path, key: testKey });
  const instance = await store.write(({ apps, instances }) => {
    apps.put({ id: "app_a", name: "shop", createdAt: 1 });
    const names = { id: "inst_a", appId: "app_a", name: "main", publishableKey: "pk_live_a", host: undefined };
    return instances.add({ ...names, environment: "production", settings: {}, createdAt: 1, updatedAt: 1 }).seq;
  });
  const look = (from: IdentityStore) =>
    people.map((who) => {
      const found = from.shownUsers.get(instance, "email", email(who));
      return [found, found && from.shownUsers.get(instance, "id", found.id)];
    });
  try {
    await fc.assert(
      fc
        .asyncProperty(fc.array(act, { maxLength: 25 }), async (acts) => {
          for (const one of acts) {
            await perform(store, instance, one).catch(() => undefined);
            expect(look(store)).toEqual(look(plain));
            expect(look(store)).toEqual(look(plain));
          }
        })
        .afterEach(() =>
          store.write(({ users }) => {
            for (const { seq } of users.list(instance, { limit: 9 })) users.remove(seq);
          }),
        ),
      { numRuns: 40 },
    );
  } finally {
    plain.close();
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

function perform(store: IdentityStore, instance: number, one: Act): Promise<unknown> {
  return store.write(({ users, identities }) => {
    const user = users.byEmail(instance, email(one.who));
    if (one.type === "add") return users.addNew(newUser(instance, one.who));
    if (user === undefined) return undefined;
    switch (one.type) {
      case "rename":
        return users.update({ ...user, name: one.name });
      case "move":
        return users.update({ ...user, email: email(one.to) });
      case "password":
        return users.update({ ...user, passwordHash: one.hash });
      case "join":
        return identities.add(newIdentity(instance, user.seq, one.provider));
      case "leave":
        return identities.removeUnproved(user.seq, user.email);
      case "remove":
        return users.remove(user.seq);
      case "fail":
        users.update({ ...user, name: "never" });
        throw new Error("rolled back");
    }
  });
}

function newUser(instance: number, who: string) {
  const nothing = { avatarUrl: undefined, emailVerifiedAt: undefined, passwordHash: undefined, bannedAt: undefined };
  const facts = { id: crypto.randomUUID(), email: email(who), name: who, placeholder: false };
  return { ...nothing, ...facts, instance, createdAt: 1, updatedAt: 1 };
}

function newIdentity(instance: number, user: number, provider: string) {
  const tokens = { accessToken: undefined, refreshToken: undefined, tokenExpiresAt: undefined };
  const proof = { email: undefined, emailVerified: false };
  const ids = { id: crypto.randomUUID(), uid: crypto.randomUUID() };
  return { ...ids, ...proof, ...tokens, instance, user, provider, createdAt: 1, updatedAt: 1 };
}
