import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type IdentityWorld, identityWorld, type Tenant, withPublishable, withSecret } from "../../support/identity.ts";

let it: IdentityWorld;
let shop: Tenant;

beforeEach(async () => {
  it = identityWorld();
  shop = await it.tenant();
});

afterEach(() => it.close());

const secret = () => ({ headers: withSecret(shop) });
const verify = (token: unknown) => it.ask("POST /api/v1/tokens/verify", { ...secret(), body: { token } });

describe("POST /tokens/verify", () => {
  test("says whose token it is, and how its session stands", async () => {
    const { user, session, token } = await it.signedIn(shop);
    const { status, json } = await verify(token);
    const { jti } = claims(token);
    expect(status).toBe(200);
    expect(json).toEqual({
      id: jti,
      resource: "token",
      data: {
        valid: true,
        email: user.email,
        name: user.name,
        avatar_url: user.avatarUrl,
        provider: "google",
        session: {
          status: "active",
          session_id: session.sessionId,
          logged_in_at: "2026-01-01T00:00:00.000Z",
          last_activity_at: "2026-01-01T00:00:00.000Z",
        },
      },
    });
  });

  test("a token carries exactly the claims of the contract and three more, and lives an hour", async () => {
    const { user, session, token } = await it.signedIn(shop, { avatarUrl: undefined });
    expect(claims(token)).toEqual({
      iss: "service",
      sub: user.id,
      email: user.email,
      name: user.name,
      avatar_url: "",
      provider: "google",
      instance_id: shop.id,
      app_id: shop.entry().instance.appId,
      iat: it.clock.now() / 1000,
      exp: it.clock.now() / 1000 + 3600,
      session_id: session.sessionId,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email_verified: true,
    });
  });

  test("a sign-in with a password is `email` in tokens and `password` in sessions", async () => {
    const user = await it.user(shop);
    const session = await it.session(shop, user, { provider: "password" });
    const token = it.running.identity.tokens.issue({ entry: shop.entry(), user, session });
    expect(claims(token).provider).toBe("email");
    expect((await verify(token)).json).toMatchObject({ data: { provider: "email" } });
    const { json } = await it.ask(`GET /api/v1/sessions/${session.sessionId}`, secret());
    expect(json).toMatchObject({ data: { provider: "password" } });
  });

  test.each([
    ["no body", undefined],
    ["an empty body", ""],
    ["no token", {}],
    ["an empty token", { token: "" }],
    ["a token that is no string", { token: 7 }],
  ])("400 with %s", async (_name, body) => {
    const answer = await it.ask("POST /api/v1/tokens/verify", { ...secret(), body });
    expect([answer.status, answer.json]).toEqual([400, { error: "Missing token" }]);
  });

  test("401 for a token that is none", async () => {
    const answer = await verify("not.a.token");
    expect([answer.status, answer.json]).toEqual([401, { valid: false, error: "Token invalid signature" }]);
  });

  test("401 that says so for a token that another instance has really signed", async () => {
    const other = await it.tenant();
    const { token } = await it.signedIn(other);
    const answer = await verify(token);
    const error = "Token does not belong to this instance";
    expect([answer.status, answer.json]).toEqual([401, { valid: false, error }]);
  });

  test("401 from the second of its expiry", async () => {
    const { token } = await it.signedIn(shop);
    it.clock.moveTo(it.clock.now() + 3_600_000 - 1);
    expect((await verify(token)).status).toBe(200);
    it.clock.moveTo(it.clock.now() + 1);
    const answer = await verify(token);
    expect([answer.status, answer.json]).toEqual([401, { valid: false, error: "Token expired" }]);
  });

  test("404 for a user who was deleted, 401 for one who is banned", async () => {
    const { user, token } = await it.signedIn(shop);
    await it.context.store.write(({ users }) => users.update({ ...user, bannedAt: 1 }));
    const banned = await verify(token);
    expect([banned.status, banned.json]).toEqual([401, { valid: false, error: "User banned" }]);
    await it.ask(`DELETE /api/v1/users/${user.id}`, secret());
    const gone = await verify(token);
    expect([gone.status, gone.json]).toEqual([404, { error: "User not found" }]);
  });

  test("a revoked session is told, and fails where the instance wants it to", async () => {
    const { session, token } = await it.signedIn(shop);
    await it.ask(`DELETE /api/v1/sessions/${session.sessionId}`, secret());
    const told = await verify(token);
    expect(told.json).toMatchObject({
      data: { valid: true, session: { status: "revoked", revoked_at: "2026-01-01T00:00:00.000Z" } },
    });
    const { instance } = shop.entry();
    await it.context.store.write(({ instances }) =>
      instances.update({ ...instance, settings: { revoked_fails_verify: true } }),
    );
    const failed = await verify(token);
    expect([failed.status, failed.json]).toEqual([401, { valid: false, error: "Session revoked" }]);
  });

  test("401 before anything else, whatever the body", async () => {
    const answer = await it.ask("POST /api/v1/tokens/verify", { body: "{" });
    expect([answer.status, answer.json]).toEqual([401, { error: "Unauthorized" }]);
  });
});

describe("sessions", () => {
  test("one of them, to the letter", async () => {
    const { user, session } = await it.signedIn(shop);
    const { status, json } = await it.ask(`GET /api/v1/sessions/${session.sessionId}`, secret());
    expect(status).toBe(200);
    expect(session.sessionId).toMatch(
      /^svc_session_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(json).toEqual({
      id: session.id,
      resource: "session",
      data: {
        session_id: session.sessionId,
        user_id: user.id,
        provider: "google",
        name: user.name,
        email: user.email,
        ip_address: "203.0.113.7",
        geo_data: {},
        logged_in_at: "2026-01-01T00:00:00.000Z",
        last_signin_at: "2026-01-01T00:00:00.000Z",
        revoked_at: null,
        active: true,
      },
    });
  });

  test("404 for an unknown one, 401 without a key", async () => {
    const missing = await it.ask("GET /api/v1/sessions/svc_session_none", secret());
    expect([missing.status, missing.json]).toEqual([404, { error: "Session not found" }]);
    const closed = await it.ask("GET /api/v1/sessions/svc_session_none");
    expect([closed.status, closed.json]).toEqual([401, { error: "Unauthorized" }]);
  });

  test("all of them, most recent sign-in first, revoked ones included", async () => {
    const first = await it.signedIn(shop);
    it.clock.moveTo(it.clock.now() + 1_000);
    const second = await it.signedIn(shop);
    await it.ask(`DELETE /api/v1/sessions/${first.session.sessionId}`, secret());
    const { json } = await it.ask("GET /api/v1/sessions", secret());
    const shown = (json as { data: { session_id: string; active: boolean } }[]).map(({ data }) => [
      data.session_id,
      data.active,
    ]);
    expect(shown).toEqual([
      [second.session.sessionId, true],
      [first.session.sessionId, false],
    ]);
  });

  test("revoking answers what was revoked, and 422 the second time", async () => {
    const { session } = await it.signedIn(shop);
    const path = `DELETE /api/v1/sessions/${session.sessionId}`;
    const once = await it.ask(path, secret());
    expect([once.status, once.json]).toEqual([200, { revoked: true, session_id: session.sessionId }]);
    const twice = await it.ask(path, secret());
    expect([twice.status, twice.json]).toEqual([422, { error: "Session already revoked" }]);
    const none = await it.ask("DELETE /api/v1/sessions/none", secret());
    expect([none.status, none.json]).toEqual([404, { error: "Session not found" }]);
  });

  test("their settings, flat, with either key", async () => {
    const expected = {
      session_lifetime_hours: 720,
      session_idle_timeout_minutes: null,
      single_session_per_device: false,
      max_concurrent_sessions: 100,
    };
    for (const headers of [withSecret(shop), withPublishable(shop)]) {
      const { status, json } = await it.ask("GET /api/v1/session_config", { headers });
      expect([status, json]).toEqual([200, expected]);
    }
    expect((await it.ask("GET /api/v1/session_config")).status).toBe(401);
  });

  test("a user has at most 100 of them in a new instance, and any number after an explicit null", async () => {
    const told = async (tenant: Tenant) => {
      const { json } = await it.ask("GET /api/v1/session_config", { headers: withPublishable(tenant) });
      return (json as { max_concurrent_sessions: number }).max_concurrent_sessions;
    };
    const unlimited = await it.tenant({ max_concurrent_sessions: null } as object);
    const cases: [Tenant, number, number][] = [
      [shop, 100, 100],
      [await it.tenant({ max_concurrent_sessions: 3 }), 3, 3],
      [unlimited, 1_000, 105],
    ];
    for (const [tenant, shown, kept] of cases) {
      const user = await it.user(tenant);
      for (let n = 0; n < 105; n++) await it.session(tenant, user);
      expect([await told(tenant), it.context.store.sessions.active(user.seq).length]).toEqual([shown, kept]);
    }
    await it.running.identity.manage.instances.update(
      shop.id,
      { settings: { max_concurrent_sessions: null } },
      { actor: "ana" },
    );
    expect(await told(shop)).toBe(1_000);
    // As the rows of earlier versions stand: they say nothing.
    const before = await it.tenant();
    await it.context.store.write(({ instances }) => instances.update({ ...before.entry().instance, settings: {} }));
    const user = await it.user(before);
    for (let n = 0; n < 105; n++) await it.session(before, user);
    expect([await told(before), it.context.store.sessions.active(user.seq).length]).toEqual([1_000, 105]);
  });

  test("a name of any script comes back from its token, however long", async () => {
    const long = {
      name: "東".repeat(256),
      email: `${"a".repeat(240)}@b.test`,
      avatarUrl: `https://img.test/${"京".repeat(2_000)}`,
    };
    const { token } = await it.signedIn(shop, long);
    const [, payload = ""] = token.split(".");
    expect((JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))) as { name: string }).name).toBe(
      long.name,
    );
    const verified = await it.ask("POST /api/v1/tokens/verify", { headers: withSecret(shop), body: { token } });
    expect([verified.status, verified.json]).toMatchObject([200, { data: { name: long.name } }]);
  });
});

describe("users", () => {
  test("one of them, to the letter", async () => {
    const user = await it.user(shop, { avatarUrl: undefined, passwordHash: "$argon2id$x", emailVerifiedAt: undefined });
    const { status, json } = await it.ask(`GET /api/v1/users/${user.id}`, secret());
    expect(status).toBe(200);
    expect(json).toEqual({
      id: user.id,
      resource: "user",
      data: {
        email: user.email,
        name: user.name,
        avatar_url: null,
        email_verified: false,
        providers: ["password"],
        created_at: "2026-01-01T00:00:00.000Z",
      },
    });
  });

  test("404 for an unknown one, 401 in its own words without a key", async () => {
    const missing = await it.ask("GET /api/v1/users/none", secret());
    expect([missing.status, missing.json]).toEqual([404, { error: "User not found" }]);
    const closed = await it.ask("GET /api/v1/users/none");
    expect([closed.status, closed.json]).toEqual([401, { error: "Missing secret key" }]);
  });

  test("deleting takes sessions and tokens along", async () => {
    const { user, session } = await it.signedIn(shop);
    const gone = await it.ask(`DELETE /api/v1/users/${user.id}`, secret());
    expect([gone.status, gone.json]).toEqual([200, { deleted: true, id: user.id }]);
    expect((await it.ask(`GET /api/v1/sessions/${session.sessionId}`, secret())).status).toBe(404);
    const again = await it.ask(`DELETE /api/v1/users/${user.id}`, secret());
    expect([again.status, again.json]).toEqual([404, { error: "User not found" }]);
    const actions = it.context.store.audit.list(shop.entry().instance.seq, { limit: 10 }).map(({ action }) => action);
    expect(actions.slice(0, 2)).toEqual(["user.delete", "session.revoke"]);
  });

  test("all of them, newest first", async () => {
    const [first, second] = [await it.user(shop), await it.user(shop)];
    const { json } = await it.ask("GET /api/v1/users", secret());
    expect((json as { id: string }[]).map(({ id }) => id)).toEqual([second.id, first.id]);
    expect((await it.ask("GET /api/v1/users")).json).toEqual({ error: "Unauthorized" });
  });
});

describe("GET /instances/search", () => {
  const search = (query: string, headers = withPublishable(shop)) =>
    it.ask(`GET /api/v1/instances/search?query=${encodeURIComponent(query)}`, { headers });

  test("tells where an instance is, to whoever holds one of its keys", async () => {
    const query = `publishable_key:${shop.publishableKey}`;
    const expected = {
      id: shop.id,
      resource: "instance",
      data: { publishable_key: shop.publishableKey, url: `http://127.0.0.1:8688/i/${shop.id}`, subdomain: null },
    };
    for (const headers of [withPublishable(shop), withSecret(shop)]) {
      const { status, json } = await search(query, headers);
      expect([status, json]).toEqual([200, expected]);
    }
  });

  test("an instance with a host has an address of its own", async () => {
    const named = await it.tenant({}, "login.shop.test");
    const { json } = await search(`publishable_key:${named.publishableKey}`, withPublishable(named));
    expect(json).toMatchObject({ data: { url: "https://login.shop.test", subdomain: "login" } });
  });

  test("400 without a key in the query, 404 for an unknown one or another's, 401 without a key", async () => {
    const other = await it.tenant();
    for (const query of ["", "publishable_key:", "name:shop"]) {
      const { status, json } = await search(query);
      expect([status, json]).toEqual([400, { error: "publishable_key is required in query" }]);
    }
    for (const key of ["pk_live_none", other.publishableKey]) {
      const { status, json } = await search(`publishable_key:${key}`);
      expect([status, json]).toEqual([404, { error: "Instance not found" }]);
    }
    expect((await search("publishable_key:x", {} as ReturnType<typeof withPublishable>)).status).toBe(401);
  });
});

describe("what browsers and clients discover", () => {
  test("by host, and without DNS below /i/<instance>", async () => {
    const named = await it.tenant({}, "login.shop.test");
    const below = await it.ask(`GET /i/${shop.id}/.well-known/openid-configuration`);
    const url = `http://127.0.0.1:8688/i/${shop.id}`;
    expect([below.status, below.json]).toEqual([
      200,
      {
        issuer: url,
        authorization_endpoint: `${url}/oauth/authorize`,
        token_endpoint: `${url}/api/v1/tokens/verify`,
        userinfo_endpoint: `${url}/api/v1/users`,
        jwks_uri: `${url}/.well-known/jwks.json`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["HS256"],
      },
    ]);
    expect((await it.ask(`GET /i/${named.id}/.well-known/jwks.json`)).json).toEqual({ keys: [] });
    const unknown = await it.ask("GET /i/inst_none/.well-known/jwks.json");
    expect([unknown.status, unknown.json]).toEqual([404, { error: "Instance not found" }]);
  });
});

test("what does not exist is told as JSON", async () => {
  for (const request of ["GET /", "GET /api/v1/none", "POST /i/x/none"]) {
    const { status, json } = await it.ask(request, secret());
    expect([request, status, json]).toEqual([request, 404, { error: "Not found" }]);
  }
  for (const [request, allow] of [
    ["PUT /api/v1/users", "GET, HEAD"],
    ["GET /api/v1/tokens/verify", "POST"],
    ["DELETE /i/x/sign-in", "GET, HEAD, POST"],
  ] as const) {
    const { status, json, headers } = await it.ask(request, secret());
    expect([request, status, json]).toEqual([request, 405, { error: "Method not allowed" }]);
    expect(headers.get("allow")).toBe(allow);
  }
});

function claims(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;
}
