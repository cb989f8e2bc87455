import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Token } from "../../../../src/observability/store/records.ts";
import { openTestObservabilityStore, type TestObservabilityStore } from "../../../support/observability.ts";

let it: TestObservabilityStore;

beforeEach(() => {
  it = openTestObservabilityStore();
});

afterEach(() => it.remove());

const token = (id: string, fields: Partial<Token> = {}): Token => ({
  ...{
    id,
    name: undefined,
    scopes: ["read"],
    apps: ["shop"],
    networks: ["10.0.0.0/8"],
    createdAt: 1,
    createdBy: "ana",
  },
  ...{ expiresAt: undefined, lastUsedAt: undefined, lastUsedIp: undefined, lastUsedAgent: undefined },
  revokedAt: undefined,
  ...fields,
});
const add = (...tokens: Token[]) =>
  it.store.write((nouns) => {
    for (const one of tokens) nouns.tokens.add(one, new Uint8Array(32));
  });
const ids = () => it.store.tokens.list().map(({ id }) => id);

test("a token comes back as it was stored, newest first", async () => {
  await add(token("aaaaaa"), token("bbbbbb", { createdAt: 2, name: "ci", expiresAt: 9 }));
  expect(it.store.tokens.list()).toEqual([
    token("bbbbbb", { createdAt: 2, name: "ci", expiresAt: 9 }),
    token("aaaaaa"),
  ]);
});

test("of ended tokens those that ended last are kept, and no good one goes", async () => {
  const times = [1, 2, 3].map((at) => token(`ended${at}`, { expiresAt: at * 10 }));
  await add(token("good00"), token("later0", { expiresAt: 1_000 }), ...times);
  await it.store.write(({ tokens }) => tokens.revoke("ended1", 100));
  expect(await it.store.write(({ tokens }) => tokens.trim(100, 2))).toBe(1);
  expect(ids().toSorted()).toEqual(["ended1", "ended3", "good00", "later0"]);
});

test("an end that is sooner stays", async () => {
  await add(token("aaaaaa", { expiresAt: 10 }), token("bbbbbb"));
  await it.store.write(({ tokens }) => {
    tokens.endBy("aaaaaa", 20);
    tokens.endBy("bbbbbb", 20);
  });
  expect(["aaaaaa", "bbbbbb"].map((id) => it.store.tokens.get(id)?.expiresAt)).toEqual([10, 20]);
});

test("the audit trail keeps the newest, and pages go on where the last one ended", async () => {
  await it.store.write(({ audit }) => {
    for (let at = 1; at <= 5; at += 1) {
      const actor = at % 2 === 0 ? "pat:aaaaaa" : "operator";
      const done = { actor, ip: undefined, action: "POST /x", target: "/x", params: { at: String(at) } };
      audit.append({ id: `e${at}`, at, ...done, outcome: "ok", durationMs: 1, requestId: "r" });
    }
  });
  expect(await it.store.write(({ audit }) => audit.trim(3, 100))).toBe(2);
  const first = it.store.audit.list({ limit: 2 });
  expect(first.map(({ id, params }) => [id, params])).toEqual([
    ["e5", { at: "5" }],
    ["e4", { at: "4" }],
  ]);
  expect(it.store.audit.list({ limit: 2, before: first[1]?.seq }).map(({ id }) => id)).toEqual(["e3"]);
  expect(it.store.audit.list({ limit: 9, actor: "pat:aaaaaa" }).map(({ id }) => id)).toEqual(["e4"]);
});

test("sessions that are over are dropped, and one ends once", async () => {
  const session = { token: "aaaaaa", owned: true, createdAt: 1, endedAt: undefined, ip: "::1", agent: "x" };
  await it.store.write(({ sessions }) => {
    sessions.add({ id: "short", expiresAt: 10, ...session });
    sessions.add({ id: "long", expiresAt: 100, ...session });
  });
  expect(it.store.sessions.count(5)).toBe(2);
  expect(await it.store.write(({ sessions }) => [sessions.end("long", 7), sessions.end("long", 8)])).toEqual([
    true,
    false,
  ]);
  expect(it.store.sessions.get("long")).toEqual({ id: "long", expiresAt: 100, ...session, endedAt: 7 });
  expect(await it.store.write(({ sessions }) => sessions.trim(10))).toBe(1);
  expect(it.store.sessions.get("short")).toBeUndefined();
});
