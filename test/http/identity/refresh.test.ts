import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identityLimits } from "../../../src/config/config.ts";
import { openIdentityStore } from "../../../src/identity/store/open-store.ts";
import type { TokenPair } from "../../../src/identity/service/refresh.ts";
import type { InstanceSettings } from "../../../src/identity/api/settings.ts";
import {
  type Answer,
  type IdentityWorld,
  identityWorld,
  type Tenant,
  withPublishable,
  withSecret,
} from "../../support/identity.ts";
import { testKey } from "../../support/store-root.ts";

let it: IdentityWorld;
let shop: Tenant;

beforeEach(async () => {
  it = identityWorld();
  shop = await it.tenant();
});

afterEach(() => it.close());

const post = (path: string, body: unknown, tenant = shop) =>
  it.ask(`POST /api/v1/sessions/${path}`, { headers: withPublishable(tenant), body });
const exchange = (token: string, tenant = shop) => post("exchange", { token }, tenant);
const refresh = (token: string, tenant = shop) => post("refresh", { refresh_token: token }, tenant);
const pairOf = ({ status, json }: Answer): TokenPair => {
  expect(status).toBe(200);
  return json as TokenPair;
};
const later = (ms: number) => it.clock.moveTo(it.clock.now() + ms);
const refused = (answer: Answer, error: string) => expect([answer.status, answer.json]).toEqual([401, { error }]);
const verify = (token: string) => it.ask("POST /api/v1/tokens/verify", { headers: withSecret(shop), body: { token } });
const change = (settings: InstanceSettings) => {
  const { instance } = shop.entry();
  return it.context.store.write(({ instances }) => instances.update({ ...instance, settings }));
};
const isActive = async (sessionId: string) => {
  const { json } = await it.ask(`GET /api/v1/sessions/${sessionId}`, { headers: withSecret(shop) });
  return (json as { data: { active: boolean } }).data.active;
};

test("after a leak of the key no refresh token is good any more, those of other instances are", async () => {
  const other = await it.tenant();
  const [ours, theirs] = [await it.signedIn(shop), await it.signedIn(other)];
  const first = pairOf(await exchange(ours.token));
  const second = pairOf(await exchange(theirs.token, other));
  await it.running.identity.manage.keys.rotate(shop.id, { now: true }, { actor: "ana" });
  refused(await refresh(first.refresh_token), "Invalid refresh token");
  pairOf(await refresh(second.refresh_token, other));
  // Who is signed in stays so, and gets new ones.
  const { session, user } = ours;
  pairOf(await exchange(it.running.identity.tokens.issue({ entry: shop.entry(), user, session })));
});

describe("exchange", () => {
  test("gives a pair for a sign-in token", async () => {
    const { session, token } = await it.signedIn(shop);
    const pair = pairOf(await exchange(token));
    expect(pair).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      refresh_token: expect.stringMatching(/^svc_rt_[\w-]{70}$/),
      token_type: "Bearer",
      expires_in: 900,
      session_id: session.sessionId,
    });
    expect((await verify(pair.access_token)).json).toMatchObject({ data: { session: { status: "active" } } });
    later(900_000);
    expect((await verify(pair.access_token)).json).toEqual({ valid: false, error: "Token expired" });
  });

  test("once; a repeat within the grace gets the same refresh token", async () => {
    const { token } = await it.signedIn(shop);
    const first = pairOf(await exchange(token));
    later(29_999);
    expect(pairOf(await exchange(token)).refresh_token).toBe(first.refresh_token);
    later(1);
    refused(await exchange(token), "Token already exchanged");
  });

  test("a repeat gets the newest refresh token, and after the grace the session goes on", async () => {
    const { token } = await it.signedIn(shop);
    const first = pairOf(await exchange(token));
    later(20_000);
    const second = pairOf(await refresh(first.refresh_token));
    expect(pairOf(await exchange(token)).refresh_token).toBe(second.refresh_token);
    later(10_000);
    refused(await exchange(token), "Token already exchanged");
    expect(pairOf(await refresh(first.refresh_token)).refresh_token).toBe(second.refresh_token);
    later(60_000);
    pairOf(await refresh(second.refresh_token));
  });

  test("not for an access token: it would prolong itself for ever", async () => {
    const { token } = await it.signedIn(shop);
    const { access_token } = pairOf(await exchange(token));
    refused(await exchange(access_token), "Token is not a sign-in token");
  });

  test("not for a token of another instance, a broken one, an expired one, or after the session", async () => {
    const other = await it.tenant();
    const { token, session } = await it.signedIn(shop);
    refused(await exchange(token, other), "Token does not belong to this instance");
    refused(await exchange("a.b.c"), "Token invalid signature");
    await it.ask(`DELETE /api/v1/sessions/${session.sessionId}`, { headers: withSecret(shop) });
    refused(await exchange(token), "Session is not active");
    later(3_600_000);
    refused(await exchange(token), "Token expired");
  });

  test("not for a banned user", async () => {
    const { user, token } = await it.signedIn(shop);
    await it.context.store.write(({ users }) => users.update({ ...user, bannedAt: 1 }));
    refused(await exchange(token), "Session is not active");
  });

  test("400 without a token, 401 without a publishable key, also with the secret one", async () => {
    const missing = await post("exchange", {});
    expect([missing.status, missing.json]).toEqual([400, { error: "Missing token" }]);
    const none = await it.ask("POST /api/v1/sessions/exchange", { headers: withSecret(shop), body: {} });
    expect([none.status, none.json]).toEqual([401, { error: "Unauthorized" }]);
  });
});

describe("refresh", () => {
  const start = async () => pairOf(await exchange((await it.signedIn(shop)).token));

  test("rotates, and moves the last activity", async () => {
    const first = await start();
    later(60_000);
    const second = pairOf(await refresh(first.refresh_token));
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(second.session_id).toBe(first.session_id);
    expect(second.access_token).not.toBe(first.access_token);
    const { json } = await verify(second.access_token);
    expect(json).toMatchObject({ data: { session: { last_activity_at: "2026-01-01T00:01:00.000Z" } } });
    pairOf(await refresh(second.refresh_token));
  });

  test("a lost answer is repeated within the grace with the same successor", async () => {
    const first = await start();
    const second = pairOf(await refresh(first.refresh_token));
    later(29_999);
    expect(pairOf(await refresh(first.refresh_token)).refresh_token).toBe(second.refresh_token);
  });

  test("two at the same time get the same successor", async () => {
    const first = await start();
    const both = await Promise.all([refresh(first.refresh_token), refresh(first.refresh_token)]);
    const [one, two] = both.map((answer) => pairOf(answer).refresh_token);
    expect(one).toBe(two as string);
  });

  test("a spent token that returns later ends the session and all that came of it", async () => {
    const first = await start();
    const second = pairOf(await refresh(first.refresh_token));
    later(30_000);
    refused(await refresh(first.refresh_token), "Invalid refresh token");
    refused(await refresh(second.refresh_token), "Invalid refresh token");
    expect(await isActive(first.session_id)).toBe(false);
    const [entry] = it.context.store.audit.list(shop.entry().instance.seq, { limit: 1 });
    expect([entry?.action, entry?.detail]).toEqual(["session.revoke", { reason: "reuse" }]);
  });

  test("one that returns within the grace gets the newest, however far its successors have come", async () => {
    const first = await start();
    const second = pairOf(await refresh(first.refresh_token));
    later(10_000);
    const third = pairOf(await refresh(second.refresh_token));
    expect(new Set([first, second, third].map((pair) => pair.refresh_token)).size).toBe(3);
    later(19_999);
    expect(pairOf(await refresh(first.refresh_token)).refresh_token).toBe(third.refresh_token);
    expect(pairOf(await refresh(second.refresh_token)).refresh_token).toBe(third.refresh_token);
  });

  test("one that was spent longer ago ends the session, also right after a rotation", async () => {
    const first = await start();
    const second = pairOf(await refresh(first.refresh_token));
    later(29_000);
    pairOf(await refresh(second.refresh_token));
    later(1_000);
    refused(await refresh(first.refresh_token), "Invalid refresh token");
    expect(await isActive(first.session_id)).toBe(false);
  });

  test("a token that several requests got is held while their answers may be on their way", async () => {
    const first = await start();
    const second = pairOf(await refresh(first.refresh_token));
    for (const token of [first, second, first, second]) {
      later(5_000);
      expect(pairOf(await refresh(token.refresh_token)).refresh_token).toBe(second.refresh_token);
    }
    later(30_000);
    const third = pairOf(await refresh(second.refresh_token));
    expect(third.refresh_token).not.toBe(second.refresh_token);
  });

  test("a session whose token is held is not idle", async () => {
    await change({ session_idle_timeout_minutes: 1 });
    const first = await start();
    const second = pairOf(await refresh(first.refresh_token));
    pairOf(await refresh(first.refresh_token));
    for (let n = 0; n < 10; n++) {
      later(25_000);
      expect(pairOf(await refresh(second.refresh_token)).refresh_token).toBe(second.refresh_token);
    }
  });

  test("what was spent is known after a restart of the server", async () => {
    const first = await start();
    const second = pairOf(await refresh(first.refresh_token));
    later(1_000);
    const third = pairOf(await refresh(second.refresh_token));
    const reopened = openIdentityStore({ path: it.path, key: testKey });
    const chain = Buffer.from(first.refresh_token.slice(-70), "base64url").subarray(0, 16);
    const stored = reopened.refreshChains.get(chain);
    reopened.close();
    expect(stored).toEqual(it.context.store.refreshChains.get(chain));
    expect(stored?.spent).toHaveLength(3);
    expect(pairOf(await refresh(first.refresh_token)).refresh_token).toBe(third.refresh_token);
  });

  test("however often it is refreshed, a bounded number of first uses is kept", async () => {
    let pair = await start();
    for (let n = 0; n < 700; n++) pair = pairOf(await refresh(pair.refresh_token));
    const chain = Buffer.from(pair.refresh_token.slice(-70), "base64url").subarray(0, 16);
    expect(it.context.store.refreshChains.get(chain)?.spent).toHaveLength(600);
    later(30_000);
    pair = pairOf(await refresh(pair.refresh_token));
    expect(it.context.store.refreshChains.get(chain)?.spent).toHaveLength(1);
  });

  test.each([["nothing"], ["svc_rt_"], ["x".repeat(10_000)], ["\u0000"], ["svc_rt_'; drop table sessions; --"]])(
    "%p is refused and harms nobody",
    async (token) => {
      const first = await start();
      refused(await refresh(token), "Invalid refresh token");
      expect(await isActive(first.session_id)).toBe(true);
    },
  );

  test("a token of another instance is none, and its session stays", async () => {
    const first = await start();
    const other = await it.tenant();
    refused(await refresh(first.refresh_token, other), "Invalid refresh token");
    expect((await post("revoke", { refresh_token: first.refresh_token }, other)).status).toBe(204);
    expect(await isActive(first.session_id)).toBe(true);
    pairOf(await refresh(first.refresh_token));
  });

  test("ends with the session: its lifetime, idleness, revocation, ban, deletion", async () => {
    await change({ session_lifetime_hours: 2, session_idle_timeout_minutes: 60 });
    const old = await start();
    later(59 * 60_000);
    const kept = pairOf(await refresh(old.refresh_token));
    const idle = await start();
    later(60 * 60_000);
    refused(await refresh(idle.refresh_token), "Invalid refresh token");
    refused(await refresh(kept.refresh_token), "Invalid refresh token");

    const { user, token } = await it.signedIn(shop);
    const banned = pairOf(await exchange(token));
    await it.context.store.write(({ users }) => users.update({ ...user, bannedAt: 1 }));
    refused(await refresh(banned.refresh_token), "Invalid refresh token");
    await it.ask(`DELETE /api/v1/users/${user.id}`, { headers: withSecret(shop) });
    refused(await refresh(banned.refresh_token), "Invalid refresh token");
  });

  test("a session that reached its lifetime ends although it was never idle", async () => {
    await change({ session_lifetime_hours: 1 });
    let pair = await start();
    for (let minutes = 0; minutes < 50; minutes += 10) {
      later(10 * 60_000);
      pair = pairOf(await refresh(pair.refresh_token));
    }
    later(10 * 60_000);
    refused(await refresh(pair.refresh_token), "Invalid refresh token");
  });

  test("a prefix that changes on the way harms no token", async () => {
    const first = await start();
    await change({ refresh_token_prefix: "clk_rt_" });
    const second = pairOf(await refresh(first.refresh_token));
    expect(second.refresh_token).toStartWith("clk_rt_");
    expect(pairOf(await refresh(first.refresh_token)).refresh_token).toBe(second.refresh_token);
  });

  test("no token is stored in any form, nor logged", async () => {
    const first = await start();
    const second = pairOf(await refresh(first.refresh_token));
    const copy = join(tmpdir(), `refresh-${crypto.randomUUID()}.db`);
    it.context.store.copyTo(copy);
    const file = Buffer.from(await Bun.file(copy).arrayBuffer());
    await Bun.file(copy).delete();
    for (const { refresh_token } of [first, second]) {
      const body = refresh_token.slice(-70);
      // The last 32 bytes are the secret of it.
      const mac = Buffer.from(body, "base64url").subarray(-32);
      expect([file.includes(body), file.includes(mac), it.logged.join("\n").includes(body)]).toEqual([
        false,
        false,
        false,
      ]);
    }
  });

  test("a token of a chain that was put back to an earlier time is refused and harms nobody", async () => {
    const first = await start();
    const second = pairOf(await refresh(first.refresh_token));
    const chain = Buffer.from(first.refresh_token.slice(-70), "base64url").subarray(0, 16);
    const known = it.context.store.refreshChains.get(chain);
    if (known === undefined) throw new Error("no chain");
    await it.context.store.write(({ refreshChains }) => {
      refreshChains.burn(known.session);
      refreshChains.add({ ...known, generation: 0 });
    });
    refused(await refresh(second.refresh_token), "Invalid refresh token");
    expect(await isActive(first.session_id)).toBe(true);
  });

  test("one that names the chain of another, or a later place in it, is no token of ours", async () => {
    const [mine, theirs] = [await start(), await start()];
    const body = (pair: TokenPair) => Buffer.from(pair.refresh_token.slice(-70), "base64url");
    const swapped = Buffer.concat([body(theirs).subarray(0, 20), body(mine).subarray(20)]);
    const further = Buffer.from(body(mine));
    further.writeUInt32BE(1, 16);
    const anonymous = Buffer.concat([body(mine).subarray(0, 20), Buffer.alloc(32)]);
    for (const forged of [swapped, further, anonymous]) {
      refused(await refresh(`svc_rt_${forged.toString("base64url")}`), "Invalid refresh token");
      expect((await post("revoke", { refresh_token: `svc_rt_${forged.toString("base64url")}` })).status).toBe(204);
    }
    for (const pair of [mine, theirs]) expect(await isActive(pair.session_id)).toBe(true);
  });

  test("signing in again on a device opens a chain of its own beside the first", async () => {
    const { user, session, token } = await it.signedIn(shop);
    const first = pairOf(await exchange(token));
    const second = pairOf(await exchange(it.running.identity.tokens.issue({ entry: shop.entry(), user, session })));
    expect(second.session_id).toBe(first.session_id);
    for (const pair of [first, second]) pairOf(await refresh(pair.refresh_token));
  });

  test.each([
    ["refresh", "refresh_token", 401],
    ["exchange", "token", 401],
    ["revoke", "refresh_token", 204],
  ] as const)(
    "%s: 429 with the time to wait after too many wrong ones; right ones go on",
    async (path, field, status) => {
      const pair = await start();
      const { token } = await it.signedIn(shop);
      const missing = await post(path, {});
      expect(missing.status).toBe(400);
      for (let count = 1; count < 120; count += 1) expect((await post(path, { [field]: "none" })).status).toBe(status);
      const limited = await post(path, { [field]: "none" });
      expect([limited.status, limited.json]).toEqual([429, { error: "Too many requests" }]);
      expect(limited.headers.get("retry-after")).toBe("60");
      expect((await post(path, {})).status).toBe(429);
      pairOf(await exchange(token));
      const next = pairOf(await refresh(pair.refresh_token));
      expect((await post("revoke", { refresh_token: next.refresh_token })).status).toBe(204);
      expect(await isActive(pair.session_id)).toBe(false);
    },
  );

  test("right tokens count for their session, and for no other", async () => {
    const [mine, theirs] = [await start(), await start()];
    const { max } = identityLimits.rates.rates.session;
    // The exchange was the first of them.
    const session = it.context.store.sessions.get(shop.entry().instance.seq, mine.session_id);
    for (let n = 1; n < max; n++) it.context.rateLimits.take("session", String(session?.seq));
    const limited = await refresh(mine.refresh_token);
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "60"]);
    pairOf(await refresh(theirs.refresh_token));
    later(60_000);
    pairOf(await refresh(mine.refresh_token));
  });

  test("a token that is not ours costs no write", async () => {
    const write = spyOn(it.context.store, "write");
    refused(await refresh(`svc_rt_${"A".repeat(70)}`), "Invalid refresh token");
    expect((await post("revoke", { refresh_token: `svc_rt_${"A".repeat(70)}` })).status).toBe(204);
    expect(write).toHaveBeenCalledTimes(0);
  });
});

describe("revoke", () => {
  test("ends the session of any of its tokens, spent ones too; unknown ones are none", async () => {
    const first = pairOf(await exchange((await it.signedIn(shop)).token));
    const second = pairOf(await refresh(first.refresh_token));
    const answer = await post("revoke", { refresh_token: first.refresh_token });
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(await isActive(first.session_id)).toBe(false);
    refused(await refresh(second.refresh_token), "Invalid refresh token");
    expect((await post("revoke", { refresh_token: "none" })).status).toBe(204);
    const missing = await post("revoke", {});
    expect([missing.status, missing.json]).toEqual([400, { error: "Missing refresh token" }]);
  });
});

describe("how many sessions a user may have", () => {
  test("a sign-in beyond the cap ends the oldest", async () => {
    await change({ max_concurrent_sessions: 2 });
    const user = await it.user(shop);
    const sessions = [];
    for (let count = 0; count < 3; count += 1) {
      sessions.push(await it.session(shop, user));
      later(1_000);
    }
    const states = await Promise.all(sessions.map(({ sessionId }) => isActive(sessionId)));
    expect(states).toEqual([false, true, true]);
  });

  test("a sign-in on a device ends its earlier one, and no other", async () => {
    await change({ single_session_per_device: true });
    const user = await it.user(shop);
    const first = await it.session(shop, user, { device: "aa" });
    const elsewhere = await it.session(shop, user, { device: "bb" });
    const second = await it.session(shop, user, { device: "aa" });
    const states = await Promise.all([first, elsewhere, second].map(({ sessionId }) => isActive(sessionId)));
    expect(states).toEqual([false, true, true]);
  });
});
