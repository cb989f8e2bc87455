import { purge } from "../../../src/identity/service/purge.ts";
import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import {
  appUrl,
  baseUrl,
  claimsOf,
  linkIn,
  signInWorld,
  type SignInWorld,
  tokenOf,
} from "../../support/sign-in-world.ts";
import { type Tenant, withSecret } from "../../support/identity.ts";
import type { WebBrowser } from "../../support/web-browser.ts";

let world: SignInWorld;
let shop: Tenant;

beforeEach(async () => {
  world = await signInWorld();
  shop = await world.shop();
});

afterEach(() => world.stop());

const email = "ana@example.com";
const password = "correct horse battery";

async function signUp(browser: WebBrowser, fields: Record<string, string> = {}, tenant = shop) {
  const page = await browser.open(world.page(tenant, "/sign-up"));
  return browser.submit(page, "/sign-up", { name: "Ana", email, password, ...fields });
}

async function signIn(browser: WebBrowser, fields: Record<string, string> = {}, tenant = shop) {
  const page = await browser.open(world.page(tenant, "/sign-in"));
  return browser.submit(page, "/sign-in", { email, password, ...fields });
}

async function verified(browser = world.browser()) {
  await signUp(browser);
  const page = await browser.open(linkIn(world.mails()[0]));
  return browser.submit(page, "/verify", {});
}

const find = (address = email) => world.context.store.users.byEmail(shop.entry().instance.seq, address);
const later = (ms: number) => world.clock.moveTo(world.clock.now() + ms);

describe("sign-up", () => {
  test("a mail proves the address; the same browser needs one click", async () => {
    const browser = world.browser();
    const sent = await signUp(browser);
    expect(sent.status).toBe(200);
    expect(sent.html).toContain("Check your mail");
    expect(find()?.emailVerifiedAt).toBeUndefined();
    const [mail] = world.mails();
    expect(mail).toMatchObject({ state: "kept", purpose: "verify_email", message: { to: email } });
    const link = linkIn(mail);
    expect(link.startsWith(`${baseUrl}/i/${shop.id}/verify?token=`)).toBe(true);
    const asked = await browser.open(link);
    expect(find()?.emailVerifiedAt).toBeUndefined();
    const done = await browser.submit(asked, "/verify", {});
    expect(done.url.startsWith(`${appUrl}?token=`)).toBe(true);
    expect(claimsOf(done)).toMatchObject({ email, name: "Ana", provider: "email", email_verified: true });
    const answer = await world.ask("GET /api/v1/sessions", { headers: withSecret(shop) });
    expect(answer.json).toMatchObject([{ data: { provider: "password", email } }]);
    expect((await browser.open(link)).html).toContain("does not work any more");
  });

  test("in another browser the link wants the password: reading the mailbox is not enough", async () => {
    await signUp(world.browser());
    const phone = world.browser();
    const asked = await phone.open(linkIn(world.mails()[0]));
    expect(asked.html).toContain('type="password"');
    expect((await phone.submit(asked, "/verify", { password: "wrong" })).status).toBe(401);
    expect(find()?.emailVerifiedAt).toBeUndefined();
    claimsOf(await phone.submit(asked, "/verify", { password }));
  });

  test("pre-hijacking: whoever proves the address decides the password", async () => {
    await signUp(world.browser(), { password: "password of a stranger" });
    const owner = world.browser();
    await signUp(owner);
    const page = await owner.open(linkIn(world.mails()[0]));
    claimsOf(await owner.submit(page, "/verify", {}));
    expect((await signIn(world.browser(), { password: "password of a stranger" })).status).toBe(401);
    claimsOf(await signIn(world.browser()));
    const [, planted] = world.mails();
    expect((await owner.open(linkIn(planted))).html).toContain("does not work any more");
  });

  test("before the address is proved, the password opens nothing", async () => {
    await signUp(world.browser());
    expect((await signIn(world.browser())).status).toBe(401);
  });

  test("a taken address gets the same page; the mailbox is told", async () => {
    await verified();
    const [fresh, taken] = [await signUp(world.browser(), { email: "new@example.com" }), await signUp(world.browser())];
    const plain = (html: string, address: string) => html.replaceAll(address, "ADDRESS").replace(/nonce="[^"]*"/g, "");
    expect(plain(taken.html, email)).toBe(plain(fresh.html, "new@example.com"));
    expect([...taken.headers.keys()]).toEqual([...fresh.headers.keys()]);
    expect(world.mails()[0]).toMatchObject({ purpose: "account_exists", message: { to: email } });
    expect(linkIn(world.mails()[0])).not.toContain("token");
  });

  test("an arrival through a provider ends what was pending", async () => {
    await signUp(world.browser(), { password: "password of a stranger" });
    const link = linkIn(world.mails()[0]);
    const claims = claimsOf(await world.signIn(world.browser(), shop, "google"));
    expect(claims.email).toBe(email);
    const page = await world.browser().open(link);
    expect(page.html).toContain("does not work any more");
    expect(find()?.passwordHash).toBeUndefined();
  });

  const wrong: [string, Record<string, string>, string][] = [
    ["a short password", { password: "seven77" }, "too short"],
    ["a long password", { password: "x".repeat(1_025) }, "too long"],
    ["the address as password", { password: email }, "must not be the email"],
    ["no address", { email: "ana" }, "not an email address"],
    ["an address of ours", { email: "x@users.noreply.invalid" }, "not an email address"],
    ["a long name", { name: "x".repeat(201) }, "too long"],
  ];
  for (const [name, fields, text] of wrong) {
    test(`${name}: the form again, filled in, without the password`, async () => {
      const page = await signUp(world.browser(), fields);
      expect(page.status).toBe(400);
      expect(page.html).toContain(text);
      expect(/<input id="password"[^>]*value="([^"]*)"/.exec(page.html)?.[1]).toBe("");
      expect(world.mails()).toEqual([]);
    });
  }

  test("links end after a day, and belong to their instance", async () => {
    const browser = world.browser();
    await signUp(browser);
    const link = linkIn(world.mails()[0]);
    const other = await world.shop();
    expect((await browser.open(link.replace(shop.id, other.id))).status).toBe(400);
    later(24 * 3_600_000);
    expect((await browser.open(link)).status).toBe(400);
  });

  test("a user who came with a sign-up that nobody finished goes with it; one who was there before stays", async () => {
    await world.user(shop, { email: "known@example.com", emailVerifiedAt: undefined });
    await signUp(world.browser());
    await signUp(world.browser(), { email: "known@example.com" });
    later(12 * 3_600_000);
    await signUp(world.browser());
    later(12 * 3_600_000);
    const signal = new AbortController().signal;
    await purge(world.context, world.clock.now(), signal);
    expect(find()).toBeDefined();
    later(12 * 3_600_000);
    await purge(world.context, world.clock.now(), signal);
    expect(find()).toBeUndefined();
    expect(find("known@example.com")).toBeDefined();
    await verified();
    later(48 * 3_600_000);
    await purge(world.context, world.clock.now(), signal);
    expect(find()).toBeDefined();
  });

  test("where it is turned off there is neither form nor door", async () => {
    const closed = await world.shop({ email_signup: false });
    const browser = world.browser();
    expect((await browser.open(world.page(closed, "/sign-up"))).html).not.toContain("new-password");
    const page = await browser.open(world.page(closed, "/sign-in"));
    const forged = { ...page, html: page.html.replace(`/i/${closed.id}/sign-in"`, `/i/${closed.id}/sign-up"`) };
    const refused = await browser.submit(forged, "/sign-up", { name: "", email, password });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain("not available");
    expect(world.mails()).toEqual([]);
  });
});

describe("sign-in", () => {
  test("with the right password, to the app, by 303", async () => {
    await verified();
    const browser = world.browser();
    const page = await signIn(browser, { email: ` ${email.toUpperCase()} ` });
    expect(claimsOf(page)).toMatchObject({ email, provider: "email" });
    expect(tokenOf(page)).not.toBe("");
  });

  test("wrong password, unknown user, user without password, banned user: one answer", async () => {
    await verified();
    await world.user(shop, { email: "oauth@example.com" });
    const known = find();
    const pages = [
      await signIn(world.browser(), { password: "wrong password" }),
      await signIn(world.browser(), { email: "nobody@example.com" }),
      await signIn(world.browser(), { email: "oauth@example.com" }),
    ];
    if (known === undefined) throw new Error("no user");
    await world.context.store.write(({ users }) => users.update({ ...known, bannedAt: 1 }));
    pages.push(await signIn(world.browser()));
    const bodies = pages.map(({ html }) =>
      html
        .replace(/value="[^"]*"/g, "")
        .replace(/nonce="[^"]*"/g, "")
        .replace(/[a-z]+@example.com/g, ""),
    );
    expect(pages.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect(new Set(bodies).size).toBe(1);
  });

  test("an unknown user costs the same work as a wrong password: one hash of the same cost, one write", async () => {
    await verified();
    await world.user(shop, { email: "oauth@example.com" });
    const check = spyOn(Bun.password, "verify");
    try {
      for (const address of ["warm@example.com", email, "nobody@example.com", "oauth@example.com"]) {
        check.mockClear();
        await signIn(world.browser(), { email: address, password: "wrong password" });
        expect(check.mock.calls.map(([, hash]) => hash.slice(0, 30))).toEqual(["$argon2id$v=19$m=1024,t=1,p=1$"]);
      }
    } finally {
      check.mockRestore();
    }
    const kinds = world.context.store.audit.list(shop.entry().instance.seq, { limit: 4 }).map(({ action }) => action);
    expect(kinds).toEqual(["signin.fail", "signin.fail", "signin.fail", "signin.fail"]);
  });

  test("an operator's user may sign in unproved; the token says so", async () => {
    const passwordHash = await Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 1_024, timeCost: 1 });
    await world.user(shop, { email, emailVerifiedAt: undefined, passwordHash });
    expect(claimsOf(await signIn(world.browser()))).toMatchObject({ email_verified: false });
  });

  const imported: [string, () => Promise<string>][] = [
    ["bcrypt", () => Bun.password.hash(password, { algorithm: "bcrypt", cost: 4 })],
    [
      "php's bcrypt",
      async () => (await Bun.password.hash(password, { algorithm: "bcrypt", cost: 4 })).replace(/^\$2b/, "$2y"),
    ],
    ["another argon2id", () => Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 512, timeCost: 2 })],
    ["scrypt", async () => scryptHash(password)],
  ];
  for (const [name, hash] of imported) {
    test(`${name} from elsewhere is accepted once, and ours from then on`, async () => {
      await world.user(shop, { email, passwordHash: await hash() });
      expect((await signIn(world.browser(), { password: "wrong password" })).status).toBe(401);
      claimsOf(await signIn(world.browser()));
      expect(find()?.passwordHash).toStartWith("$argon2id$v=19$m=1024,t=1,");
      claimsOf(await signIn(world.browser()));
    });
  }

  test("bcrypt looks at 72 bytes, whatever else is typed", async () => {
    const long = "p".repeat(72);
    await world.user(shop, { email, passwordHash: await Bun.password.hash(long, { algorithm: "bcrypt", cost: 4 }) });
    claimsOf(await signIn(world.browser(), { password: `${long}and more` }));
  });

  test("too many attempts: 429 with Retry-After, for addresses that nobody has too", async () => {
    for (const address of [email, "nobody@example.com"]) {
      let page = await signIn(world.browser(), { email: address, password: "wrong password" });
      for (let count = 0; count < 10 && page.status === 401; count++) {
        page = await signIn(world.browser(), { email: address, password: "wrong password" });
      }
      expect(page.status).toBe(429);
      expect(Number(page.headers.get("retry-after"))).toBeGreaterThan(0);
      later(3_600_000);
    }
  });

  test("a body that is too large is a 413 page", async () => {
    const page = await signIn(world.browser(), { password: "x".repeat(70_000) });
    expect(page.status).toBe(413);
    expect(page.headers.get("content-type")).toContain("text/html");
  });

  test("no password and no link stands in log, audit or file", async () => {
    const browser = world.browser();
    await verified(browser);
    await signIn(world.browser(), { password: "another secret" });
    const audit = JSON.stringify(world.context.store.audit.list(shop.entry().instance.seq, { limit: 100 }));
    const value = new URL(linkIn(world.mails()[0])).searchParams.get("token") ?? "";
    for (const secret of [password, "another secret", value]) {
      expect(world.logged.join("")).not.toContain(secret);
      expect(audit).not.toContain(secret);
    }
  });
});

describe("forms", () => {
  test("without our token, or with that of another browser, nothing happens", async () => {
    await verified();
    const [one, two] = [world.browser(), world.browser()];
    const page = await one.open(world.page(shop, "/sign-in"));
    await two.open(world.page(shop, "/sign-in"));
    const crossed = await two.submit(page, "/sign-in", { email, password });
    expect(crossed.url).not.toContain("token=");
    expect(crossed.html).toContain("open for too long");
    const bare = await one.submit(page, "/sign-in", { email, password, csrf: "" });
    expect(bare.url).not.toContain("token=");
  });

  test("cookies off: the page says so", async () => {
    const browser = world.browser();
    browser.blockCookies();
    const page = await signIn(browser);
    expect(page.status).toBe(400);
    expect(page.html).toContain("does not keep cookies");
  });

  test("a page that was open for long comes again, and works then", async () => {
    await verified();
    const browser = world.browser();
    const page = await browser.open(world.page(shop, "/sign-in"));
    browser.forgetCookies();
    later(601_000);
    const again = await browser.submit(page, "/sign-in", { email, password });
    expect(again.html).toContain("open for too long");
    claimsOf(await browser.submit(again, "/sign-in", { password }));
  });

  test("another content type is no form", async () => {
    const request = new Request(`${baseUrl}/i/${shop.id}/sign-in`, {
      method: "POST",
      headers: { "Content-Type": "text/plain" },
      body: "csrf=x",
    });
    expect((await world.fetch(request)).status).toBe(400);
  });
});

describe("reset", () => {
  async function ask(browser: WebBrowser, address = email) {
    const page = await browser.open(world.page(shop, "/forgot"));
    return browser.submit(page, "/forgot", { email: address });
  }

  test("a link sets a new password and ends all sessions", async () => {
    const before = claimsOf(await verified());
    const browser = world.browser();
    await ask(browser);
    const [mail] = world.mails();
    expect(mail?.purpose).toBe("reset_password");
    const form = await world.browser().open(linkIn(mail));
    expect(form.html).toContain("new-password");
    const phone = world.browser();
    const page = await phone.open(linkIn(mail));
    expect((await phone.submit(page, "/reset", { password: "short" })).status).toBe(400);
    const done = await phone.submit(page, "/reset", { password: "a new password" });
    expect(done.html).toContain("has been changed");
    expect((await signIn(world.browser())).status).toBe(401);
    claimsOf(await signIn(world.browser(), { password: "a new password" }));
    const session = await world.ask(`GET /api/v1/sessions/${before.session_id}`, { headers: withSecret(shop) });
    expect(session.json).toMatchObject({ data: { active: false } });
    expect((await phone.open(linkIn(mail))).status).toBe(400);
  });

  test("the same page for every address; mail only where there is a user", async () => {
    await verified();
    const count = world.mails().length;
    const [known, unknown] = [await ask(world.browser()), await ask(world.browser(), "nobody@example.com")];
    const plain = (html: string, address: string) => html.replaceAll(address, "A").replace(/nonce="[^"]*"/g, "");
    expect(plain(known.html, email)).toBe(plain(unknown.html, "nobody@example.com"));
    expect(world.mails()).toHaveLength(count + 1);
  });

  test("it proves the address, and clears what nobody had proved", async () => {
    await world.user(shop, { email, emailVerifiedAt: undefined });
    const browser = world.browser();
    await ask(browser);
    const page = await browser.open(linkIn(world.mails()[0]));
    await browser.submit(page, "/reset", { password: "a new password" });
    expect(find()?.emailVerifiedAt).toBeNumber();
  });

  test("three a minute for an address, banned and placeholder users get none, links last an hour", async () => {
    const user = await world.user(shop, { email });
    for (let count = 0; count < 3; count++) expect((await ask(world.browser())).status).toBe(200);
    expect((await ask(world.browser())).status).toBe(429);
    const link = linkIn(world.mails()[0]);
    later(3_600_000);
    expect((await world.browser().open(link)).status).toBe(400);
    const count = world.mails().length;
    await world.context.store.write(({ users }) => users.update({ ...user, bannedAt: 1 }));
    await world.user(shop, { email: "7@users.noreply.invalid", placeholder: true });
    for (const address of [email, "7@users.noreply.invalid"]) await ask(world.browser(), address);
    expect(world.mails()).toHaveLength(count);
  });
});

describe("signed in at the hosted pages", () => {
  test("the page offers to go on, and does so without a password", async () => {
    const browser = world.browser();
    const first = claimsOf(await verified(browser));
    later(60_000);
    const page = await browser.open(world.page(shop, "/sign-in"));
    expect(page.html).toContain("Continue as Ana");
    const second = claimsOf(await browser.submit(page, "/continue", {}));
    expect(second.session_id).toBe(first.session_id);
    expect(second.jti).not.toBe(first.jti);
  });

  test("a revoked session, a banned user, another instance: no offer", async () => {
    const browser = world.browser();
    const claims = claimsOf(await verified(browser));
    expect((await browser.open(world.page(await world.shop(), "/sign-in"))).html).not.toContain("Continue as");
    const page = await browser.open(world.page(shop, "/sign-in"));
    await world.ask(`DELETE /api/v1/sessions/${claims.session_id}`, { headers: withSecret(shop) });
    expect((await browser.open(world.page(shop, "/sign-in"))).html).not.toContain("Continue as");
    expect((await browser.submit(page, "/continue", {})).url).not.toContain("token=");
  });

  const isActive = async ({ session_id: id }: Record<string, unknown>) => {
    const { json } = await world.ask(`GET /api/v1/sessions/${id}`, { headers: withSecret(shop) });
    return (json as { data: { active: boolean } }).data.active;
  };

  test("sign-out asks, then ends the session, forgets the browser and goes where it may", async () => {
    const browser = world.browser();
    const claims = claimsOf(await verified(browser));
    const asked = await browser.open(world.page(shop, "/sign-out"));
    expect(asked.html).toContain(`You are signed in as ${email}`);
    expect(await isActive(claims)).toBe(true);
    expect((await browser.submit(asked, "/sign-out", {})).url).toBe(appUrl);
    expect(await isActive(claims)).toBe(false);
    expect((await browser.open(world.page(shop, "/sign-in"))).html).not.toContain("Continue as");
    expect((await browser.open(world.page(shop, "/sign-out"))).url).toBe(appUrl);
    const evil = await browser.open(`${baseUrl}/i/${shop.id}/sign-out?redirect_uri=https://evil.test/`);
    expect(evil.html).toContain("You are signed out");
  });

  test("an app that names the session signs out at once; a page that guesses does not, nor one that fetches ahead", async () => {
    const browser = world.browser();
    const claims = claimsOf(await verified(browser));
    const own = { session_id: String(claims.session_id) };
    const guesses = ["", `svc_session_${crypto.randomUUID()}`];
    await browser.open(world.page(shop, "/sign-out"));
    for (const session_id of guesses) {
      await browser.open(world.page(shop, "/sign-out", { session_id }));
    }
    await browser.open(world.page(shop, "/sign-out", own), { headers: { "Sec-Purpose": "prefetch" } });
    await world.browser().open(world.page(shop, "/sign-out", own));
    expect(await isActive(claims)).toBe(true);
    expect((await browser.open(world.page(shop, "/sign-out", own))).url).toBe(appUrl);
    expect(await isActive(claims)).toBe(false);
  });

  test("a form of another site signs nobody out", async () => {
    const browser = world.browser();
    const claims = claimsOf(await verified(browser));
    const again = await browser.open(world.page(shop, "/sign-out"), { method: "POST", form: { redirect_uri: appUrl } });
    expect(again.html).toContain(`You are signed in as ${email}`);
    expect(await isActive(claims)).toBe(true);
  });
});

async function scryptHash(text: string): Promise<string> {
  const { scryptSync } = await import("node:crypto");
  const salt = crypto.getRandomValues(new Uint8Array(16));
  const hash = scryptSync(text, salt, 32, { N: 1_024, r: 8, p: 1 });
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64").replaceAll("=", "");
  return `$scrypt$ln=10,r=8,p=1$${base64(salt)}$${base64(hash)}`;
}
