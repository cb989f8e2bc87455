import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cli, type Scene } from "../../support/cli.ts";
import { type IdentityWorld, identityWorld } from "../../support/identity.ts";
import { waitFor } from "../../support/wait.ts";
import { manageFetch } from "../../support/identity-plane.ts";

/** The client against the real operations, in process. */
let world: IdentityWorld;
let folder: string;
let server: Scene["server"];
beforeEach(() => {
  world = identityWorld();
  folder = mkdtempSync(join(tmpdir(), "identity-cli-"));
  const fetch = manageFetch(world.running.identity.manage, world.context.log);
  server = ({ method, path, query, body }) => {
    const search = new URLSearchParams(query).toString();
    return fetch(`${method} ${path}${search === "" ? "" : `?${search}`}`, body);
  };
});
afterEach(() => {
  world.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = (line: string[], scene: Scene = {}) => cli(["identity", ...line], { server, cwd: folder, ...scene });
const json = async (line: string[], scene: Scene = {}) => {
  const { out, code, err } = await run([...line, "-o", "json"], scene);
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out).data as Record<string, unknown>;
};
const start = async () =>
  (await json(["quickstart", "--redirect", "http://localhost:3000/cb"])) as Record<string, string>;

test("quickstart prints keys, a sign-in address and a line that verifies a token", async () => {
  const { out, code } = await run(["quickstart", "--redirect", "http://localhost:3000/cb"]);
  expect(code).toBe(0);
  const key = /sk_test_\w+/.exec(out)?.[0] ?? "";
  const instance = /inst_\w+/.exec(out)?.[0] ?? "";
  expect(out).toContain(`/i/${instance}/sign-in?redirect_uri=http%3A%2F%2Flocalhost%3A3000%2Fcb`);
  expect(out).toContain(`curl -s http://127.0.0.1:8688/api/v1/tokens/verify -H 'X-Service-Secret-Key: ${key}'`);
  expect(out).toMatch(
    /curl -s http:\/\/127.0.0.1:8688\/api\/v1\/sessions\/revoke -H 'X-Service-Publishable-Key: pk_test_\w+' -d '\{"refresh_token":"REFRESH_TOKEN"\}'/,
  );
  expect(Object.keys(await start()).sort()).toEqual(
    ["app_id", "instance_id", "publishable_key", "secret_key", "sign_in_url", "verify_url"].sort(),
  );
  expect((await run(["quickstart"])).err).toContain("--redirect URL");
});

test("quickstart takes the title that the pages show", async () => {
  const { instance_id: id = "" } = (await json([
    ...["quickstart", "--redirect", "http://localhost:3000/cb", "--title", "My shop"],
  ])) as Record<string, string>;
  expect((await json(["instance", "show", id])).settings).toMatchObject({ title: "My shop" });
  const page = await world.ask(`GET /i/${id}/sign-in?redirect_uri=http%3A%2F%2Flocalhost%3A3000%2Fcb`);
  expect(page.text).toContain("Sign in to My shop");
});

test("why says which address was refused by which rule, and how to allow it", async () => {
  const { instance_id: id = "" } = await start();
  expect((await run(["why"])).out).toContain("nothing has failed on record");
  const wrong = encodeURIComponent("http://localhost:3001/cb?token=secret");
  for (let n = 0; n < 3; n++) await world.ask(`GET /i/${id}/sign-in?redirect_uri=${wrong}`);
  await waitFor("the entry", async () => (await run(["why"])).out.includes("redirect.refused"));
  const { out } = await run(["why"]);
  expect(out).toMatch(/ 3 +redirect.refused/);
  expect(out).toContain(
    'http://localhost:3001/cb?token=…: its port is "3001"; the nearest address on the list, http://localhost:3000/cb, has "3000"',
  );
  expect(out).toContain(`berth identity instance set ${id} --redirect URL`);
  const log = world.logged.filter((line) => line.includes("redirect refused"));
  expect(log[0]).toContain("3001");
  expect(world.logged.join("")).not.toContain("secret");
});

test("a provider says where its address goes, and that addresses of an untrusted one stay unproved", async () => {
  const { instance_id: id = "" } = await start();
  const keys = ["--client-id", "c", "--client-secret", "s"];
  const github = (await run(["provider", "set", "github", ...keys])).out;
  expect(github).toContain("/oauth/github/callback   (github.com, Settings, Developer settings, OAuth Apps");
  expect(github).not.toContain("unproved");
  const acme = ["provider", "set", "acme", "--issuer", "https://sso.acme.test", ...keys];
  expect((await run(acme)).out).toContain("addresses from acme stay unproved");
  expect((await run([...acme, "--trusted"])).out).not.toContain("unproved");
  const { out } = await run(["provider", "list"]);
  expect(out).toContain("/oauth/github/callback   (github.com");
  expect(out).toContain(`/oauth/oidc/${id}.acme/callback   (sso.acme.test, the client of this service: redirect URIs)`);
});

test("a service that nobody can reach makes no keys, and is said to be turned off", async () => {
  const off = identityWorld({}, { isServed: false });
  const fetch = manageFetch(off.running.identity.manage, off.context.log);
  const scene: Scene = { server: ({ method, path, body }) => fetch(`${method} ${path}`, body) };
  const { err, code } = await run(["quickstart", "--redirect", "http://localhost:3000/cb"], scene);
  expect([code, off.context.store.apps.list()]).toEqual([1, []]);
  expect(err).toContain("the identity service is turned off: start the server with --identity-addr");
  off.close();
});

test("what scripts rely on is written as it is fixed", async () => {
  const { instance_id: id = "" } = await start();
  const at = ["--instance", id];
  const user = await json(["user", "create", ...at, "--email", "e@x.test", "--name", "N", "--password", "long enough"]);
  expect(user.id).toMatch(/^[0-9a-f-]{36}$/);
  const urls = ["authorize", "token", "userinfo", "emails"].flatMap((name) => [
    `--${name}-url`,
    `http://127.0.0.1/${name}`,
  ]);
  const keys = ["--client-id", "X", "--client-secret", "Y"];
  const provider = await json(["provider", "set", ...at, "github", ...keys, ...urls]);
  expect(provider.options).toEqual({
    authorize_url: "http://127.0.0.1/authorize",
    token_url: "http://127.0.0.1/token",
    userinfo_url: "http://127.0.0.1/userinfo",
    emails_url: "http://127.0.0.1/emails",
  });
  const aliases = ["--secret-key-header", "X-Old-Secret", "--publishable-key-header", "X-Old-Key"];
  const compat = await json(["compat", ...at, ...aliases, "--issuer", "old", "--session-prefix", "old_session_"]);
  expect(compat).toMatchObject({
    secret_key_headers: ["X-Old-Secret"],
    publishable_key_headers: ["X-Old-Key"],
    jwt_issuer: "old",
    session_id_prefix: "old_session_",
  });
  expect(await json(["compat", ...at, "--issuer", ""])).toMatchObject({ jwt_issuer: "service" });
});

test("the only instance need not be named; with several it must be", async () => {
  expect((await run(["user", "list"])).err).toContain("berth identity quickstart makes one");
  await start();
  expect((await run(["user", "create", "--email", "a@x.test"])).code).toBe(0);
  await start();
  expect(await run(["user", "list"])).toMatchObject({ code: 2, err: expect.stringContaining("which with --instance") });
});

test("users are shown, found, banned, changed and deleted by id or address", async () => {
  await start();
  const password = await run(["user", "create", "--email", "ana@x.test", "--password", "-"], {
    stdin: "from stdin!\n",
  });
  expect(password.code).toBe(0);
  await run(["user", "create", "--email", "bo@x.test", "--unverified"]);
  const list = await run(["user", "list"]);
  expect(list.out).toMatch(/bo@x\.test +bo +unverified/);
  expect(list.out).toMatch(/ana@x\.test +ana +verified +password/);
  expect((await run(["user", "list", "-n", "1"])).out).toContain("more with --cursor");
  expect((await run(["user", "search", "email:bo*"])).out).not.toContain("ana@");
  expect((await run(["user", "search", "--", "-email:bo*", "name:*"])).out).not.toContain("bo@");
  expect((await run(["user", "show", "bo@x.test"])).out).toMatch(/email_verified +false/);
  expect((await run(["user", "ban", "bo@x.test"])).out).toBe("banned bo@x.test, ended 0 sessions\n");
  expect((await run(["user", "unban", "bo@x.test"])).out).toContain("may sign in again");
  expect((await run(["user", "set-password", "ana@x.test"])).code).toBe(2);
  expect((await run(["user", "set-password", "ana@x.test", "--none"])).out).toContain("has no password any more");
  // On a terminal it asks; a script says -y.
  expect(await run(["user", "delete", "bo@x.test"], { typed: ["n\n"] })).toMatchObject({ code: 5 });
  expect((await run(["user", "show", "bo@x.test"])).code).toBe(0);
  expect((await run(["user", "delete", "bo@x.test"])).code).toBe(5);
  expect((await run(["user", "delete", "bo@x.test", "-y"])).code).toBe(0);
  expect((await run(["user", "delete", "ana@x.test", "-y"], { typed: [] })).code).toBe(0);
  expect(await run(["user", "delete", "bo@x.test", "-y"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("no user"),
  });
});

test("keys are rotated in two steps, or at once", async () => {
  await start();
  const staged = await run(["key", "rotate"]);
  expect(staged.out).toMatch(/^sk_test_\w{43}\nkey_\w+, shown once.*\ngive it to your servers/);
  expect((await run(["key", "rotate"])).err).toContain("is staged already");
  expect((await run(["key", "promote", "--overlap", "2h"])).out).toMatch(
    /signs from now on, key_\w+ is accepted until/,
  );
  expect((await run(["key", "list"])).out).toMatch(/secret +previous/);
  expect((await run(["key", "create"])).out).toMatch(/^ak_test_/);
  expect((await run(["key", "rotate", "--now"])).out).toContain(
    "every other key has ended\n1 of them for the API alone",
  );
});

test("settings are written by their types, and mistakes are told before anything is sent", async () => {
  const { instance_id: id = "" } = await start();
  const words = ["email_signup=false", "max_concurrent_sessions=3", "title=Shop 7", "secret_key_headers=X-A, X-B"];
  await json(["instance", "set", id, ...words, "--host", "id.shop.test", "--redirect", "https://shop.test/cb"]);
  const shown = await json(["instance", "show", id]);
  expect(shown).toMatchObject({ host: "id.shop.test" });
  expect(shown.settings).toEqual({
    redirect_uris: ["https://shop.test/cb"],
    email_signup: false,
    max_concurrent_sessions: 3,
    title: "Shop 7",
    secret_key_headers: ["X-A", "X-B"],
  });
  await json(["instance", "set", id, "title=", "max_concurrent_sessions=", "--host", ""]);
  expect((await json(["instance", "show", id])).host).toBeNull();
  expect(await run(["instance", "set", id, "titel=x"])).toMatchObject({
    code: 2,
    err: expect.stringContaining('did you mean "title"'),
  });
  expect((await run(["instance", "set", id, "email_signup=maybe"])).err).toContain("email_signup: expected boolean");
  expect((await run(["instance", "list"])).out).toContain(id);
  expect((await run(["instance", "delete", id])).code).toBe(5);
  expect((await run(["instance", "delete", id], { typed: ["no"] })).code).toBe(5);
  expect((await run(["instance", "delete", id], { typed: ["y"] })).out).toContain("deleted instance");
});

test("a file of users is sent in pieces, faults are told by line, and it may be sent again", async () => {
  await start();
  const users = Array.from({ length: 9_000 }, (_, n) =>
    JSON.stringify({ email: `u${n}@x.test`, name: "x".repeat(200) }),
  );
  users[8_500] = '{"email":"nope"}';
  writeFileSync(join(folder, "users.ndjson"), users.join("\n"));
  const first = await run(["import", "users.ndjson"]);
  expect(first).toMatchObject({ code: 1, out: "8999 created, 0 updated, 0 there already, 1 failed\n" });
  expect(first.err).toBe("line 8501: email: is required, and must be an address\n");
  expect(first.calls.filter(({ path }) => path === "/identity/import")).toHaveLength(3);
  expect((await run(["import", "users.ndjson"])).out).toContain("0 created, 0 updated, 8999 there already");
  expect((await run(["import", "-"], { stdin: '{"email":"one@x.test"}' })).out).toContain("1 created");
  expect((await run(["import", "missing.ndjson"])).err).toContain('"missing.ndjson" cannot be read (ENOENT)');
});

test("an export goes to a file of the owner's alone, whole or not at all", async () => {
  await start();
  await run(["user", "create", "--email", "ana@x.test", "--password", "long enough"]);
  expect((await run(["export", "--out", "users.ndjson"])).out).toBe("wrote 1 users to users.ndjson\n");
  const text = readFileSync(join(folder, "users.ndjson"), "utf8");
  expect(text).toMatch(/^\{"id":.*"ana@x.test".*\}\n\{"end":true,"users":1\}\n$/);
  expect(text).not.toContain("argon2");
  expect(statSync(join(folder, "users.ndjson")).mode & 0o777).toBe(0o600);
  const out = await run(["export", "--secrets"]);
  expect(out.out).toContain("$argon2id$");
  const cut = await run(["export", "--out", "cut.ndjson", "--instance", "x"], {
    server: () => new Response('{"id":1}\n', { headers: { "Content-Type": "application/x-ndjson" } }),
  });
  expect(cut).toMatchObject({ code: 1, err: expect.stringContaining("broke off before its last line") });
  expect(() => statSync(join(folder, "cut.ndjson"))).toThrow();
});

test("hooks, mails, sessions and the audit trail are shown", async () => {
  await start();
  const hook = await run(["hook", "create", "https://hooks.test/x", "--event", "user.created"]);
  const id = /hook_\w+/.exec(hook.out)?.[0] ?? "";
  expect(hook.out).toMatch(/signing secret [0-9a-f]{64}/);
  await run(["user", "create", "--email", "ana@x.test"]);
  expect((await run(["hook", "list"])).out).toContain("user.created");
  expect((await run(["hook", "deliveries", id])).out).toMatch(/user\.created +waiting +0/);
  expect((await run(["hook", "delete", id])).code).toBe(0);
  expect((await run(["mail", "list"])).out).toBe("no mails\n");
  expect((await run(["mail", "show", "mail_x"])).err).toContain('no mail "mail_x"');
  expect((await run(["session", "list"])).out).toBe("no sessions\n");
  expect((await run(["session", "revoke", "svc_session_x"])).err).toContain("no session");
  expect((await run(["audit", "action:user.*"])).out).toMatch(/operator +user\.create +ana@x\.test/);
  expect((await run(["provider", "list"])).out).toContain("the page offers: password");
  expect((await run(["app", "list"])).out).toMatch(/app_\w{20} +app-\w{5} +1/);
});

test("addresses with other letters: lists show the letters, pairs are named, an import tells of them", async () => {
  const { instance_id: id = "" } = await start();
  const made = (await json(["user", "create", "--email", "ana@münchen.de"])) as { id: string; email: string };
  expect(made.email).toBe("ana@xn--mnchen-3ya.de");
  expect((await run(["user", "list"])).out).toContain("ana@münchen.de");
  expect((await run(["user", "show", "ANA@münchen.de"])).out).toContain("ana@münchen.de (ana@xn--mnchen-3ya.de)");
  expect((await run(["user", "pairs"])).out).toContain("every mailbox has one user");
  const { users } = world.context.store;
  const old = users.get(world.context.store.instances.get(id)?.seq ?? 0, made.id);
  if (old === undefined) throw new Error("no user");
  const written = { ...old, id: crypto.randomUUID(), email: "ana@münchen.de" };
  await world.context.store.write((nouns) => nouns.users.add(written));
  for (const all of [[], ["--instance", id]]) {
    const { out } = await run(["user", "pairs", ...all]);
    for (const part of ["ana@xn--mnchen-3ya.de", id, made.id, written.id, "ana@münchen.de"])
      expect(out).toContain(part);
  }
  writeFileSync(join(folder, "users.ndjson"), '{"email":"bob@x.test"}\n{"email":"Ana@MÜNCHEN.de"}\n');
  const { out, err, code } = await run(["import", "users.ndjson"]);
  expect([code, out]).toEqual([0, expect.stringContaining("1 created, 0 updated, 1 there already, 0 failed")]);
  expect(err).toContain(`line 2: ana@münchen.de is the mailbox of user ${made.id}: left out`);
});
