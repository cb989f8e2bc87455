import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { audit, auditAttempt } from "../../../../src/identity/service/audit.ts";
import type { Instance } from "../../../../src/identity/store/records.ts";
import { openTestIdentityStore, putInstance, type TestIdentityStore } from "../../../support/identity-store.ts";

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

describe("attempts of strangers", () => {
  const limits = { attemptWindowMs: 1_000, attemptsMax: 5 };
  const details = (instance: Instance) =>
    at.store.audit.list(instance.seq, { limit: 100 }).map(({ email, ipAddress, detail }) => [email, ipAddress, detail]);
  const attempt = (instance: Instance, now: number, fields: { email?: string; ip?: string; why?: string } = {}) => {
    const { email = "ana@x.test", ip = "10.0.0.1", why = "wrong" } = fields;
    const act = {
      instance,
      actor: "user",
      action: "signin.fail",
      provider: "password",
      email,
      ip,
      detail: { why },
      now,
    };
    return at.store.write((nouns) => auditAttempt(nouns, act, limits));
  };

  test("what says the same, from the same client, is one entry with a count", async () => {
    const instance = await at.store.write((nouns) => putInstance(nouns, "a"));
    for (let n = 0; n < 200; n++) await attempt(instance, 100 + n);
    const last_at = new Date(299).toISOString();
    expect(details(instance)).toEqual([["ana@x.test", "10.0.0.1", { why: "wrong", times: 200, last_at }]]);
    await attempt(instance, 300, { ip: "10.0.0.2" });
    await attempt(instance, 300, { email: "bob@x.test" });
    await attempt(instance, 300, { why: "banned" });
    expect(details(instance)).toHaveLength(4);
  });

  test("an IPv6 /64 is one client", async () => {
    const instance = await at.store.write((nouns) => putInstance(nouns, "a"));
    for (let n = 0; n < 9; n++) await attempt(instance, 100 + n, { ip: `2001:db8::${n}` });
    expect(details(instance)).toMatchObject([["ana@x.test", "2001:db8::0", { times: 9 }]]);
  });

  test("too many different ones are one entry for all, that names nobody", async () => {
    const [a, b] = await at.store.write((nouns) => [putInstance(nouns, "a"), putInstance(nouns, "b")] as const);
    for (let n = 0; n < 50; n++) await attempt(a, 100 + n, { email: `u${n}@x.test`, ip: `10.0.0.${n}` });
    const kept = details(a);
    expect(kept).toHaveLength(6);
    expect(kept[0]).toMatchObject([undefined, undefined, { times: 45 }]);
    await attempt(a, 200, { email: "u3@x.test", ip: "10.0.0.3" });
    expect(details(a)[2]).toMatchObject(["u3@x.test", "10.0.0.3", { times: 2 }]);
    await attempt(b, 200);
    expect(details(b)).toEqual([["ana@x.test", "10.0.0.1", { why: "wrong" }]]);
  });

  test("later ones are entries of their own again", async () => {
    const instance = await at.store.write((nouns) => putInstance(nouns, "a"));
    for (let n = 0; n < 20; n++) await attempt(instance, 100 + n, { email: `u${n}@x.test` });
    await attempt(instance, 5_000);
    expect(details(instance)[0]).toEqual(["ana@x.test", "10.0.0.1", { why: "wrong" }]);
  });
});
