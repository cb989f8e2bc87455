import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  baseUrl,
  addProvider,
  appUrl,
  claimsOf,
  signInWorld,
  type SignInWorld,
  tokenOf,
} from "../../support/sign-in-world.ts";
import { type Tenant, withSecret } from "../../support/identity.ts";
import type { WebBrowser } from "../../support/web-browser.ts";
import { clientId, type Mode } from "../../support/loopback-provider.ts";

let world: SignInWorld;
let shop: Tenant;

beforeEach(async () => {
  world = await signInWorld();
  shop = await world.shop();
});

afterEach(() => world.stop());

const users = (tenant = shop) => world.context.store.users.list(tenant.entry().instance.seq, { limit: 100 });
const states = () => world.context.store.oauthStates.waiting(0, "").all;
const errorOf = (url: string) => new URL(url).searchParams.get("error");

describe("signing in", () => {
  test("the token verifies, and says who it is", async () => {
    const page = await world.signIn(world.browser(), shop, "google");
    expect(page.url.startsWith(`${appUrl}?token=`)).toBe(true);
    expect(claimsOf(page)).toMatchObject({
      iss: "service",
      email: "ana@example.com",
      name: "Ana Silva",
      avatar_url: "https://img.test/a.png",
      provider: "google",
      instance_id: shop.id,
      email_verified: true,
    });
    const verified = await world.ask("POST /api/v1/tokens/verify", {
      headers: withSecret(shop),
      body: { token: tokenOf(page) },
    });
    expect(verified.json).toMatchObject({
      data: { valid: true, email: "ana@example.com", session: { status: "active" } },
    });
  });

  test("google is asked as the contract says, and with PKCE", async () => {
    await world.signIn(world.browser(), shop, "google");
    expect(world.provider.last("/google/authorize").query).toMatchObject({
      client_id: clientId,
      scope: "openid email profile",
      redirect_uri: `${baseUrl}/oauth/google/callback`,
      state: expect.stringMatching(/^[0-9a-f]{64}$/),
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    });
    expect(world.provider.last("/google/token").form.code_verifier).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  test("github: scopes, primary verified address, avatar", async () => {
    const claims = claimsOf(await world.signIn(world.browser(), shop, "github"));
    expect(claims).toMatchObject({ email: "ana@example.com", provider: "github", email_verified: true });
    expect(world.provider.last("/github/authorize").query.scope).toBe("user:email read:user");
  });

  test("github without a verified primary address: a placeholder, never another address", async () => {
    world.provider.person.verified = false;
    const claims = claimsOf(await world.signIn(world.browser(), shop, "github"));
    expect(claims).toMatchObject({ email: "1001@github.users.noreply.invalid", email_verified: false });
  });

  test("twitter: scopes, PKCE, placeholder of the contract, one read", async () => {
    const claims = claimsOf(await world.signIn(world.browser(), shop, "twitter"));
    expect(claims).toMatchObject({ email: "1001@users.noreply.invalid", name: "Ana Silva", provider: "twitter" });
    const { query } = world.provider.last("/twitter/authorize");
    expect(query).toMatchObject({ scope: "tweet.read users.read", code_challenge_method: "S256" });
    expect(world.provider.seen.filter(({ path }) => path === "/twitter/users/me")).toHaveLength(1);
  });

  test("an OpenID Connect connection has its own callback, and its id token is checked", async () => {
    const page = await world.signIn(world.browser(), shop, "acme");
    expect(claimsOf(page)).toMatchObject({ provider: "acme", email: "1001@acme.users.noreply.invalid" });
    const { query } = world.provider.last("/oidc/authorize");
    expect(query.redirect_uri).toBe(`${baseUrl}/oauth/oidc/${shop.id}.acme/callback`);
    expect(query.nonce).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  test("a trusted connection brings its addresses", async () => {
    await addProvider(world, shop, { name: "acme", provider: world.provider, options: { trusted: true } });
    const claims = claimsOf(await world.signIn(world.browser(), shop, "acme"));
    expect(claims).toMatchObject({ email: "ana@example.com", email_verified: true });
  });

  test("PKCE can be turned off where a provider does not know it", async () => {
    await addProvider(world, shop, { name: "github", provider: world.provider, options: { pkce: false } });
    claimsOf(await world.signIn(world.browser(), shop, "github"));
    expect(world.provider.last("/github/authorize").query.code_challenge).toBeUndefined();
  });

  test("scopes and account choice are options", async () => {
    const options = { scopes: ["openid"], select_account: true };
    await addProvider(world, shop, { name: "google", provider: world.provider, options });
    await world.signIn(world.browser(), shop, "google");
    expect(world.provider.last("/google/authorize").query).toMatchObject({ scope: "openid", prompt: "select_account" });
  });

  test("tokens of the provider are stored, unless the instance does not want them", async () => {
    const person = claimsOf(await world.signIn(world.browser(), shop, "acme")).sub;
    const user = world.context.store.users.get(shop.entry().instance.seq, String(person));
    const [identity] = world.context.store.identities.list(user?.seq ?? 0);
    expect(identity).toMatchObject({ accessToken: "at-1001", refreshToken: "rt-secret" });
    const other = await world.shop({ store_provider_tokens: false });
    const second = claimsOf(await world.signIn(world.browser(), other, "acme")).sub;
    const owner = world.context.store.users.get(other.entry().instance.seq, String(second));
    expect(world.context.store.identities.list(owner?.seq ?? 0)[0]?.accessToken).toBeUndefined();
  });

  test.each<[unknown, number | undefined]>([
    [3_600.123_45, 3_600_123],
    [0.000_1, 0],
    [1e18, undefined],
    [-1e20, undefined],
    ["3600", undefined],
    [null, undefined],
  ])("a provider may call any lifetime its own: %p", async (expiresIn, ms) => {
    world.provider.expiresIn = expiresIn;
    const { sub } = claimsOf(await world.signIn(world.browser(), shop, "google"));
    const user = world.context.store.users.get(shop.entry().instance.seq, String(sub));
    const at = world.context.store.identities.list(user?.seq ?? 0)[0]?.tokenExpiresAt;
    expect(at === undefined ? undefined : at - world.clock.now()).toBe(ms as number);
  });

  test("the query of redirect_uri is kept, what is ours is not taken from there", async () => {
    const redirect = `${appUrl}?state=a%20b&token=forged&error=x&return_to=%2Fhome`;
    const page = await world.signIn(world.browser(), shop, "google", redirect);
    expect(page.url.startsWith(`${appUrl}?state=a%20b&return_to=%2Fhome&token=`)).toBe(true);
    expect(new URL(page.url).searchParams.getAll("token")).toHaveLength(1);
  });

  test("letters of other scripts come back to the app", async () => {
    const page = await world.signIn(world.browser(), shop, "google", `${appUrl}?return_to=/日本`);
    expect(page.url.startsWith(`${appUrl}?return_to=/%E6%97%A5%E6%9C%AC&token=`)).toBe(true);
  });

  test("`provider` on the sign-in page skips it", async () => {
    const page = await world.browser().open(world.page(shop, "/sign-in", { provider: "google" }));
    expect(claimsOf(page).provider).toBe("google");
  });
});

describe("one provider and nothing else", () => {
  test("the sign-in goes straight to it, as the contract has it", async () => {
    const only = await world.tenant({ redirect_uris: [appUrl], email_signin: false });
    await addProvider(world, only, { name: "google", provider: world.provider });
    const browser = world.browser();
    expect(claimsOf(await browser.open(world.page(only, "/sign-in"))).provider).toBe("google");
    expect(claimsOf(await browser.open(world.page(only, "/sign-in"))).provider).toBe("google");
    const refused = await browser.open(world.page(only, "/sign-in", { redirect_uri: "https://evil.test/" }));
    expect([refused.status, refused.url.startsWith(baseUrl)]).toEqual([400, true]);
  });

  test("a second provider, or a password, is a choice", async () => {
    const two = await world.tenant({ redirect_uris: [appUrl], email_signin: false });
    for (const name of ["google", "github"]) await addProvider(world, two, { name, provider: world.provider });
    const withPassword = await world.tenant({ redirect_uris: [appUrl] });
    await addProvider(world, withPassword, { name: "google", provider: world.provider });
    for (const tenant of [two, withPassword, await world.tenant({ redirect_uris: [appUrl], email_signin: false })]) {
      expect((await world.browser().open(world.page(tenant, "/sign-in"))).html).toContain("Sign in to");
    }
  });
});

describe("coming back", () => {
  test("the same account is the same user; name, picture and address are brought up to date", async () => {
    const first = claimsOf(await world.signIn(world.browser(), shop, "google"));
    Object.assign(world.provider.person, {
      name: "Ana Costa",
      email: "new@example.com",
      picture: "https://img.test/b.png",
    });
    const second = claimsOf(await world.signIn(world.browser(), shop, "google"));
    expect(second).toMatchObject({ sub: first.sub, name: "Ana Costa", email: "new@example.com" });
    expect(second.avatar_url).toBe("https://img.test/b.png");
    expect(second.session_id).not.toBe(first.session_id);
  });

  test("the same browser goes on with its session, and last_signin_at moves", async () => {
    const browser = world.browser();
    const first = claimsOf(await world.signIn(browser, shop, "google"));
    world.clock.moveTo(world.clock.now() + 60_000);
    const second = claimsOf(await world.signIn(browser, shop, "google"));
    expect(second.session_id).toBe(first.session_id);
    const answer = await world.ask(`GET /api/v1/sessions/${first.session_id}`, { headers: withSecret(shop) });
    const { data } = answer.json as { data: Record<string, string> };
    expect(Date.parse(data.last_signin_at ?? "") - Date.parse(data.logged_in_at ?? "")).toBe(60_000);
  });

  test("another user in the same browser gets a session of their own", async () => {
    const browser = world.browser();
    const first = claimsOf(await world.signIn(browser, shop, "google"));
    Object.assign(world.provider.person, { uid: "2002", email: "bob@example.com" });
    const second = claimsOf(await world.signIn(browser, shop, "google"));
    expect(second.sub).not.toBe(first.sub);
    expect(second.session_id).not.toBe(first.session_id);
  });

  test("the cookie that proves a sign-in is new each time", async () => {
    const browser = world.browser();
    await world.signIn(browser, shop, "google");
    const before = browser.cookies("127.0.0.1:8688");
    await world.signIn(browser, shop, "google");
    expect(browser.cookies("127.0.0.1:8688")).not.toBe(before);
    for (const cookie of browser.setCookies) expect(cookie).toMatch(/; Path=\/; .*HttpOnly; SameSite=Lax/);
  });
});

describe("linking", () => {
  test("a proven address joins a proven user", async () => {
    const known = await world.user(shop, { email: "ana@example.com", emailVerifiedAt: 1, passwordHash: "x" });
    const claims = claimsOf(await world.signIn(world.browser(), shop, "google"));
    expect(claims.sub).toBe(known.id);
    expect(users().find(({ id }) => id === known.id)?.passwordHash).toBe("x");
  });

  test("two providers, one address, one user", async () => {
    const first = claimsOf(await world.signIn(world.browser(), shop, "google"));
    const second = claimsOf(await world.signIn(world.browser(), shop, "github"));
    expect(second.sub).toBe(first.sub);
    expect(users()).toHaveLength(1);
  });

  test("pre-hijacking: what a stranger put on an address that nobody proved goes before its owner comes in", async () => {
    const planted = await world.user(shop, {
      email: "ana@example.com",
      emailVerifiedAt: undefined,
      passwordHash: "attacker",
    });
    const session = await world.session(shop, planted);
    const claims = claimsOf(await world.signIn(world.browser(), shop, "google"));
    expect(claims.sub).toBe(planted.id);
    const user = users().find(({ id }) => id === planted.id);
    expect(user?.passwordHash).toBeUndefined();
    expect(user?.emailVerifiedAt).toBeNumber();
    const left = world.context.store.sessions.bySeq(session.seq);
    expect(left?.revokeReason).toBe("take_over");
  });

  test("an address that the provider has not proved joins nothing", async () => {
    const known = await world.user(shop, { email: "ana@example.com", emailVerifiedAt: 1 });
    world.provider.person.verified = false;
    const claims = claimsOf(await world.signIn(world.browser(), shop, "google"));
    expect(claims.sub).not.toBe(known.id);
    expect(claims.email).toBe("1001@google.users.noreply.invalid");
    const acme = claimsOf(await world.signIn(world.browser(), shop, "acme"));
    expect(acme.sub).not.toBe(known.id);
  });

  test("authoritative: only who hosts the mailbox links", async () => {
    const strict = await world.shop({ linking: "authoritative" });
    const known = await world.user(strict, { email: "ana@example.com", emailVerifiedAt: 1 });
    const other = claimsOf(await world.signIn(world.browser(), strict, "google"));
    expect(other.sub).not.toBe(known.id);
    Object.assign(world.provider.person, { uid: "3003", hd: "example.com" });
    expect(claimsOf(await world.signIn(world.browser(), strict, "google")).sub).toBe(known.id);
  });

  test("our own placeholder addresses never join, whoever claims them", async () => {
    const first = claimsOf(await world.signIn(world.browser(), shop, "twitter"));
    Object.assign(world.provider.person, { uid: "4004", email: String(first.email) });
    const second = claimsOf(await world.signIn(world.browser(), shop, "google"));
    expect(second.sub).not.toBe(first.sub);
    expect(second.email).toBe("4004@google.users.noreply.invalid");
  });

  test("the same address in two instances is two users", async () => {
    const other = await world.shop();
    const first = claimsOf(await world.signIn(world.browser(), shop, "google"));
    const second = claimsOf(await world.signIn(world.browser(), other, "google"));
    expect(second.sub).not.toBe(first.sub);
  });

  test("an id of a provider counts to the byte", async () => {
    const known = claimsOf(await world.signIn(world.browser(), shop, "acme"));
    for (const uid of ["1001 ", " 1001", "1001\u00a0"]) {
      Object.assign(world.provider.person, { uid });
      expect(claimsOf(await world.signIn(world.browser(), shop, "acme")).sub).not.toBe(known.sub);
    }
    for (const uid of ["\t1001", "1001\u0000", "1001\u007f"]) {
      Object.assign(world.provider.person, { uid });
      expect(errorOf((await world.signIn(world.browser(), shop, "acme")).url)).toBe("server_error");
    }
  });

  test("first sign-ins at the same time make one user", async () => {
    const pages = await Promise.all([1, 2, 3, 4].map(() => world.signIn(world.browser(), shop, "google")));
    expect(new Set(pages.map((page) => claimsOf(page).sub)).size).toBe(1);
    expect(users()).toHaveLength(1);
  });

  test("block_subaddresses refuses new users with a +, and tells the app", async () => {
    const strict = await world.shop({ block_subaddresses: true });
    world.provider.person.email = "ana+spam@example.com";
    expect(errorOf((await world.signIn(world.browser(), strict, "google")).url)).toBe("access_denied");
    expect(users(strict)).toEqual([]);
  });

  test("a banned user does not get in", async () => {
    const page = await world.signIn(world.browser(), shop, "google");
    const user = users().find(({ id }) => id === claimsOf(page).sub);
    if (user === undefined) throw new Error("no user");
    await world.context.store.write((nouns) => nouns.users.update({ ...user, bannedAt: 1 }));
    expect(errorOf((await world.signIn(world.browser(), shop, "google")).url)).toBe("access_denied");
  });
});

describe("what a provider answers", () => {
  const outcomes: [Mode, string, string][] = [
    ["deny", "google", "access_denied"],
    ["odd_error", "google", "server_error"],
    ["status_500", "google", "temporarily_unavailable"],
    ["garbage_token", "google", "server_error"],
    ["garbage_profile", "google", "server_error"],
    ["error_200", "github", "server_error"],
    ["huge", "google", "server_error"],
    ["redirect_token", "google", "server_error"],
    ["no_id_token", "acme", "server_error"],
    ["forged_id_token", "acme", "server_error"],
    ["foreign_issuer", "acme", "server_error"],
    ["foreign_audience", "acme", "server_error"],
    ["wrong_nonce", "acme", "server_error"],
    ["expired_id_token", "acme", "server_error"],
    ["other_subject", "acme", "server_error"],
  ];
  const letsNobodyIn = async (mode: Mode, name: string, error: string) => {
    world.provider.mode = mode;
    const page = await world.signIn(world.browser(), shop, name, `${appUrl}?state=1`);
    expect(page.url).toBe(`${appUrl}?state=1&error=${error}`);
    expect(users()).toEqual([]);
    const [entry] = world.context.store.audit.list(shop.entry().instance.seq, { limit: 1 });
    expect(entry?.action).toBe("signin.fail");
  };
  for (const [mode, name, error] of outcomes)
    test(`${mode}: the app gets ${error}, nobody is let in`, () => letsNobodyIn(mode, name, error));

  for (const mode of ["hang_token", "hang_profile"] as const)
    test(`${mode}: the app gets temporarily_unavailable when the time is over, nobody is let in`, async () => {
      await world.stop();
      world = await signInWorld({}, { providerHeadMs: 400, providerTotalMs: 700 });
      shop = await world.shop();
      await letsNobodyIn(mode, "google", "temporarily_unavailable");
    });

  test("a provider that cannot be reached", async () => {
    const options = { authorize_url: `${world.provider.url}/google/authorize`, token_url: "http://127.0.0.1:1/token" };
    await addProvider(world, shop, { name: "google", provider: world.provider, options });
    const page = await world.signIn(world.browser(), shop, "google");
    expect(errorOf(page.url)).toBe("temporarily_unavailable");
  });

  test("an issuer that cannot be discovered", async () => {
    const options = { issuer: `${world.provider.url}/nothing` };
    await addProvider(world, shop, { name: "acme", provider: world.provider, options });
    expect(errorOf((await world.signIn(world.browser(), shop, "acme")).url)).toBe("server_error");
  });

  test("nothing of what was said goes into the log", async () => {
    for (const mode of ["error_200", "garbage_token", "normal", "forged_id_token"] as const) {
      world.provider.mode = mode;
      for (const name of ["google", "acme"]) await world.signIn(world.browser(), shop, name);
    }
    const log = world.logged.join("\n");
    for (const { form, query } of world.provider.seen) {
      const secrets = [form.code, form.code_verifier, form.client_secret, query.state, query.nonce, query.code];
      for (const secret of secrets) if (secret !== undefined) expect(log).not.toContain(secret);
    }
    expect(log).not.toContain("at-1001");
  });
});

describe("state", () => {
  /** Goes as far as the provider, and returns where the provider would send the browser back to. */
  async function halfway(browser = world.browser(), provider = "google", tenant = shop) {
    world.provider.asks = true;
    const page = await world.signIn(browser, tenant, provider);
    world.provider.asks = false;
    const consent = /id="allow" href="([^"]*)"/.exec(page.html)?.[1] ?? "";
    const response = await fetch(`${world.provider.url}${consent}`, { redirect: "manual" });
    return { browser, callback: response.headers.get("location") ?? "" };
  }

  test("works once", async () => {
    const { browser, callback } = await halfway();
    claimsOf(await browser.open(callback));
    const again = await browser.open(callback);
    expect(again.status).toBe(400);
    expect(again.html).toContain("This sign-in is over");
  });

  test("is not spent by whoever only looks", async () => {
    const { browser, callback } = await halfway();
    const head = await world.fetch(new Request(callback, { method: "HEAD" }));
    expect([head.status, head.headers.get("allow")]).toEqual([405, "GET"]);
    claimsOf(await browser.open(callback));
  });

  test("used twice at the same time, one gets in", async () => {
    const { browser, callback } = await halfway();
    const pages = await Promise.all([1, 2, 3].map(() => browser.open(callback)));
    expect(pages.filter(({ status }) => status === 400)).toHaveLength(2);
    expect(world.provider.seen.filter(({ path }) => path === "/google/token")).toHaveLength(1);
  });

  test("is over after ten minutes", async () => {
    const { browser, callback } = await halfway();
    world.clock.moveTo(world.clock.now() + 600_000);
    expect((await browser.open(callback)).status).toBe(400);
  });

  test("of another browser, or without cookies, is refused before the provider is asked", async () => {
    const { callback } = await halfway();
    const stranger = world.browser();
    await stranger.open(world.page(shop, "/sign-in"));
    expect((await stranger.open(callback)).html).toContain("This sign-in is over");
    const { browser, callback: second } = await halfway();
    browser.forgetCookies();
    expect((await browser.open(second)).html).toContain("does not keep cookies");
    expect(world.provider.seen.filter(({ path }) => path === "/google/token")).toEqual([]);
  });

  test("two tabs of one browser", async () => {
    const { browser, callback: first } = await halfway();
    const { callback: second } = await halfway(browser, "github");
    claimsOf(await browser.open(first));
    claimsOf(await browser.open(second));
  });

  test("of one provider does not count at the callback of another (mix-up)", async () => {
    const { browser, callback } = await halfway();
    const moved = callback.replace("/oauth/google/", "/oauth/github/");
    expect((await browser.open(moved)).status).toBe(400);
    expect(states()).toBe(0);
    const oidc = await halfway(world.browser(), "acme");
    const other = await world.shop();
    const foreign = oidc.callback.replace(shop.id, other.id);
    expect((await oidc.browser.open(foreign)).status).toBe(400);
  });

  test("of one instance signs in there and nowhere else", async () => {
    const other = await world.shop();
    const browser = world.browser();
    const { callback } = await halfway(browser, "google", shop);
    await halfway(browser, "google", other);
    expect(claimsOf(await browser.open(callback)).instance_id).toBe(shop.id);
  });

  test("an address that was taken off the list meanwhile gets nothing", async () => {
    const { browser, callback } = await halfway();
    const { instance } = shop.entry();
    await world.context.store.write(({ instances }) =>
      instances.update({ ...instance, settings: { redirect_uris: ["https://other.test/cb"] } }),
    );
    const page = await browser.open(callback);
    expect(page.status).toBe(400);
    expect(page.html).toContain("not valid");
  });

  test("endpoints that are changed meanwhile do not get the code", async () => {
    const { browser, callback } = await halfway();
    const options = { token_url: "http://127.0.0.1:1/steal" };
    await addProvider(world, shop, { name: "google", provider: world.provider, options });
    claimsOf(await browser.open(callback));
    expect(world.provider.seen.filter(({ path }) => path === "/google/token")).toHaveLength(1);
  });

  test("malformed ones are refused", async () => {
    for (const query of [
      "",
      "?state=",
      "?state=abc&code=1",
      `?state=${"a".repeat(64)}&state=${"a".repeat(64)}&code=1`,
    ]) {
      const page = await world.browser().open(`${baseUrl}/oauth/google/callback${query}`);
      expect(page.status).toBe(400);
      expect(page.headers.get("location")).toBeNull();
    }
  });

  test("only its hash is stored", async () => {
    const { callback } = await halfway();
    const state = new URL(callback).searchParams.get("state") ?? "";
    const taken = await world.context.store.write(({ oauthStates }) =>
      oauthStates.take(new TextEncoder().encode(state)),
    );
    expect(taken).toBeUndefined();
  });
});

describe("where there is nowhere to send the browser", () => {
  const cases: [string, Record<string, string>, string][] = [
    ["no redirect_uri", { provider: "google" }, "not valid"],
    ["a foreign one", { provider: "google", redirect_uri: "https://evil.test/callback" }, "not valid"],
    ["an unknown provider", { provider: "myspace", redirect_uri: appUrl }, "not available"],
    ["a disabled one", { provider: "constructor", redirect_uri: appUrl }, "not available"],
  ];
  for (const [name, query, text] of cases) {
    test(`${name}: a page, no redirect`, async () => {
      const page = await world.browser().open(`${baseUrl}/i/${shop.id}/oauth/authorize?${new URLSearchParams(query)}`);
      expect(page.status).toBe(400);
      expect(page.html).toContain(text);
      expect(page.headers.get("location")).toBeNull();
    });
  }

  test("an unknown instance is a 404 page", async () => {
    const page = await world.browser().open(`${baseUrl}/i/inst_none/sign-in?redirect_uri=${appUrl}`);
    expect(page.status).toBe(404);
    expect(page.html).toContain("nothing here");
  });
});

test("an instance with a host of its own: the cookie is set where the provider comes back to", async () => {
  const hosted = await world.shop({}, "id.shop.test");
  const browser = world.browser();
  const query = new URLSearchParams({ provider: "google", redirect_uri: appUrl });
  const page = await browser.open(`http://id.shop.test/oauth/authorize?${query}`);
  expect(claimsOf(page).instance_id).toBe(hosted.id);
  expect(browser.cookies("id.shop.test")).toBe("");
  expect(browser.cookies("127.0.0.1:8688")).not.toBe("");
});

test("a proxy that hides the host does not make it go round in circles", async () => {
  const query = new URLSearchParams({ provider: "google", redirect_uri: appUrl, hop: "1" });
  const request = new Request(`http://10.0.0.5:8688/i/${shop.id}/oauth/authorize?${query}`);
  const response = await world.fetch(request);
  expect(response.headers.get("location")?.startsWith(`${world.provider.url}/google/authorize`)).toBe(true);
});

test("sign-out on the host of an instance ends a session that began through a provider", async () => {
  const hosted = await world.shop({}, "auth.shop.test");
  const back = `redirect_uri=${encodeURIComponent(appUrl)}`;
  const isActive = async (id: unknown) => {
    const { json } = await world.ask(`GET /api/v1/sessions/${id}`, { headers: withSecret(hosted) });
    return (json as { data: { active: boolean } }).data.active;
  };
  const signIn = async (browser: WebBrowser) =>
    claimsOf(await browser.open(`http://auth.shop.test/oauth/authorize?provider=google&${back}`)).session_id;
  const asked = world.browser();
  const first = await signIn(asked);
  const page = await asked.open(`http://auth.shop.test/sign-out?${back}`);
  expect([page.html.includes("Sign out"), await isActive(first)]).toEqual([true, true]);
  expect((await asked.submit(page, "/sign-out", {})).url).toBe(appUrl);
  expect(await isActive(first)).toBe(false);
  const named = world.browser();
  const second = await signIn(named);
  expect((await named.open(`http://auth.shop.test/sign-out?${back}&session_id=${second}`)).url).toBe(appUrl);
  expect(await isActive(second)).toBe(false);
});

describe("delivery", () => {
  test("code: redeemed once, within a minute, by its own instance", async () => {
    const coded = await world.shop({ delivery: "code" });
    const code = async () =>
      new URL((await world.signIn(world.browser(), coded, "google")).url).searchParams.get("code");
    const redeem = (value: string | null, tenant = coded) =>
      world.ask("POST /api/v1/tokens/redeem", { headers: withSecret(tenant), body: { code: value } });
    const first = await code();
    const answer = await redeem(first);
    expect(answer.status).toBe(200);
    const { token } = answer.json as { token: string };
    const verified = await world.ask("POST /api/v1/tokens/verify", { headers: withSecret(coded), body: { token } });
    expect(verified.status).toBe(200);
    expect((await redeem(first)).status).toBe(401);
    const stolen = await code();
    expect((await redeem(stolen, shop)).status).toBe(401);
    expect((await redeem(stolen)).status).toBe(200);
    const late = await code();
    world.clock.moveTo(world.clock.now() + 60_000);
    expect((await redeem(late)).json).toEqual({ error: "Invalid code" });
    expect((await redeem(null)).json).toEqual({ error: "Missing code" });
  });

  test("form_post: the token goes in a body, with and without JavaScript", async () => {
    const posted = await world.shop({ delivery: "form_post" });
    const page = await world.signIn(world.browser(), posted, "google");
    expect(page.html).toContain(`<form method="post" action="${appUrl}">`);
    expect(page.html).toMatch(/name="token" value="[\w-]+\.[\w-]+\.[\w-]+"/);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("form-action 'self' https:");
    expect(policy).toMatch(/script-src 'nonce-/);
    expect(page.html).toMatch(/<button class="button main" type="submit">/);
  });
});
