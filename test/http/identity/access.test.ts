import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { identityEndpoints } from "../../../src/identity/api/endpoints.ts";
import { type IdentityWorld, identityWorld, type Tenant, withPublishable, withSecret } from "../../support/identity.ts";

let it: IdentityWorld;

beforeEach(() => {
  it = identityWorld();
});

afterEach(() => it.close());

const list = (headers: Record<string, string>) => it.ask("GET /api/v1/users", { headers });

describe("which header carries a key", () => {
  test("ours in any case of letters, or Authorization: Bearer", async () => {
    const { secretKey } = await it.tenant();
    const good: Record<string, string>[] = [
      { "X-Service-Secret-Key": secretKey },
      { "x-service-secret-key": secretKey },
      { Authorization: `Bearer ${secretKey}` },
      { Authorization: `bearer ${secretKey}` },
    ];
    for (const headers of good) expect((await list(headers)).status).toBe(200);
    const bad: Record<string, string>[] = [
      {},
      { "X-Service-Secret-Key": "" },
      { "X-Service-Secret-Key": secretKey.slice(0, -1) },
      { "X-Service-Secret-Key": `${secretKey}x` },
      { "X-Service-Secret-Key": secretKey.toUpperCase() },
      { "X-Service-Secret-Key": "x".repeat(9_000) },
      { Authorization: secretKey },
      { Authorization: `Basic ${secretKey}` },
      { "X-Other-Secret-Key": secretKey },
    ];
    for (const headers of bad) {
      const { status, json } = await list(headers);
      expect([status, json]).toEqual([401, { error: "Unauthorized" }]);
    }
  });

  test("a name of its own is good for the instance that has it, and for no other", async () => {
    const branded = await it.tenant({
      secret_key_headers: ["X-Brand-Secret-Key"],
      publishable_key_headers: ["X-Brand-Publishable-Key"],
    });
    const plain = await it.tenant();
    expect((await list({ "x-brand-secret-key": branded.secretKey })).status).toBe(200);
    expect((await list({ "x-brand-secret-key": plain.secretKey })).status).toBe(401);
    const config = (headers: Record<string, string>) => it.ask("GET /api/v1/session_config", { headers });
    expect((await config({ "x-brand-publishable-key": branded.publishableKey })).status).toBe(200);
    expect((await config({ "x-brand-publishable-key": plain.publishableKey })).status).toBe(401);
    // A publishable key is no secret, wherever it stands.
    expect((await list({ "x-brand-secret-key": branded.publishableKey })).status).toBe(401);
    expect((await list({ "X-Service-Secret-Key": branded.publishableKey })).status).toBe(401);
  });

  test("both keys may be sent at once, as clients do", async () => {
    const shop = await it.tenant();
    expect((await list({ ...withPublishable(shop), ...withSecret(shop) })).status).toBe(200);
  });
});

describe("what is remembered of keys", () => {
  const setState = (tenant: Tenant, expiresAt: number) =>
    it.context.store.write(({ keys }) => keys.setState(tenant.entry().keys[0]?.id ?? "", "previous", expiresAt));

  test("a key that ends is refused from that moment, and its tokens with it", async () => {
    const shop = await it.tenant();
    const { token } = await it.signedIn(shop);
    expect((await list(withSecret(shop))).status).toBe(200);
    await setState(shop, it.clock.now() + 1_000);
    const verify = () => it.ask("POST /api/v1/tokens/verify", { headers: withSecret(shop), body: { token } });
    expect((await verify()).status).toBe(200);
    it.clock.moveTo(it.clock.now() + 1_000);
    expect((await verify()).status).toBe(401);
    expect((await list(withSecret(shop))).status).toBe(401);
  });

  test("a change is seen by the next request", async () => {
    const shop = await it.tenant();
    expect((await list(withSecret(shop))).status).toBe(200);
    await it.context.store.write(({ keys }) => keys.remove(shop.entry().keys[0]?.id ?? ""));
    expect((await list(withSecret(shop))).status).toBe(401);
  });

  test("so is the end of the instance", async () => {
    const shop = await it.tenant();
    const { seq } = shop.entry().instance;
    expect((await list(withSecret(shop))).status).toBe(200);
    await it.context.store.write(({ instances }) => instances.remove(seq));
    expect((await list(withSecret(shop))).status).toBe(401);
    expect((await it.ask(`GET /i/${shop.id}/.well-known/jwks.json`)).status).toBe(404);
  });

  test("a write that was undone leaves nothing behind", async () => {
    const shop = await it.tenant();
    const failed = it.context.store.write(({ keys }) => {
      keys.remove(shop.entry().keys[0]?.id ?? "");
      // Read inside the write: what it remembers must not outlive it.
      expect(it.context.directory.bySecretKey(shop.secretKey)).toBeUndefined();
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    expect((await list(withSecret(shop))).status).toBe(200);
  });
});

test("the API is also below the address of an instance without a host, for its own keys alone", async () => {
  const [shop, other] = [await it.tenant(), await it.tenant()];
  const { user, token } = await it.signedIn(shop);
  const at = (path: string) => `/i/${shop.id}/api/v1/${path}`;
  const verified = await it.ask(`POST ${at("tokens/verify")}`, { headers: withSecret(shop), body: { token } });
  expect([verified.status, verified.json]).toMatchObject([200, { data: { valid: true } }]);
  const one = await it.ask(`GET ${at(`users/${user.id}`)}`, { headers: withSecret(shop) });
  expect([one.status, one.json]).toMatchObject([200, { id: user.id }]);
  await it.user(shop);
  const page = await it.ask(`GET ${at("users")}?limit=1`, { headers: withSecret(shop) });
  expect(page.headers.get("link")).toStartWith(`<${at("users")}?limit=1&cursor=`);
  const query = `publishable_key:${shop.publishableKey}`;
  const found = await it.ask(`GET ${at("instances/search")}?query=${query}`, { headers: withPublishable(shop) });
  const { url } = (found.json as { data: { url: string } }).data;
  expect(new URL(`${url}/api/v1/users`).pathname).toBe(at("users"));
  for (const path of ["users", "sessions", `users/${user.id}`, "session_config"]) {
    const { status } = await it.ask(`GET ${at(path)}`, {
      headers: { ...withSecret(other), ...withPublishable(other) },
    });
    expect([path, status]).toEqual([path, 401]);
  }
  expect((await it.ask(`GET /i/inst_none/api/v1/users`, { headers: withSecret(shop) })).status).toBe(401);
});

test("guessing keys is slowed down, a right one from the same place still opens", async () => {
  const shop = await it.tenant();
  for (let count = 0; count < 120; count += 1) expect((await list({ "X-Service-Secret-Key": "no" })).status).toBe(401);
  const limited = await list({ "X-Service-Secret-Key": "no" });
  expect([limited.status, limited.json]).toEqual([429, { error: "Too many requests" }]);
  expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await list(withSecret(shop))).status).toBe(200);
});

test("no endpoint opens without a key, whatever else is wrong with the request", async () => {
  for (const { method, path } of identityEndpoints) {
    const target = path.replace(":id", encodeURIComponent("' or 1=1"));
    const body = method === "POST" ? "{" : undefined;
    const { status, json } = await it.ask(`${method} ${target}?cursor=%00&limit=x&query=`, { body });
    const error = path === "/api/v1/users/:id" && method === "GET" ? "Missing secret key" : "Unauthorized";
    expect([method, path, status, json]).toEqual([method, path, 401, { error }]);
  }
});

test("bad input is 4xx and JSON at every endpoint, never 500", async () => {
  const shop = await it.tenant();
  const headers = { ...withSecret(shop), ...withPublishable(shop) };
  const bodies = [
    "{",
    "[]",
    "null",
    "7",
    '"x"',
    "{}",
    '{"token":{}}',
    '{"token":[1]}',
    '{"refresh_token":null}',
    "\u0000",
    "[".repeat(60_000),
  ];
  const ids = ["%", "%00", "%ff", "%2e%2e", "x".repeat(4_000), "%F0%9F%98%80", "' or 1=1", "a%2Fb"];
  const queries = ["cursor=x", "cursor=", "limit=0", "limit=-1", "limit=1e3", "limit=99999999", "limit=x", "query=%00"];
  const requests = identityEndpoints.flatMap(({ method, path }) => {
    const targets = path.includes(":id") ? ids.map((id) => path.replace(":id", id)) : [path];
    const asked =
      method === "GET" ? targets.flatMap((one) => ["", ...queries].map((query) => `${one}?${query}`)) : targets;
    return asked.flatMap((target) =>
      (method === "POST" ? bodies : [undefined]).map((body) => ({ request: `${method} ${target}`, body })),
    );
  });
  for (const { request, body } of requests) {
    const answer = await it.ask(request, { headers, body });
    expect([request, body, answer.status < 500]).toEqual([request, body, true]);
    if (answer.status !== 204) expect(answer.json).toBeDefined();
  }
});
