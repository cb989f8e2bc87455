import { afterEach, beforeEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { globalInstance } from "../../../../src/identity/store/providers.ts";
import type { Provider } from "../../../../src/identity/store/records.ts";
import {
  openTestIdentityStore,
  putInstance,
  putUser,
  type TestIdentityStore,
} from "../../../support/identity-store.ts";

let at: TestIdentityStore;
beforeEach(() => {
  at = openTestIdentityStore();
});
afterEach(() => at.remove());

const github: Provider = {
  instance: globalInstance,
  name: "github",
  kind: "github",
  enabled: true,
  clientId: "the-client",
  clientSecret: "the-very-secret",
  options: { label: "Git" },
  createdAt: 1,
  updatedAt: 2,
};

test("a provider comes back as it was written; its secret is in no file", async () => {
  const instance = await at.store.write((nouns) => {
    nouns.providers.put(github);
    return putInstance(nouns, "a");
  });
  const own = { ...github, instance: instance.seq, clientId: undefined, clientSecret: undefined, enabled: false };
  await at.store.write(({ providers }) => providers.put(own));
  expect(at.store.providers.get(globalInstance, "github")).toEqual(github);
  expect(at.store.providers.list(instance.seq)).toEqual([own]);
  await at.store.write(({ providers }) => providers.put({ ...github, clientId: "other", createdAt: 9, updatedAt: 9 }));
  expect(at.store.providers.get(globalInstance, "github")).toMatchObject({
    clientId: "other",
    createdAt: 1,
    updatedAt: 9,
  });
  for (const file of [at.path, `${at.path}-wal`]) expect(readFileSync(file).includes("the-very-secret")).toBe(false);
  await at.store.write(({ providers }) => providers.clear(instance.seq));
  expect(at.store.providers.list(instance.seq)).toEqual([]);
  expect(await at.store.write(({ providers }) => providers.remove(globalInstance, "github"))).toBe(true);
  expect(await at.store.write(({ providers }) => providers.remove(globalInstance, "github"))).toBe(false);
});

test("a secret that was moved to another instance does not open there", async () => {
  const instance = await at.store.write((nouns) => {
    nouns.providers.put(github);
    return putInstance(nouns, "a");
  });
  const db = new Database(at.path);
  db.run(
    "insert into providers select ?, name, kind, enabled, client_id, client_secret, options, created_at, updated_at from providers",
    [instance.seq],
  );
  db.close();
  expect(() => at.store.providers.get(instance.seq, "github")).toThrow("altered or moved");
});

test("a new user comes in unless the id or the address is taken, and numbers of instances are never used again", async () => {
  const { store } = at;
  const first = await store.write((nouns) => putInstance(nouns, "a"));
  const ana = await store.write((nouns) => putUser(nouns, first, { email: "ana@x.test" }));
  const { seq: _, ...fields } = ana;
  const add = (change: object) => store.write(({ users }) => users.addNew({ ...fields, ...change }));
  expect(await add({ email: "bo@x.test" })).toBeUndefined();
  expect(await add({ id: crypto.randomUUID() })).toBeUndefined();
  const bo = await add({ id: crypto.randomUUID(), email: "bo@x.test" });
  expect(store.users.bySeq(bo ?? 0)?.email).toBe("bo@x.test");
  expect(store.users.find(ana.id)).toEqual(ana);
  expect(store.users.oldest(first.seq, { limit: 10, after: ana.seq }).map(({ email }) => email)).toEqual(["bo@x.test"]);
  await store.write(({ instances }) => instances.remove(first.seq));
  expect(store.users.find(ana.id)).toBeUndefined();
  const second = await store.write((nouns) => putInstance(nouns, "b"));
  expect(second.seq).toBeGreaterThan(first.seq);
});
