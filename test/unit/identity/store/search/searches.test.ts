import { afterEach, beforeEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { parseSearch } from "../../../../../src/identity/core/search.ts";
import { searchColumns } from "../../../../../src/identity/core/search-columns.ts";
import type { FromSearchThread } from "../../../../../src/identity/store/search/messages.ts";
import { createSearches, type Searches, threadMs } from "../../../../../src/identity/store/search/searches.ts";
import {
  openTestIdentityStore,
  putInstance,
  putUser,
  type TestIdentityStore,
} from "../../../../support/identity-store.ts";

let at: TestIdentityStore;
let db: Database;
let said: FromSearchThread[];
const steps = { candidatesMax: 1, rowsPerRead: 10, rowsPerScan: 5 };
const sources = { index: { upto: () => undefined, zones: () => [] }, isCurrent: () => false, steps };

beforeEach(async () => {
  at = openTestIdentityStore();
  said = [];
  await at.store.write((nouns) => {
    const instance = putInstance(nouns, "a");
    for (let n = 0; n < 200; n++) putUser(nouns, instance, { email: `u${n}@x.y`, name: `user ${n}` });
  });
  db = new Database(at.path, { readonly: true });
});
afterEach(() => {
  db.close();
  at.remove();
});

const request = (query: string) => ({
  kind: "users" as const,
  instance: 1,
  search: parseSearch(query, searchColumns.users),
  rowsMax: 1_000,
  bytesMax: 1_000_000,
  before: undefined,
});
const searches = (budgetMs: number, searchesMax = 4): Searches =>
  createSearches({
    sources: { ...sources, db },
    setup: { budgetMs, searchesMax },
    post: (message) => void said.push(message),
  });
function run(all: Searches): void {
  while (all.waiting) all.step();
}

test("a quick one is answered while a slow one is still at it", () => {
  const all = searches(10_000);
  all.add(1, request("name:*zz*"));
  all.add(2, request("email:u7@x.y"));
  run(all);
  expect(said.map((message) => (message.type === "found" ? message.id : message))).toEqual([2, 1]);
});

test("one that takes more work than it may is given up between two steps, the others go on", () => {
  const all = searches(-1);
  all.add(1, request("name:*zz*"));
  run(all);
  expect(said).toEqual([{ type: "gave_up", id: 1, why: "over_budget" }]);
  expect(all.waiting).toBe(false);
});

test("too many, and one that is called off", () => {
  const all = searches(10_000, 2);
  for (const id of [1, 2, 3]) all.add(id, request("name:*zz*"));
  expect(said).toEqual([{ type: "gave_up", id: 3, why: "busy" }]);
  all.cancel(1);
  run(all);
  expect(said.slice(1)).toEqual([{ type: "found", id: 2, body: "[]", next: undefined }]);
});

test("one that fails fails alone", () => {
  const all = searches(10_000);
  db.close();
  all.add(1, request("name:*zz*"));
  run(all);
  expect(said).toEqual([{ type: "failed", id: 1, text: expect.any(String) }]);
  db = new Database(at.path, { readonly: true });
});

test("waiting costs nothing of the budget", () => {
  const before = threadMs();
  Bun.sleepSync(50);
  expect(threadMs() - before).toBeLessThan(40);
});
