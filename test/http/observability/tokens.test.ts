import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { waitFor } from "../../support/wait.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

let it: PlaneWorld;

beforeEach(() => {
  it = planeWorld();
});

afterEach(() => it.close());

const idOf = (token: string) => token.slice(4, 10);

test("a token is made with 201 and shown once", async () => {
  const made = await it.manage("POST /pats", { scopes: ["actions", "read", "read"], name: " ci " });
  expect(made.status).toBe(201);
  expect(made.headers.get("cache-control")).toBe("no-store");
  const { token, record } = made.data as { token: string; record: Record<string, unknown> };
  expect(token).toMatch(/^pat_[A-Za-z0-9][A-Za-z0-9_-]{27}$/);
  expect(record).toEqual({
    id: idOf(token),
    scopes: ["read", "actions"],
    name: "ci",
    apps: [],
    cidr: [],
    created_at: "2026-01-01T00:00:00.000Z",
    created_by: "operator",
  });
  const list = await it.manage("GET /pats");
  expect(list.data).toEqual({ pats: [record] });
  expect(list.text).not.toContain(token);
  expect(JSON.stringify(it.lines)).not.toContain(token);
});

test("the database holds neither the token nor its secret part", async () => {
  const token = await it.token();
  const stored = it.store.tokens.withHash(idOf(token));
  expect(stored?.hash).toHaveLength(32);
  expect(JSON.stringify(stored?.token)).not.toContain(token.slice(10));
});

test.each([
  [{}, "scopes: is required"],
  [{ scopes: [] }, "scopes: is empty: name at least one of read, actions"],
  [{ scopes: ["write"] }, 'scopes[0]: "write" is not a scope'],
  [{ scopes: ["read"], expires: "soon" }, 'expires: "soon" is not a time'],
  [{ scopes: ["read"], expires: "2020-01-01T00:00:00Z" }, "is not in the future"],
  [{ scopes: ["read"], expires: "9999d" }, "is more than ten years away"],
  [{ scopes: ["read"], apps: ["a/b/c"] }, 'apps[0]: "a/b/c" is not scope or scope/name'],
  [{ scopes: ["read", "admin"], apps: ["shop"] }, 'scopes: "admin" is for the whole server'],
  [{ scopes: ["read"], cidr: ["10.0.0.0/99"] }, 'cidr[0]: "10.0.0.0/99" is not an address'],
  [{ scopes: ["read"], name: "x".repeat(201) }, "name: is longer than 200 characters"],
  [{ scopes: ["read"], name: "a\nb" }, "name: holds control characters"],
  [{ scopes: ["read"], expiry: "1d" }, "expiry: unknown field"],
  ["not json", "body line 1"],
])("%j is refused with 400", async (body, error) => {
  const answer = await it.manage("POST /pats", body);
  expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(error)]);
});

test("whoami tells what a token may do", async () => {
  const token = await it.token(["read"], { name: "ci", expires: "1h", apps: ["shop/*"] });
  const answer = await it.ask("GET /whoami", { token });
  expect(answer.status).toBe(200);
  expect(answer.data).toEqual({
    id: idOf(token),
    name: "ci",
    scopes: ["read"],
    apps: ["shop/*"],
    expires_at: "2026-01-01T01:00:00.000Z",
  });
});

test("the plane describes itself, each route with its scope", async () => {
  const answer = await it.ask("GET /openapi.json", { token: await it.token() });
  const { openapi, paths } = JSON.parse(answer.text) as {
    openapi: string;
    paths: Record<string, Record<string, { summary: string; security: unknown }>>;
  };
  expect(openapi).toBe("3.1.0");
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  expect(operations).toHaveLength(it.app.endpoints.length);
  for (const { security } of operations) expect(security).toEqual([{ token: [] }]);
  expect(paths["/api/pat/v1/pats/{id}"]?.delete?.summary).toEndWith("(scope admin)");
});

test("every wrong token gets the same 401, and tells no path that exists", async () => {
  const token = await it.token();
  const wrong = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
  const unknown = `pat_zzzzzz${token.slice(10)}`;
  const headers: Record<string, string>[] = [
    {},
    { Authorization: token },
    { Authorization: `Basic ${token}` },
    { Authorization: "Bearer pat_short" },
    { Authorization: `Bearer ${unknown}` },
    { Authorization: `Bearer ${wrong}` },
    { Authorization: `Bearer ${token} ${token}` },
  ];
  for (const path of ["GET /whoami", "GET /nothing", "POST /whoami"]) {
    for (const header of headers) {
      it.peer.ip = `192.0.2.${headers.indexOf(header) + 10}`;
      const answer = await it.ask(path, { headers: header });
      expect([answer.status, answer.error]).toEqual([401, "invalid or expired token"]);
      expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="berth"');
    }
  }
  expect((await it.ask("GET /whoami", { headers: { Authorization: `bEaReR ${token}` } })).status).toBe(200);
});

test("a token in the query opens nothing", async () => {
  const token = await it.token();
  expect((await it.ask(`GET /whoami?access_token=${token}&token=${token}`)).status).toBe(401);
  expect(it.lines.join("")).not.toContain(token);
});

test("with a token, unknown paths are 404 and other methods 405, in the envelope", async () => {
  const token = await it.token();
  const missing = await it.ask("GET /nothing", { token });
  expect([missing.status, missing.error]).toEqual([
    404,
    expect.stringContaining('"/api/pat/v1/nothing" does not exist'),
  ]);
  const method = await it.ask("POST /whoami", { token });
  expect([method.status, method.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect(method.error).toContain("method POST is not allowed");
  expect((await it.ask("GET /")).status).toBe(404);
});

test("HEAD answers as GET does, without a body", async () => {
  const token = await it.token();
  const answer = await it.ask("HEAD /whoami", { token });
  expect([answer.status, answer.text]).toEqual([200, ""]);
  expect((await it.ask("HEAD /whoami")).status).toBe(401);
});

test("an expired token is refused, and one that was revoked", async () => {
  const short = await it.token(["read"], { expires: "1m" });
  const long = await it.token();
  it.clock.moveTo(it.clock.steady() + 60_000);
  expect((await it.ask("GET /whoami", { token: short })).status).toBe(401);
  expect((await it.ask("GET /whoami", { token: long })).status).toBe(200);
  const revoked = await it.manage(`DELETE /pats/${idOf(long)}`);
  expect([revoked.status, revoked.data.id]).toEqual([200, idOf(long)]);
  expect((await it.ask("GET /whoami", { token: long })).status).toBe(401);
  expect((await it.manage("GET /pats")).data).toEqual({ pats: [] });
  expect(((await it.manage("GET /pats?all=true")).data.pats as unknown[]).length).toBe(2);
  expect((await it.manage(`GET /pats/${idOf(long)}`)).data.pat).toMatchObject({ revoked_at: expect.any(String) });
});

test("a token is good from its networks alone", async () => {
  const token = await it.token(["read"], { cidr: ["192.0.2.0/24", "2001:db8::/32"] });
  for (const [ip, status] of [
    ["192.0.2.9", 200],
    ["198.51.100.1", 401],
    ["2001:db8::5", 200],
    ["2001:db9::5", 401],
    ["::ffff:192.0.2.9", 200],
  ] as const) {
    it.peer.ip = ip;
    expect([ip, (await it.ask("GET /whoami", { token })).status]).toEqual([ip, status]);
  }
});

test("the address behind a trusted proxy counts, and only behind one", async () => {
  const token = await it.token(["read"], { cidr: ["203.0.113.7"] });
  const headers = { "X-Forwarded-For": "203.0.113.7" };
  expect((await it.ask("GET /whoami", { token, headers })).status).toBe(401);
  it.peer.ip = "127.0.0.1";
  expect((await it.ask("GET /whoami", { token, headers })).status).toBe(200);
});

test("the last use is noted once a minute, and never brings a revoked token back", async () => {
  const token = await it.token();
  const use = async (agent: string) => it.ask("GET /whoami", { token, headers: { "User-Agent": agent } });
  await use("one");
  const noted = () => it.store.tokens.get(idOf(token));
  await waitFor("the first use", () => noted()?.lastUsedAgent === "one");
  await use("two");
  it.clock.moveTo(it.clock.steady() + 60_000);
  await use("three");
  await waitFor("the third use", () => noted()?.lastUsedAgent === "three");
  expect(noted()).toMatchObject({ lastUsedIp: "192.0.2.1", lastUsedAt: it.clock.now() });
  await it.manage(`DELETE /pats/${idOf(token)}`);
  await it.store.write(({ tokens }) => tokens.touch(idOf(token), { at: 1, ip: "x", agent: "late" }));
  expect(noted()).toMatchObject({ lastUsedAgent: "three", revokedAt: it.clock.now() });
});

test("a rotated token keeps its terms, and the old one its grace", async () => {
  const token = await it.token(["read", "exec"], { name: "ci", apps: ["shop"], cidr: ["192.0.2.1"], expires: "7d" });
  const made = await it.manage(`POST /pats/${idOf(token)}/rotate`, { grace: "10m" });
  expect(made.status).toBe(201);
  const { record, token: next } = made.data as { record: Record<string, unknown>; token: string };
  expect(record).toMatchObject({ name: "ci", scopes: ["read", "exec"], apps: ["shop"], cidr: ["192.0.2.1"] });
  expect(record.expires_at).toBe("2026-01-08T00:00:00.000Z");
  expect((await it.ask("GET /whoami", { token })).status).toBe(200);
  it.clock.moveTo(it.clock.steady() + 600_000);
  expect((await it.ask("GET /whoami", { token })).status).toBe(401);
  expect((await it.ask("GET /whoami", { token: next })).status).toBe(200);
  const again = await it.manage(`POST /pats/${idOf(token)}/rotate`, {});
  expect([again.status, again.error]).toEqual([409, expect.stringContaining("has ended")]);
  const odd = await it.manage(`POST /pats/${idOf(next)}/rotate`, { grace: "soon" });
  expect([odd.status, odd.error]).toEqual([400, expect.stringContaining('grace: "soon" is not a duration')]);
});

test("an id that is unknown is a 404 that repeats no token", async () => {
  const token = await it.token();
  for (const request of ["GET", "DELETE"]) {
    const answer = await it.manage(`${request} /pats/zzzzzz`);
    expect([answer.status, answer.error]).toEqual([404, expect.stringContaining('there is no token "zzzzzz"')]);
    const whole = await it.manage(`${request} /pats/${token}`);
    expect([whole.status, whole.text.includes(token)]).toEqual([404, false]);
  }
});

test("managing tokens on the plane needs admin, and there is no way to make one", async () => {
  const reader = await it.token(["read", "actions"]);
  const admin = await it.token(["admin"]);
  const refused = await it.ask("GET /pats", { token: reader });
  expect([refused.status, refused.error]).toEqual([403, "insufficient scope: requires admin"]);
  expect((await it.ask(`DELETE /pats/${idOf(admin)}`, { token: reader })).status).toBe(403);
  expect(((await it.ask("GET /pats", { token: admin })).data.pats as unknown[]).length).toBe(2);
  expect((await it.ask("POST /pats", { token: admin, body: { scopes: ["read"] } })).status).toBe(405);
  expect((await it.ask(`DELETE /pats/${idOf(reader)}`, { token: admin })).status).toBe(200);
  expect((await it.ask("GET /whoami", { token: reader })).status).toBe(401);
});

test("who made, rotated and revoked a token is on record", async () => {
  const id = idOf(await it.token());
  await it.manage(`POST /pats/${id}/rotate`, {});
  await it.manage(`DELETE /pats/${id}`);
  await it.manage(`DELETE /pats/${id}`);
  const entries = it.store.audit.list({ limit: 10 });
  expect(entries.map(({ actor, action, target, outcome }) => [actor, action, target, outcome])).toEqual([
    ["operator", "DELETE /pats/:id", `/pats/${id}`, "ok"],
    ["operator", "POST /pats/:id/rotate", `/pats/${id}/rotate`, "ok"],
    ["operator", "POST /pats", `/pats/${id}`, "ok"],
  ]);
});

test("what changes something is on record with the token's id, also when it is refused", async () => {
  const admin = await it.token(["admin"]);
  const reader = await it.token();
  await it.ask(`DELETE /pats/${idOf(admin)}`, { token: reader });
  await it.ask("DELETE /pats/zzzzzz", { token: admin });
  await it.ask("GET /whoami", { token: admin });
  const [second, first, ...made] = it.store.audit.list({ limit: 10 });
  expect(first).toMatchObject({
    actor: `pat:${idOf(reader)}`,
    ip: "192.0.2.1",
    action: "DELETE /api/pat/v1/pats/:id",
    target: `/api/pat/v1/pats/${idOf(admin)}`,
    outcome: "status 403",
  });
  expect(second).toMatchObject({ actor: `pat:${idOf(admin)}`, outcome: "status 404" });
  expect(made.map(({ action }) => action)).toEqual(["POST /pats", "POST /pats"]);
});

test("tokens end beyond the most with a 409", async () => {
  it.close();
  const { tokens } = it.running.context.limits;
  it = planeWorld({ limits: { tokens: { ...tokens, activeMax: 2 } } });
  await it.token();
  const second = await it.token();
  const refused = await it.manage("POST /pats", { scopes: ["read"] });
  expect([refused.status, refused.error]).toEqual([409, expect.stringContaining("there are 2 tokens already")]);
  await it.manage(`DELETE /pats/${idOf(second)}`);
  expect((await it.manage("POST /pats", { scopes: ["read"] })).status).toBe(201);
});

describe("a token of an older version with admin for some apps", () => {
  test("is valid without admin, and says so", async () => {
    const token = await it.olderToken(["read", "actions", "admin"], ["shop"]);
    const me = await it.ask("GET /whoami", { token });
    expect([me.status, me.data.scopes, me.data.apps]).toEqual([200, ["read", "actions"], ["shop"]]);
    const { pat } = (await it.manage(`GET /pats/${idOf(token)}`)).data as { pat: { scopes: string[] } };
    expect(pat.scopes).toEqual(["read", "actions"]);
    const other = await it.token(["read"]);
    for (const request of ["GET /pats", "GET /audit", "GET /people", `DELETE /pats/${idOf(other)}`]) {
      expect([request, (await it.ask(request, { token })).status]).toEqual([request, 403]);
    }
    expect((await it.ask("GET /whoami", { token: other })).status).toBe(200);
  });

  test("is rotated without admin", async () => {
    const token = await it.olderToken(["read", "admin"], ["shop"]);
    const { data } = await it.manage(`POST /pats/${idOf(token)}/rotate`, {});
    expect(it.store.tokens.get(idOf(String(data.token)))?.scopes).toEqual(["read"]);
  });
});

test("a link to sign in and a role are refused with the same pair", async () => {
  const link = await it.manage("POST /ui/links", { scopes: ["admin"], apps: ["shop"] });
  expect([link.status, link.error]).toEqual([400, expect.stringContaining("cannot be limited to apps")]);
  const role = await it.manage("PUT /people/ana@a.example", { role: "admin", apps: ["shop"] });
  expect([role.status, role.error]).toEqual([400, expect.stringContaining('role: "admin" is for the whole server')]);
});
