import { afterEach, beforeEach, expect, test } from "bun:test";
import { identityEndpoints } from "../../../src/identity/api/endpoints.ts";
import type { TokenPair } from "../../../src/identity/service/refresh.ts";
import { type IdentityWorld, identityWorld, type Tenant, withPublishable, withSecret } from "../../support/identity.ts";

let it: IdentityWorld;
let ours: Tenant;
let theirs: Tenant;

beforeEach(async () => {
  it = identityWorld();
  ours = await it.tenant();
  theirs = await it.tenant();
});

afterEach(() => it.close());

const keys = (tenant: Tenant) => ({ ...withSecret(tenant), ...withPublishable(tenant) });

/** Everything of another instance that a request can name. */
async function victim() {
  const { user, session, token } = await it.signedIn(theirs);
  const second = await it.signedIn(theirs);
  const exchanged = await it.ask("POST /api/v1/sessions/exchange", {
    headers: withPublishable(theirs),
    body: { token: second.token },
  });
  const { refresh_token, access_token } = exchanged.json as TokenPair;
  const names = [user.id, user.email, session.id, session.sessionId, theirs.id, theirs.publishableKey];
  return { user, session, token, refreshToken: refresh_token, accessToken: access_token, second, names };
}

test("on the host of an instance only its own keys open anything", async () => {
  const statusAt = async (host: string, tenant: Tenant, path: string) =>
    (await it.fetch(new Request(`http://${host}${path}`, { headers: keys(tenant) }))).status;
  const hosted = await it.tenant({}, "id.shop.test");
  for (const path of ["/api/v1/users", "/api/v1/sessions", "/api/v1/session_config"]) {
    expect(await statusAt("id.shop.test", hosted, path)).toBe(200);
    expect(await statusAt("id.shop.test:8443", ours, path)).toBe(401);
    expect(await statusAt("localhost", ours, path)).toBe(200);
    expect(await statusAt("localhost", hosted, path)).toBe(200);
    expect(await statusAt("elsewhere.test", ours, path)).toBe(200);
  }
});

test("no route answers for another instance's ids, or changes anything there", async () => {
  const other = await victim();
  await it.signedIn(ours);
  const before = await snapshot(theirs);
  const ids = [...other.names, other.second.session.sessionId];
  const bodies = [other.token, other.accessToken, other.refreshToken].flatMap((value) => [
    { token: value },
    { refresh_token: value },
    { token: value, refresh_token: value },
  ]);
  const queries = [
    "",
    `?query=${encodeURIComponent(`email:${other.user.email}`)}`,
    `?email=${encodeURIComponent(other.user.email)}`,
    `?query=${encodeURIComponent(`publishable_key:${theirs.publishableKey}`)}`,
    `?query=${encodeURIComponent("email:*@example.test")}&instance=${theirs.id}&instance_id=${theirs.id}`,
  ];
  let asked = 0;
  for (const { method, path } of identityEndpoints) {
    const targets = path.includes(":id") ? ids.map((id) => path.replace(":id", encodeURIComponent(id))) : [path];
    for (const target of targets.flatMap((one) => (method === "GET" ? queries.map((query) => one + query) : [one]))) {
      for (const body of method === "POST" ? bodies : [undefined]) {
        const { status, text } = await it.ask(`${method} ${target}`, { headers: keys(ours), body });
        asked += 1;
        const told = other.names.filter((name) => text.includes(name));
        expect([method, target, status, told]).toEqual([method, target, status, []]);
        expect([method, target, status]).not.toEqual([method, target, 500]);
        if (path.includes(":id")) expect([method, target, status]).toEqual([method, target, 404]);
      }
    }
  }
  expect(asked).toBeGreaterThan(60);
  expect(await snapshot(theirs)).toEqual(before);
  // The walk would prove nothing if what it names did not work for its owner.
  for (const path of [`users/${other.user.id}`, `sessions/${other.session.sessionId}`]) {
    expect((await it.ask(`GET /api/v1/${path}`, { headers: keys(theirs) })).status).toBe(200);
  }
  const refreshed = await it.ask("POST /api/v1/sessions/refresh", {
    headers: keys(theirs),
    body: { refresh_token: other.refreshToken },
  });
  expect(refreshed.status).toBe(200);
});

test("a user with the same address in two instances is two users", async () => {
  const email = "ana@example.test";
  const [here, there] = [await it.signedIn(ours, { email }), await it.signedIn(theirs, { email })];
  expect(here.user.id).not.toBe(there.user.id);
  await it.ask(`DELETE /api/v1/users/${here.user.id}`, { headers: keys(ours) });
  const verified = await it.ask("POST /api/v1/tokens/verify", { headers: keys(theirs), body: { token: there.token } });
  expect(verified.json).toMatchObject({ data: { valid: true, email } });
});

async function snapshot(tenant: Tenant): Promise<unknown[]> {
  const read = async (path: string) => (await it.ask(`GET /api/v1/${path}`, { headers: withSecret(tenant) })).json;
  return [await read("users"), await read("sessions")];
}
