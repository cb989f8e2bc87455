import { afterAll, beforeAll, expect, test } from "bun:test";
import { observabilityLimits } from "../../../src/config/observability-limits.ts";
import { planeIdentityEndpoints } from "../../../src/observability/api/identity.ts";
import { type PeopleWorld, peopleWorld } from "../../support/people-world.ts";

let it: PeopleWorld;
/** Of an app with users. */
let shop: string;
let admin: string;
let reader: string;

beforeAll(async () => {
  const actions = { burst: 100, perMinute: 100 };
  it = await peopleWorld({ rates: { ...observabilityLimits.rates, actions } });
  ({ id: shop } = await it.identity.tenant({ redirect_uris: ["https://app.test/callback"], title: "Shop" }));
  admin = await it.token(["read", "admin"]);
  reader = await it.token(["read"]);
});

afterAll(() => it.stop());

const at = () => `/identity/instances/${shop}`;
const ask = (request: string, body?: unknown, token = admin) => it.ask(request, { token, body });

async function user(email: string): Promise<string> {
  const made = await ask(`POST ${at()}/users`, { email, password: "correct horse battery" });
  if (made.status !== 200) throw new Error(made.text);
  return String(made.data.id);
}

test("who may read sees instances, settings, keys and providers, and nothing of a person", async () => {
  await user("read@example.com");
  const { data } = await ask("GET /identity/instances", undefined, reader);
  expect(data).toMatchObject({ instances: [{ id: shop }] });
  for (const path of ["", "/keys", "/providers", "/preview"]) {
    expect([path, (await ask(`GET ${at()}${path}`, undefined, reader)).status]).toEqual([path, 200]);
  }
  expect((await ask("GET /identity/settings", undefined, reader)).data.settings).toBeArray();
  for (const path of ["/users", "/sessions", "/audit"]) {
    const answer = await ask(`GET ${at()}${path}`, undefined, reader);
    expect([path, answer.status, answer.text]).toEqual([path, 403, expect.not.stringContaining("@")]);
  }
});

test("a token that is limited to apps sees no instance, whatever its scopes", async () => {
  const limited = await it.olderToken(["read", "admin"], ["shop"]);
  expect((await ask("GET /identity/instances", undefined, limited)).data).toEqual({ instances: [] });
  const statuses = [`GET ${at()}`, `GET ${at()}/users`, `GET ${at()}/preview`, `POST ${at()}/keys`].map(
    async (request) => (await ask(request, undefined, limited)).status,
  );
  // Users and keys are for admin, which a limited token never holds.
  expect(await Promise.all(statuses)).toEqual([404, 403, 404, 403]);
});

test("users: made, found, banned, given a password, deleted; the token is on record for each", async () => {
  const id = await user("ana@example.com");
  const found = await ask(`GET ${at()}/users?query=email:ana@example.com`);
  expect(found.data).toMatchObject({ users: [{ id, email: "ana@example.com", email_verified: true }] });
  expect((await ask(`POST ${at()}/users/${id}/ban`)).data).toMatchObject({ sessions_revoked: 0 });
  expect((await ask(`POST ${at()}/users/${id}/unban`)).data).not.toHaveProperty("banned_at");
  const short = await ask(`POST ${at()}/users/${id}/password`, { password: "x" });
  expect([short.status, short.error]).toEqual([400, expect.stringContaining("needs at least 8 characters")]);
  expect((await ask(`POST ${at()}/users/${id}/password`, { password: "another long one" })).status).toBe(200);
  expect((await ask(`DELETE ${at()}/users/${id}`)).data).toEqual({ id, deleted: true });
  const { data } = await ask(`GET ${at()}/audit?query=user_id:${id}`);
  const entries = data.entries as { action: string; actor: string }[];
  expect(entries.map(({ action }) => action).toSorted()).toEqual([
    ...["user.ban", "user.create", "user.delete", "user.password", "user.unban"],
  ]);
  expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set([`pat:${admin.slice(4, 10)}`]));
  const [last] = it.store.audit.list({ limit: 1, actor: `pat:${admin.slice(4, 10)}` });
  expect(last?.action).toBe("DELETE /api/pat/v1/identity/instances/:instance/users/:user");
});

test("a user of another instance is not found through this one", async () => {
  const other = await it.identity.tenant();
  const id = await user("bo@example.com");
  for (const verb of ["ban", "sign-out"]) {
    expect([verb, (await ask(`POST /identity/instances/${other.id}/users/${id}/${verb}`)).status]).toEqual([verb, 404]);
  }
  expect((await ask(`DELETE /identity/instances/${other.id}/users/${id}`)).status).toBe(404);
});

test("an address is verified by who vouches for it, once", async () => {
  const body = { email: "dee@example.com", email_verified: false };
  const { data } = await ask(`POST ${at()}/users`, body);
  expect(data.email_verified).toBe(false);
  const at1 = await ask(`POST ${at()}/users/${data.id}/verify`);
  expect([at1.status, at1.data.email_verified]).toEqual([200, true]);
  expect((await ask(`POST ${at()}/users/${data.id}/verify`)).data).toEqual(at1.data);
  const trail = await ask(`GET ${at()}/audit?query=user_id:${data.id}+action:user.verify`);
  expect(trail.data.entries).toBeArrayOfSize(1);
});

test("sessions: listed by user, ended one by one and all at once", async () => {
  const tenant = await it.identity.tenant();
  const here = `/identity/instances/${tenant.id}`;
  const person = await it.identity.user(tenant, { email: "cy@example.com" });
  for (let count = 0; count < 3; count += 1) await it.identity.session(tenant, person);
  const { data } = await ask(`GET ${here}/sessions?user=${person.id}`);
  const [first, ...rest] = data.sessions as { session_id: string }[];
  expect(rest.length).toBe(2);
  const ended = await ask(`POST ${here}/sessions/${first?.session_id}/revoke`);
  expect(ended.data).toMatchObject({ active: false, revoke_reason: "operator" });
  expect((await ask(`POST ${here}/sessions/${first?.session_id}/revoke`)).status).toBe(409);
  expect((await ask(`POST ${here}/users/${person.id}/sign-out`)).data).toEqual({ sessions_revoked: 2 });
  expect((await ask(`GET ${here}/sessions?user=${person.id}`)).data.sessions).toEqual([]);
});

test("keys: the value is in the answer that makes it, in no cache and no list", async () => {
  const made = await ask(`POST ${at()}/keys`);
  const value = String(made.data.secret_key);
  expect([made.status, made.headers.get("cache-control"), value]).toEqual([
    ...[200, "no-store", expect.stringMatching(/^ak_live_/)],
  ]);
  const list = await ask(`GET ${at()}/keys`);
  expect(list.text).not.toContain(value);
  expect(it.lines.join("")).not.toContain(value);
  expect((await ask(`DELETE ${at()}/keys/${made.data.id}`)).data).toMatchObject({ deleted: true });
});

test("settings: a wrong one names its place", async () => {
  const wrong = await ask(`PATCH ${at()}`, { settings: { accent: "blue" } });
  expect([wrong.status, wrong.error]).toEqual([400, expect.stringContaining("accent")]);
  expect((await ask(`PATCH ${at()}`, { settings: { language: "de" } })).status).toBe(200);
  expect((await ask(`GET ${at()}`)).data).toMatchObject({
    settings: { language: "de" },
    effective: { language: "de" },
  });
  await ask(`PATCH ${at()}`, { settings: { language: null } });
});

test("through the operators' instance no token makes itself a person: only what takes access away works there", async () => {
  const operators = await it.enable();
  const id = await it.account("admin@example.com");
  const here = `/identity/instances/${operators}`;
  expect((await ask("GET /identity/instances")).data).toMatchObject({ operators });
  for (const [request, body] of [
    [`POST ${here}/users`, { email: "evil@example.com", password: "correct horse battery" }],
    [`POST ${here}/users/${id}/password`, { password: "correct horse battery" }],
    [`POST ${here}/users/${id}/unban`, undefined],
    [`POST ${here}/users/${id}/verify`, undefined],
    [`POST ${here}/keys`, undefined],
    [`PATCH ${here}`, { settings: { redirect_uris: ["https://evil.example/x"] } }],
  ] as const) {
    const answer = await ask(request, body);
    expect([request, answer.status, answer.error]).toEqual([request, 403, expect.stringContaining("berth identity")]);
  }
  expect((await ask(`GET ${here}/users`)).status).toBe(200);
  expect((await ask(`POST ${here}/users/${id}/ban`)).status).toBe(200);
});

test("the preview shows branding that is not stored, and can do nothing", async () => {
  const query = new URLSearchParams({ title: "<b>Try</b>", accent: "#2f6fed", logo_url: "https://shop.test/logo.svg" });
  const answer = await ask(`GET ${at()}/preview?${query}`, undefined, reader);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(answer.text).toContain("Sign in to &lt;b&gt;Try&lt;/b&gt;");
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy.split("; ")).toEqual([
    "sandbox",
    "default-src 'none'",
    expect.stringMatching(/^style-src 'nonce-/),
    "img-src https://shop.test",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ]);
  const states = {
    wrong: "Email or password is wrong",
    "signed-in": "Continue as Ana Silva",
    "sign-up": "Create account",
  };
  for (const [state, text] of Object.entries(states)) {
    expect((await ask(`GET ${at()}/preview?state=${state}`, undefined, reader)).text).toContain(text);
  }
  expect((await ask(`GET ${at()}/preview?language=de&title=Laden`, undefined, reader)).text).toContain(
    "Bei Laden anmelden",
  );
});

test.each([
  ["state=other", "state"],
  ["accent=red", "accent"],
  ["logo_url=http://shop.test/logo.svg", "logo_url"],
  ["language=fr", "language"],
])("a preview with %s is a 400 that names %s", async (query, name) => {
  const answer = await ask(`GET ${at()}/preview?${query}`, undefined, reader);
  expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(name)]);
});

test("an unknown instance is a 404 everywhere", async () => {
  for (const path of ["", "/users", "/sessions", "/keys", "/audit", "/providers", "/preview"]) {
    expect([path, (await ask(`GET /identity/instances/inst_none${path}`)).status]).toEqual([path, 404]);
  }
});

test("whatever gives access is refused for the operators' instance: every change that is not known to take some away", async () => {
  const operators = await it.enable();
  const takesAway = ["/ban", "/users/:user", "/revoke", "/sign-out"];
  const giving = planeIdentityEndpoints.filter(
    ({ method, path }) => method !== "GET" && !takesAway.some((end) => path.endsWith(end)),
  );
  expect(giving.length).toBeGreaterThan(5);
  for (const { method, path, body } of giving) {
    const request = `${method} ${path.replace(":instance", operators).replaceAll(/:[a-z]+/g, "a")}`;
    const answer = await ask(request, body === undefined ? undefined : {});
    expect([request, answer.status, answer.error]).toEqual([request, 403, expect.stringContaining("berth identity")]);
  }
});

test("the instance is that of the path: a query cannot name another one", async () => {
  const other = await it.identity.tenant();
  const id = await user("eve@example.com");
  const banned = await ask(`POST /identity/instances/${other.id}/users/${id}/ban?instance=${shop}`);
  expect([banned.status, banned.error]).toEqual([400, expect.stringContaining('"instance"')]);
  const listed = await ask(`GET /identity/instances/${other.id}/users?instance=${shop}`);
  expect(listed.data).toMatchObject({ users: [] });
});
