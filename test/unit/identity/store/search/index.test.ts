import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Instance, User } from "../../../../../src/identity/store/records.ts";
import { openTestSearch, type TestSearch } from "../../../../support/identity-search.ts";
import {
  openTestIdentityStore,
  putInstance,
  putUser,
  type TestIdentityStore,
} from "../../../../support/identity-store.ts";

let at: TestIdentityStore;
let search: TestSearch;
let shop: Instance;
let users: User[];

const smallMax = 3;

beforeEach(async () => {
  at = openTestIdentityStore();
  [shop, users] = await at.store.write((nouns) => {
    const instance = putInstance(nouns, "shop");
    const made = ["ana", "bob", "carla", "david", "elena"].map((name) =>
      putUser(nouns, instance, { email: `${name}@shop.test`, name }),
    );
    return [instance, made];
  });
  search = openTestSearch(at.path, smallMax);
});
afterEach(() => {
  search.close();
  at.remove();
});

const names = (query: string) => {
  const { body } = search.page("users", shop.seq, query);
  return (JSON.parse(body) as { data: { name: string } }[]).map(({ data }) => data.name);
};
const added = () =>
  at.store.write((nouns) => putUser(nouns, shop, { email: `new${Math.random()}@shop.test`, name: "newcomer" }));

test("an instance gets an index once it has more rows than a few", async () => {
  expect(names("name:*arl*")).toEqual(["carla"]);
  expect(search.index.upto("users", shop.seq)).toBe(users.at(-1)?.seq);
  const small = await at.store.write((nouns) => {
    const instance = putInstance(nouns, "small");
    for (const name of ["a", "b", "c"]) putUser(nouns, instance, { email: `${name}@x.y`, name });
    return instance;
  });
  search.page("users", small.seq, "name:*aaa*");
  expect(search.index.upto("users", small.seq)).toBeUndefined();
});

test("what is written is found by the next search: new, renamed, deleted", async () => {
  expect(names("name:*newc*")).toEqual([]);
  await added();
  expect(names("name:*newc*")).toEqual(["newcomer"]);
  const [ana, bob] = users;
  if (ana === undefined || bob === undefined) throw new Error("users were expected");
  await at.store.write((nouns) => {
    nouns.users.update({ ...ana, name: "newcomer too" });
    nouns.users.remove(bob.seq);
  });
  expect(names("name:*newc*")).toEqual(["newcomer", "newcomer too"]);
  expect(names("name:*bob*")).toEqual([]);
});

test("changes that were dropped before they were seen make the index anew", async () => {
  names("name:*ana*");
  const [ana] = users;
  if (ana === undefined) throw new Error("users were expected");
  for (const name of ["one", "two", "three"]) await at.store.write((nouns) => nouns.users.update({ ...ana, name }));
  await at.store.write(({ searchChanges }) => searchChanges.trim(1));
  expect(names("name:*three*")).toEqual(["three"]);
  expect(names("name:*ana*")).toEqual([]);
});

test("an index of which most rows are gone is dropped, and made anew when it is wanted", async () => {
  names("name:*ana*");
  await at.store.write((nouns) => {
    for (const user of users.slice(1)) nouns.users.remove(user.seq);
  });
  search.index.tidy();
  expect(search.index.upto("users", shop.seq)).toBeUndefined();
  expect(names("name:*ana*")).toEqual(["ana"]);
});

test("an index of another file, or a damaged one, is thrown away", async () => {
  names("name:*ana*");
  search.close();
  at.store.close();
  copyFileSync(at.path, `${at.path}.copy`);
  rmSync(at.path);
  copyFileSync(`${at.path}.copy`, at.path);
  search = openTestSearch(at.path, smallMax);
  expect(search.index.upto("users", shop.seq)).toBeUndefined();
  expect(names("name:*ana*")).toEqual(["ana"]);
  search.close();
  writeFileSync(`${at.path}.search`, "this is no database at all, but a text that is long enough to be taken for one");
  search = openTestSearch(at.path, smallMax);
  expect(names("name:*ana*")).toEqual(["ana"]);
  expect(existsSync(`${at.path}.search`)).toBe(true);
  expect(readFileSync(`${at.path}.search`).subarray(0, 15).toString()).toBe("SQLite format 3");
});

test("times of creation keep what cannot be from being read", async () => {
  await at.store.write((nouns) => {
    for (let n = 0; n < 40; n++) {
      putUser(nouns, shop, { email: `u${n}@x.y`, name: `user ${n}`, createdAt: Date.UTC(2026, 0, 1 + n) });
    }
  });
  while (search.index.step("users", shop.seq, 5));
  expect(search.index.zones("users", shop.seq).length).toBeGreaterThan(5);
  const page = search.page("users", shop.seq, "created_at>=2026-01-03 created_at<2026-01-05 -name:*x*");
  expect(JSON.parse(page.body)).toHaveLength(2);
});
