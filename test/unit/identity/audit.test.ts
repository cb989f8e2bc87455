import { afterEach, beforeEach, expect, test } from "bun:test";
import { audit } from "../../../src/identity/audit.ts";
import { openTestIdentityStore, putInstance, type TestIdentityStore } from "../../support/identity-store.ts";

let at: TestIdentityStore;

beforeEach(() => {
  at = openTestIdentityStore();
});
afterEach(() => at.remove());

test("an entry comes back whole, newest first, and only in its instance", async () => {
  const { store } = at;
  const [a, b] = await store.write((nouns) => {
    const made = [putInstance(nouns, "a"), putInstance(nouns, "b")] as const;
    audit(nouns, { instance: made[0], actor: "user", action: "signin.fail", email: "x@y.z", ip: "10.0.0.1", now: 5 });
    audit(nouns, { instance: made[0], actor: "operator", action: "key.rotate", detail: { key: "key_1" }, now: 6 });
    audit(nouns, { instance: made[1], actor: "operator", action: "user.ban", userId: "u", now: 7 });
    return made;
  });
  expect(store.audit.list(a.seq, { limit: 10 })).toMatchObject([
    { action: "key.rotate", actor: "operator", detail: { key: "key_1" }, at: 6, email: undefined },
    { action: "signin.fail", actor: "user", detail: {}, at: 5, email: "x@y.z", ipAddress: "10.0.0.1" },
  ]);
  expect(store.audit.list(b.seq, { limit: 10 }).map(({ action }) => action)).toEqual(["user.ban"]);
});

test("texts of strangers are cut off", async () => {
  const { store } = at;
  const instance = await store.write((nouns) => {
    const made = putInstance(nouns, "a");
    audit(nouns, { instance: made, actor: "user", action: "signin.fail", email: "x".repeat(10_000), now: 5 });
    return made;
  });
  expect(store.audit.list(instance.seq, { limit: 1 })[0]?.email).toHaveLength(512);
});

test("a trim keeps the newest of each instance", async () => {
  const { store } = at;
  const [a, b] = await store.write((nouns) => {
    const made = [putInstance(nouns, "a"), putInstance(nouns, "b")] as const;
    for (let now = 1; now <= 20; now++)
      audit(nouns, { instance: now % 2 === 0 ? made[0] : made[1], actor: "user", action: "x", now });
    return made;
  });
  expect(await store.write(({ audit }) => audit.trim(a.seq, 4, 100))).toBe(6);
  expect(await store.write(({ audit }) => audit.trim(a.seq, 4, 100))).toBe(0);
  expect(await store.write(({ audit }) => audit.trim(b.seq, 0, 3))).toBe(3);
  expect(store.audit.list(a.seq, { limit: 100 }).map(({ at }) => at)).toEqual([20, 18, 16, 14]);
  expect(store.audit.list(b.seq, { limit: 100 }).map(({ at }) => at)).toEqual([19, 17, 15, 13, 11, 9, 7]);
});
