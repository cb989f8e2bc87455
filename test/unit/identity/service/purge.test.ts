import { afterEach, beforeEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { audit } from "../../../../src/identity/service/audit.ts";
import { purge, runPurge } from "../../../../src/identity/service/purge.ts";
import { type IdentityWorld, identityWorld } from "../../../support/identity.ts";
import { identityLimits } from "../../../../src/config/config.ts";

let it: IdentityWorld;
const never = new AbortController().signal;
const day = 24 * 3_600_000;

beforeEach(() => {
  const bounds = { rowsMax: 2, endedSessionsMs: 90 * day, revokedSessionsKept: 3, mailsMs: day, changesKept: 5 };
  it = identityWorld({ auditKept: 4, purge: { ...identityLimits.purge, ...bounds } });
});
afterEach(() => it.close());

function count(table: string): number {
  const db = new Database(it.path, { readonly: true });
  try {
    return db.query<{ rows: number }, []>(`select count(*) as rows from ${table}`).get()?.rows ?? 0;
  } finally {
    db.close();
  }
}

test("what has run out goes, what has not stays", async () => {
  const shop = await it.tenant();
  const { user, session } = await it.signedIn(shop);
  const now = it.clock.now();
  const hash = (byte: number) => new Uint8Array(32).fill(byte);
  await it.context.store.write((nouns) => {
    for (const n of [1, 2, 3, 4, 5]) {
      const expiresAt = n <= 3 ? now : now + 1;
      const instance = user.instance;
      nouns.refreshChains.add({
        id: hash(n),
        session: session.seq,
        generation: 0,
        spent: [1],
        sharedAt: undefined,
        expiresAt,
        createdAt: 1,
      });
      nouns.browsers.put({ hash: hash(n), instance, session: session.seq, createdAt: 1, expiresAt });
    }
  });
  await purge(it.context, it.clock.now(), never);
  expect([count("refresh_chains"), count("browsers")]).toEqual([2, 2]);
  it.clock.moveTo(it.clock.steady() + 1);
  await purge(it.context, it.clock.now(), never);
  expect([count("refresh_chains"), count("browsers"), count("sessions")]).toEqual([0, 0, 1]);
});

test("sessions go a while after they ended, and revoked ones beyond their number sooner", async () => {
  const shop = await it.tenant();
  const { user } = await it.signedIn(shop);
  for (let n = 0; n < 6; n++) {
    const session = await it.session(shop, user);
    it.clock.moveTo(it.clock.steady() + 1);
    const revoked = { ...session, revokedAt: it.clock.now(), revokeReason: "signed_out" };
    await it.context.store.write(({ sessions }) => sessions.update(revoked));
  }
  await purge(it.context, it.clock.now(), never);
  expect(count("sessions")).toBe(1 + 3);
  it.clock.moveTo(it.clock.steady() + 90 * day + 10);
  await purge(it.context, it.clock.now(), never);
  expect(count("sessions")).toBe(1);
  it.clock.moveTo(it.clock.steady() + 60 * day);
  await purge(it.context, it.clock.now(), never);
  expect(count("sessions")).toBe(0);
  expect(count("users")).toBe(1);
});

test("the audit trail keeps the newest of each instance", async () => {
  const [a, b] = [await it.tenant(), await it.tenant()];
  await it.context.store.write((nouns) => {
    for (let now = 1; now <= 9; now++) audit(nouns, { instance: a.entry().instance, actor: "x", action: "x", now });
    audit(nouns, { instance: b.entry().instance, actor: "x", action: "x", now: 1 });
  });
  await purge(it.context, it.clock.now(), never);
  const times = (seq: number) => it.context.store.audit.list(seq, { limit: 100 }).map(({ at }) => at);
  expect(times(a.entry().instance.seq)).toEqual([9, 8, 7, 6]);
  expect(times(b.entry().instance.seq)).toContain(1);
});

test("changes that nobody takes into an index do not pile up", async () => {
  const shop = await it.tenant();
  const { user } = await it.signedIn(shop);
  for (let n = 0; n < 9; n++) await it.context.store.write(({ users }) => users.update({ ...user, name: `Ana ${n}` }));
  expect(count("search_changes")).toBe(9);
  await purge(it.context, it.clock.now(), never);
  expect(count("search_changes")).toBe(5);
});

test("a clock that is a year ahead for an hour removes no session", async () => {
  const shop = await it.tenant();
  const { session } = await it.signedIn(shop);
  const over = new AbortController();
  const running = runPurge(it.context, over.signal);
  it.clock.jump(366 * day);
  for (let minute = 0; minute < 60; minute++) {
    it.clock.moveTo(it.clock.nextDue() ?? it.clock.steady());
    await Bun.sleep(0);
  }
  it.clock.jump(-366 * day);
  expect(it.context.store.sessions.bySeq(session.seq)).toBeDefined();
  over.abort();
  await running;
});
