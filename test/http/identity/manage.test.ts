import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { identityEndpoints } from "../../../src/identity/api/manage/endpoints.ts";
import { createManagement } from "../../../src/identity/service/manage/manage.ts";
import { type IdentityWorld, identityWorld } from "../../support/identity.ts";
import { type Manage, managePlane } from "../../support/identity-plane.ts";

let world: IdentityWorld;
let manage: Manage;
beforeEach(() => {
  world = identityWorld();
  manage = managePlane(world.running.identity.manage, world.context.log);
});
afterEach(() => world.close());

const redirect = "http://localhost:3000/callback";
const quickstart = async (more = {}) =>
  (await manage("POST /identity/quickstart", { redirect_uris: [redirect], ...more })).data as Record<string, string>;
const secret = (key: string | undefined) => ({ headers: { "X-Service-Secret-Key": key ?? "" } });
const statusWith = async (key: string | undefined) => (await world.ask("GET /api/v1/users", secret(key))).status;

/** A token of a user who is signed in to the instance. */
async function signedIn(instance: string, email = "ana@shop.test") {
  const made = await manage(`POST /identity/users?instance=${instance}`, { email });
  const entry = world.context.directory.byId(instance);
  const user = world.context.store.users.find(String(made.data.id));
  if (entry === undefined || user === undefined) throw new Error(made.text);
  const tenant = { id: instance, secretKey: "", publishableKey: "", entry: () => entry };
  const session = await world.session(tenant, user);
  return { user, session, token: world.running.identity.tokens.issue({ entry, user, session }) };
}
const verify = (key: string | undefined, token: string) =>
  world.ask("POST /api/v1/tokens/verify", { ...secret(key), body: { token } });

describe("every endpoint", () => {
  test("is there: none is a path or method that does not exist", async () => {
    for (const { method, path } of identityEndpoints) {
      const target = path.replaceAll(/:(\w+)/g, "some-$1");
      const { status, error } = await manage(`${method} ${target}`, method === "GET" ? undefined : "{}");
      expect([200, 400, 404]).toContain(status);
      expect(error).not.toContain("does not exist, GET /openapi.json");
    }
  });

  test("answers 400 for a body that is none, and for fields that nobody knows", async () => {
    for (const { method, path, body, bodyType } of identityEndpoints) {
      if (body === undefined || bodyType !== undefined) continue;
      const target = path.replaceAll(/:(\w+)/g, "github");
      expect((await manage(`${method} ${target}`, "[]")).status).toBe(400);
      expect((await manage(`${method} ${target}`, "{")).status).toBe(400);
      expect((await manage(`${method} ${target}`, { nobody_knows: 1 })).error).toContain("nobody_knows");
    }
  });

  test("answers 404 for an instance that is not there, and 400 without one", async () => {
    for (const { method, path, query } of identityEndpoints) {
      if (query?.properties?.instance === undefined || method !== "GET") continue;
      const target = path.replaceAll(/:(\w+)/g, "some");
      expect([path, (await manage(`GET ${target}?instance=inst_none`)).status]).toEqual([path, 404]);
      // An id needs no instance, and pairs of all instances are one list.
      if (!["/identity/users/:user", "/identity/pairs"].includes(path))
        expect([path, (await manage(`GET ${target}`)).status]).toEqual([path, 400]);
    }
  });
});

describe("quickstart", () => {
  test("answers with what an app needs, and all of it works", async () => {
    const made = await quickstart();
    expect(made).toEqual({
      app_id: expect.stringMatching(/^app_[a-z2-7]{20}$/),
      instance_id: expect.stringMatching(/^inst_[a-z2-7]{20}$/),
      secret_key: expect.stringMatching(/^sk_test_[0-9A-Za-z]{43}$/),
      publishable_key: expect.stringMatching(/^pk_test_[0-9A-Za-z]{24}$/),
      sign_in_url: `http://127.0.0.1:8688/i/${made.instance_id}/sign-in?redirect_uri=${encodeURIComponent(redirect)}`,
      verify_url: "http://127.0.0.1:8688/api/v1/tokens/verify",
    });
    const { user, token } = await signedIn(made.instance_id ?? "");
    const answer = await verify(made.secret_key, token);
    expect(answer).toMatchObject({
      status: 200,
      json: { resource: "token", data: { valid: true, email: user.email } },
    });
    const page = await world.ask(`GET ${made.sign_in_url?.slice("http://127.0.0.1:8688".length)}`);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")]);
  });

  test("names never collide by themselves; a taken one is refused", async () => {
    const apps = await Promise.all(Array.from({ length: 20 }, () => quickstart()));
    expect(new Set(apps.map(({ app_id }) => app_id)).size).toBe(20);
    await quickstart({ app: "Shop" });
    const again = await manage("POST /identity/quickstart", { redirect_uris: [redirect], app: "Shop" });
    expect([again.status, again.error]).toEqual([409, 'there is an app "Shop": give another name']);
    expect((await manage("GET /identity/apps")).data.apps).toHaveLength(21);
  });

  test("is for production where browsers go elsewhere, and refuses an address that could be misread", async () => {
    expect((await quickstart({ redirect_uris: ["https://shop.test/cb"] })).secret_key).toStartWith("sk_live_");
    const bad = await manage("POST /identity/quickstart", { redirect_uris: ["http://shop.test/cb"] });
    expect([bad.status, bad.error]).toEqual([400, expect.stringContaining("redirect_uris[0]: must be https")]);
    expect((await manage("POST /identity/quickstart", { redirect_uris: [] })).error).toContain("at least one entry");
    expect((await manage("GET /identity/apps")).data.apps).toHaveLength(1);
  });
});

describe("apps and instances", () => {
  test("are made, changed, listed and deleted", async () => {
    const app = (await manage("POST /identity/apps", { name: " Shop " })).data;
    expect(app).toMatchObject({ name: "Shop", instances: 0 });
    const made = await manage("POST /identity/instances", { app: "Shop", host: "ID.Shop.Test" });
    expect(made.data).toMatchObject({
      app_id: app.id,
      app: "Shop",
      name: "production",
      host: "id.shop.test",
      sign_in_url: "https://id.shop.test/sign-in",
      secret_key: expect.stringMatching(/^sk_live_/),
    });
    const path = `/identity/instances/${made.data.id}`;
    const changed = await manage(`PATCH ${path}`, { host: null, settings: { language: "de", title: "Laden" } });
    expect(changed.data).toMatchObject({ host: null, settings: { language: "de", title: "Laden" } });
    await manage(`PATCH ${path}`, { settings: { title: null } });
    const shown = (await manage(`GET ${path}`)).data;
    expect(shown.settings).toEqual({ language: "de", max_concurrent_sessions: 100 });
    expect(shown.effective).toMatchObject({ language: "de", title: "", session_lifetime_hours: 720 });
    expect(JSON.stringify(shown)).not.toContain("sk_live_");
    expect((await manage("DELETE /identity/apps/Shop")).error).toContain("has an instance: delete what it has first");
    await signedIn(String(made.data.id));
    expect((await manage(`DELETE ${path}`)).data).toEqual({ id: made.data.id, deleted: true, users: 1 });
    expect((await manage(`GET ${path}`)).status).toBe(404);
    expect(await statusWith(String(made.data.secret_key))).toBe(401);
    const next = await manage("POST /identity/instances", { app: "Shop" });
    const inherited = (await manage(`GET /identity/audit?instance=${next.data.id}`)).text;
    expect(inherited).not.toContain("ana@shop.test");
    expect((await manage("GET /identity/audit?global=true")).text).toContain("instance.delete");
    expect((await manage("GET /identity/audit?global=true&query=action:a*")).status).toBe(400);
    await manage(`DELETE /identity/instances/${next.data.id}`);
    expect((await manage("DELETE /identity/apps/Shop")).status).toBe(200);
  });

  test("names and hosts belong to one alone", async () => {
    const { app_id } = await quickstart({ host: "one.test" });
    const make = (body: object) => manage("POST /identity/instances", { app: app_id, ...body });
    expect(await make({ name: "development" })).toMatchObject({
      status: 409,
      error: expect.stringContaining("another"),
    });
    expect(await make({ name: "b", host: "one.test" })).toMatchObject({ status: 409 });
    expect(await make({ name: "b", host: "127.0.0.1" })).toMatchObject({ status: 409 });
    expect(await make({ name: "b", host: "a b" })).toMatchObject({ status: 400 });
    expect(await make({ name: "B b" })).toMatchObject({ status: 400 });
    expect(await make({ name: "b" })).toMatchObject({ status: 200 });
    expect(await manage("POST /identity/instances", { app: "nobody" })).toMatchObject({ status: 404 });
  });

  test("every wrong setting is named at once, and none of the others is written", async () => {
    const { instance_id: id } = await quickstart();
    const settings = { title: "x", language: "xx", accent: "red", redirect_uris: ["https://a.test/#x"] };
    const { status, error } = await manage(`PATCH /identity/instances/${id}`, { settings });
    expect(status).toBe(400);
    expect(error).toContain("language:");
    const two = await manage(`PATCH /identity/instances/${id}`, { settings: { ...settings, language: "de" } });
    expect(two.error.split("\n")).toHaveLength(2);
    expect((await manage(`GET /identity/instances/${id}`)).data.settings).toEqual({
      redirect_uris: [redirect],
      max_concurrent_sessions: 100,
    });
  });

  test("tokens signed with a key pair verify as soon as the setting is answered", async () => {
    const { instance_id: id, secret_key: key } = await quickstart();
    await manage(`PATCH /identity/instances/${id}`, { settings: { algorithm: "RS256" } });
    const { token } = await signedIn(id ?? "");
    expect(JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()).alg).toBe("RS256");
    expect((await verify(key, token)).status).toBe(200);
    await manage(`POST /identity/instances/${id}/keys/rotate`, { now: true });
    const keys = (await manage(`GET /identity/instances/${id}/keys`)).data.keys;
    expect(keys).toHaveLength(1);
  });
});

describe("keys", () => {
  const keysOf = async (id: string | undefined) =>
    (await manage(`GET /identity/instances/${id}/keys`)).data.keys as Record<string, string>[];

  test("a rotation in two steps refuses nobody on the way", async () => {
    const { instance_id: id, secret_key: old } = await quickstart();
    const before = await signedIn(id ?? "");
    const staged = await manage(`POST /identity/instances/${id}/keys/rotate`, {});
    const fresh = String(staged.data.secret_key);
    expect(staged.data).toMatchObject({ use: "secret", state: "staged" });
    expect([await statusWith(old), await statusWith(fresh)]).toEqual([200, 200]);
    expect((await verify(fresh, before.token)).status).toBe(200);
    expect(await manage(`POST /identity/instances/${id}/keys/rotate`, {})).toMatchObject({ status: 409 });
    const promoted = await manage(`POST /identity/instances/${id}/keys/promote`, { overlap: "2h" });
    expect(promoted.data).toMatchObject({ signing: { id: staged.data.id }, previous: { state: "previous" } });
    const after = await signedIn(id ?? "", "bo@shop.test");
    expect(JSON.parse(Buffer.from(after.token.split(".")[0] ?? "", "base64url").toString()).kid).toBe(staged.data.id);
    expect([await statusWith(old), await statusWith(fresh)]).toEqual([200, 200]);
    expect((await verify(fresh, before.token)).status).toBe(200);
    world.clock.jump(2 * 3_600_000 + 1);
    expect([await statusWith(old), await statusWith(fresh)]).toEqual([401, 200]);
    expect(await keysOf(id)).toHaveLength(1);
    expect(JSON.stringify(await keysOf(id))).not.toContain(fresh);
  });

  test("after a leak nothing of the old keys is good for anything", async () => {
    const { instance_id: id, secret_key: old } = await quickstart();
    const { token } = await signedIn(id ?? "");
    const staged = (await manage(`POST /identity/instances/${id}/keys/rotate`, {})).data;
    const apiOnly = (await manage(`POST /identity/instances/${id}/keys`)).data;
    const { data } = await manage(`POST /identity/instances/${id}/keys/rotate`, { now: true });
    const fresh = String(data.secret_key);
    for (const ended of [old, staged.secret_key, apiOnly.secret_key]) expect(await statusWith(String(ended))).toBe(401);
    expect(await statusWith(fresh)).toBe(200);
    expect(data.ended).toContainEqual({ id: apiOnly.id, use: "api" });
    expect(await verify(fresh, token)).toMatchObject({ status: 401, json: { error: "Token invalid signature" } });
    expect((await keysOf(id)).map(({ state }) => state)).toEqual(["signing"]);
  });

  test("an api key opens the API and signs nothing; ends by itself", async () => {
    const { instance_id: id, secret_key: key } = await quickstart();
    const { token } = await signedIn(id ?? "");
    const made = (await manage(`POST /identity/instances/${id}/keys`)).data;
    const apiKey = String(made.secret_key);
    expect(apiKey).toMatch(/^ak_test_/);
    expect(made).toMatchObject({ use: "api", state: "active" });
    expect(await verify(apiKey, token)).toMatchObject({ status: 200 });
    expect((await manage(`DELETE /identity/instances/${id}/keys/${made.id}`)).status).toBe(200);
    expect([await statusWith(apiKey), await statusWith(key)]).toEqual([401, 200]);
    const [signing] = await keysOf(id);
    expect(await manage(`DELETE /identity/instances/${id}/keys/${signing?.id}`)).toMatchObject({ status: 409 });
    expect(await manage(`DELETE /identity/instances/${id}/keys/key_none`)).toMatchObject({ status: 404 });
    expect(await manage(`POST /identity/instances/${id}/keys/promote`, {})).toMatchObject({ status: 409 });
    for (const overlap of ["5m", "1y", "31d", ""]) {
      expect(await manage(`POST /identity/instances/${id}/keys/promote`, { overlap })).toMatchObject({ status: 400 });
    }
  });

  test("there is a most of them", async () => {
    const { instance_id: id } = await quickstart();
    for (let made = 1; made < world.context.limits.keysMax; made++) {
      expect((await manage(`POST /identity/instances/${id}/keys`)).status).toBe(200);
    }
    expect(await manage(`POST /identity/instances/${id}/keys`)).toMatchObject({ status: 409 });
  });
});

describe("providers", () => {
  const credentials = { client_id: "the-id", client_secret: "the-very-secret" };

  test("are set step by step, and their secret is never shown again", async () => {
    const { instance_id: id } = await quickstart();
    const at = `/identity/providers/github?instance=${id}`;
    const made = await manage(`PUT ${at}`, { ...credentials, options: { label: "Git" } });
    expect(made.data).toMatchObject({
      name: "github",
      kind: "github",
      instance: id,
      enabled: true,
      client_id: "the-id",
      has_secret: true,
      callback_url: "http://127.0.0.1:8688/oauth/github/callback",
    });
    const changed = await manage(`PUT ${at}`, { options: { label: null, pkce: false } });
    expect(changed.data).toMatchObject({ client_id: "the-id", has_secret: true, options: { pkce: false } });
    const list = await manage(`GET /identity/providers?instance=${id}`);
    expect(list.data.offered).toEqual(["github", "password"]);
    await manage(`PUT ${at}`, { enabled: false });
    expect((await manage(`GET /identity/providers?instance=${id}`)).data.offered).toEqual(["password"]);
    expect((await manage(`DELETE ${at}`)).status).toBe(200);
    expect((await manage(`DELETE ${at}`)).status).toBe(404);
    const audit = await manage(`GET /identity/audit?instance=${id}`);
    expect(audit.text).toContain("provider.set");
    for (const text of [made.text, changed.text, list.text, audit.text, world.logged.join("")]) {
      expect(text).not.toContain("the-very-secret");
    }
  });

  test("global ones serve every instance that has none of its own", async () => {
    const { instance_id: id } = await quickstart();
    expect((await manage("PUT /identity/providers/google?global=true", credentials)).data.instance).toBeNull();
    const { providers, offered } = (await manage(`GET /identity/providers?instance=${id}`)).data;
    expect(offered).toEqual(["google", "password"]);
    expect(providers).toMatchObject([{ name: "google", instance: null }]);
    await manage(`PUT /identity/providers/google?instance=${id}`, { enabled: false });
    expect((await manage(`GET /identity/providers?instance=${id}`)).data.offered).toEqual(["password"]);
    expect((await manage("GET /identity/providers?global=true")).data.providers).toHaveLength(1);
    expect((await manage(`GET /identity/providers?global=true&instance=${id}`)).status).toBe(400);
    expect((await manage("PUT /identity/providers/google", credentials)).status).toBe(400);
  });

  test("endpoints of one's own are public and https, unless the server allows others", async () => {
    const { instance_id: id } = await quickstart();
    const { identity, context } = world.running;
    const strict = managePlane(
      createManagement(
        { ...context, allowPrivate: false },
        {
          hashPassword: (password) => Promise.resolve(password),
          signingPairs: identity.signingPairs,
          search: identity.search,
          buttons: () => [],
        },
      ),
      context.log,
    );
    const at = `PUT /identity/providers/acme?instance=${id}`;
    for (const issuer of ["http://sso.test", "https://localhost", "https://10.0.0.7", "https://[::1]:8443"]) {
      const body = { ...credentials, options: { issuer } };
      expect(await strict(at, body)).toMatchObject({ status: 400, error: expect.stringContaining("options.issuer") });
      expect((await manage(at, body)).status).toBe(200);
    }
    const made = await strict(at, { ...credentials, options: { issuer: "https://sso.test" } });
    expect(made.data.callback_url).toBe(`http://127.0.0.1:8688/oauth/oidc/${id}.acme/callback`);
    expect((await strict(`POST /identity/hooks?instance=${id}`, { url: "http://10.0.0.7/x" })).status).toBe(400);
    expect((await manage(at, { kind: "google" })).error).toContain("is of kind oidc");
    expect((await manage(`PUT /identity/providers/OIDC?instance=${id}`, credentials)).status).toBe(400);
    expect((await manage(`PUT /identity/providers/google?instance=${id}`, { client_secret: "x" })).status).toBe(400);
  });
});

describe("users and sessions", () => {
  test("a ban ends the sessions at once and is lifted again; the way to a user is an id or an address", async () => {
    const { instance_id: id, secret_key: key } = await quickstart();
    const { user, token, session } = await signedIn(id ?? "");
    expect((await manage(`POST /identity/users/${user.id}/ban`)).data).toMatchObject({ sessions_revoked: 1 });
    expect(await verify(key, token)).toMatchObject({ status: 401, json: { valid: false, error: "User banned" } });
    expect((await manage(`POST /identity/users/ANA@shop.test/unban?instance=${id}`)).data.banned_at).toBeUndefined();
    expect((await verify(key, token)).json).toMatchObject({ data: { session: { status: "revoked" } } });
    const [listed] = (await manage(`GET /identity/sessions?instance=${id}`)).data.sessions as Record<string, unknown>[];
    expect(listed).toMatchObject({ session_id: session.sessionId, active: false, revoke_reason: "ban" });
    expect((await manage(`GET /identity/users/ana@shop.test`)).status).toBe(400);
    expect((await manage(`GET /identity/users/bo@shop.test?instance=${id}`)).status).toBe(404);
    expect((await manage(`GET /identity/users/%E0%A4%A`)).status).toBe(400);
  });

  test("of another instance are not there", async () => {
    const [a, b] = [await quickstart(), await quickstart()];
    const { user, session } = await signedIn(a.instance_id ?? "");
    const at = `/identity/users/${user.id}`;
    for (const request of [`GET ${at}`, `POST ${at}/ban`, `POST ${at}/unban`, `DELETE ${at}`]) {
      expect([request, (await manage(`${request}?instance=${b.instance_id}`)).status]).toEqual([request, 404]);
    }
    const revoke = `POST /identity/sessions/${session.sessionId}/revoke`;
    expect((await manage(`${revoke}?instance=${b.instance_id}`)).status).toBe(404);
    expect((await manage(`${revoke}?instance=${a.instance_id}`)).data).toMatchObject({ active: false });
    expect((await manage(`${revoke}?instance=${a.instance_id}`)).status).toBe(409);
  });

  test("a new user can sign in with the password, and a new one ends what the old one began", async () => {
    const { instance_id: id } = await quickstart();
    const create = (body: object) => manage(`POST /identity/users?instance=${id}`, body);
    const made = await create({ email: " Ana@Shop.test ", password: "correct horse" });
    expect(made.data).toMatchObject({ email: "ana@shop.test", name: "ana", providers: ["password"] });
    expect(made.text).not.toContain("argon2");
    for (const [body, text] of [
      [{ email: "ana@shop.test" }, "is user"],
      [{ email: "nobody" }, "not a valid email address"],
      [{ email: "x@users.noreply.invalid" }, "addresses that the service makes"],
      [{ email: "x@shop.test", password: "short" }, "at least 8"],
      [{ email: "x@shop.test", password: "\u00e9".repeat(600) }, "longer than 1024 bytes"],
      [{ email: "x@shop.test", avatar_url: "javascript:alert(1)" }, "not an http or https address"],
    ] as const) {
      const refused = await create(body);
      expect([refused.status, refused.error]).toEqual([text === "is user" ? 409 : 400, expect.stringContaining(text)]);
    }
    const path = `/identity/users/${made.data.id}/password`;
    expect((await manage(`POST ${path}`, { password: "another horse" })).status).toBe(200);
    expect((await manage(`POST ${path}`, {})).data.providers).toEqual([]);
    expect((await manage(`DELETE /identity/users/${made.data.id}`)).data).toEqual({ id: made.data.id, deleted: true });
    expect((await manage(`DELETE /identity/users/${made.data.id}`)).status).toBe(404);
  });

  test("come in pages, newest first, and by the grammar of the search", async () => {
    const { instance_id: id } = await quickstart();
    for (let n = 0; n < 7; n++) await manage(`POST /identity/users?instance=${id}`, { email: `u${n}@shop.test` });
    const seen: string[] = [];
    let cursor = "";
    do {
      const { data } = await manage(`GET /identity/users?instance=${id}&limit=3${cursor}`);
      seen.push(...(data.users as { email: string }[]).map(({ email }) => email));
      cursor = data.next === undefined ? "" : `&cursor=${data.next}`;
    } while (cursor !== "");
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((n) => `u${n}@shop.test`));
    const find = (query: string) => manage(`GET /identity/users?instance=${id}&query=${encodeURIComponent(query)}`);
    expect((await find("email:u3@shop.test")).data.users).toMatchObject([{ email: "u3@shop.test", instance: id }]);
    expect((await find("email:*5@shop*")).data.users).toMatchObject([{ email: "u5@shop.test" }]);
    expect(await find("emial:x")).toMatchObject({ status: 400, error: expect.stringContaining("emial:x") });
    expect((await find("password_hash:*argon*")).status).toBe(400);
    expect((await manage(`GET /identity/users?instance=${id}&cursor=nonsense`)).status).toBe(400);
    await signedIn(id ?? "");
    const sessions = await manage(`GET /identity/sessions?instance=${id}&query=provider:goo*`);
    expect(sessions.data.sessions).toMatchObject([{ email: "ana@shop.test", provider: "google" }]);
    const own = await manage(`GET /identity/sessions?instance=${id}&user=ana@shop.test`);
    expect(own.data.sessions).toHaveLength(1);
  });
});

describe("around it", () => {
  test("the audit trail tells who did what, and is searched", async () => {
    const { instance_id: id } = await quickstart();
    await signedIn(id ?? "");
    const all = (await manage(`GET /identity/audit?instance=${id}`)).data.entries as Record<string, unknown>[];
    expect(all.map(({ action }) => action)).toEqual(["session.create", "user.create", "key.create", "instance.create"]);
    const found = (await manage(`GET /identity/audit?instance=${id}&query=action:user.*`)).data.entries;
    expect(found).toEqual(all.filter(({ action }) => action === "user.create"));
    expect(all[1]).toMatchObject({ actor: "operator", email: "ana@shop.test", detail: {} });
    const page = (await manage(`GET /identity/audit?instance=${id}&limit=3`)).data;
    const rest = (await manage(`GET /identity/audit?instance=${id}&cursor=${page.next}`)).data.entries;
    expect(rest).toEqual(all.slice(3));
  });

  test("webhooks are made with a secret that is shown once", async () => {
    const { instance_id: id } = await quickstart();
    const at = `/identity/hooks?instance=${id}`;
    const made = await manage(`POST ${at}`, { url: "https://me:pw@hooks.test/x", events: ["user.created"] });
    const signing = String(made.data.secret);
    expect(signing).toMatch(/^[0-9a-f]{64}$/);
    expect((await manage(`GET ${at}`)).text).not.toContain(signing);
    expect((await manage(`GET ${at}`)).data.hooks).toMatchObject([{ url: "https://***@hooks.test/x", enabled: true }]);
    await manage(`POST /identity/users?instance=${id}`, { email: "a@shop.test" });
    await manage(`POST /identity/users/a@shop.test/ban?instance=${id}`);
    const calls = await manage(`GET /identity/hooks/${made.data.id}/deliveries?instance=${id}`);
    expect(calls.data.deliveries).toMatchObject([{ event: "user.created", attempts: 0 }]);
    expect(await manage(`POST ${at}`, { url: "https://x.test", events: ["user.create"] })).toMatchObject({
      status: 400,
      error: expect.stringContaining('did you mean "user.created"'),
    });
    const one = `/identity/hooks/${made.data.id}?instance=${id}`;
    expect((await manage(`PATCH ${one}`, { enabled: false, events: ["user.banned"] })).data).toMatchObject({
      url: "https://***@hooks.test/x",
      events: ["user.banned"],
      enabled: false,
    });
    await manage(`POST /identity/users/a@shop.test/unban?instance=${id}`);
    expect(
      (await manage(`GET /identity/hooks/${made.data.id}/deliveries?instance=${id}`)).data.deliveries,
    ).toHaveLength(1);
    const moved = await manage(`PATCH ${one}`, { enabled: true, events: [], url: "https://y.test/" });
    expect(moved.data).toMatchObject({ url: "https://y.test/", events: [], enabled: true });
    for (const wrong of [{ url: "ftp://x" }, { events: ["user.create"] }, { enabled: "no" }, { on: true }, []]) {
      expect((await manage(`PATCH ${one}`, wrong)).status).toBe(400);
    }
    const stored = () =>
      world.context.store.webhooks.list(world.context.store.instances.get(id ?? "")?.seq ?? 0)[0]?.url;
    const change = (url: string) => manage(`PATCH ${one}`, { url });
    await change("https://me:pw@hooks.test/x");
    expect((await change("https://***@hooks.test/y")).data.url).toBe("https://***@hooks.test/y");
    expect(stored()).toBe("https://me:pw@hooks.test/y");
    const elsewhere = await change("https://***@evil.test/y");
    expect([elsewhere.status, elsewhere.error]).toEqual([400, expect.stringContaining("write them out")]);
    expect((await change("https://hooks.test/y")).data.url).toBe("https://hooks.test/y");
    expect(stored()).toBe("https://hooks.test/y");
    expect((await change("https://***@hooks.test/y")).status).toBe(400);
    expect((await manage(`PATCH /identity/hooks/none?instance=${id}`, { enabled: true })).status).toBe(404);
    for (let n = 1; n < world.context.limits.webhooksMax; n++) await manage(`POST ${at}`, { url: "https://x.test" });
    expect((await manage(`POST ${at}`, { url: "https://x.test" })).status).toBe(409);
    expect((await manage(`DELETE /identity/hooks/${made.data.id}?instance=${id}`)).status).toBe(200);
    expect((await manage(`DELETE /identity/hooks/${made.data.id}?instance=${id}`)).status).toBe(404);
  });

  test("a mail is listed without its content, and shown with it to whoever asks on record", async () => {
    const [a, b] = [await quickstart(), await quickstart()];
    const seq = world.context.directory.byId(a.instance_id ?? "")?.instance.seq ?? 0;
    const now = world.clock.now();
    await world.context.store.write(({ mails }) =>
      mails.add(
        {
          id: "mail_1",
          instance: seq,
          purpose: "reset_password",
          message: { to: "ana@shop.test", subject: "Reset", text: "https://id.test/reset?code=the-code", html: "" },
          state: "kept",
          attempts: 0,
          nextAt: now,
          lastError: undefined,
          createdAt: now,
        },
        10,
      ),
    );
    const list = await manage(`GET /identity/mails?instance=${a.instance_id}`);
    expect(list.data.mails).toMatchObject([{ id: "mail_1", to: "ana@shop.test", state: "kept" }]);
    expect(list.text).not.toContain("the-code");
    expect((await manage(`GET /identity/mails/mail_1?instance=${b.instance_id}`)).status).toBe(404);
    const shown = await manage(`GET /identity/mails/mail_1?instance=${a.instance_id}`);
    expect(shown.data).toMatchObject({ subject: "Reset", text: expect.stringContaining("the-code") });
    const audit = (await manage(`GET /identity/audit?instance=${a.instance_id}`)).text;
    expect(audit).toContain("mail.read");
    expect(audit + world.logged.join("")).not.toContain("the-code");
  });
});
