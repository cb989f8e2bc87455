import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { addProvider, claimsOf, linkIn, signInWorld, type SignInWorld } from "../../support/sign-in-world.ts";
import type { User } from "../../../src/identity/store/records.ts";
import { type Tenant, withSecret } from "../../support/identity.ts";

let world: SignInWorld;
let shop: Tenant;

beforeEach(async () => {
  world = await signInWorld();
  shop = await world.shop();
  await addProvider(world, shop, { name: "acme", provider: world.provider, options: { trusted: true } });
});

afterEach(() => world.stop());

const ana = "ana@example.com";
const providers = ["google", "github", "acme"] as const;
const userOf = (claims: Record<string, unknown>) =>
  world.context.store.users.get(shop.entry().instance.seq, String(claims.sub));
const accounts = (claims: Record<string, unknown>) =>
  world.context.store.identities.list(userOf(claims)?.seq ?? 0).map(({ provider, uid }) => `${provider} ${uid}`);
const find = (email: string) => world.context.store.users.byEmail(shop.entry().instance.seq, email);

/** An account that a user has already, with an address that it proves. */
function account(user: User, { provider, uid, email }: { provider: string; uid: string; email: string }) {
  const tokens = { accessToken: undefined, refreshToken: undefined, tokenExpiresAt: undefined };
  const ids = { id: crypto.randomUUID(), instance: user.instance, user: user.seq, provider, uid };
  return world.context.store.write(({ identities }) =>
    identities.add({ ...ids, ...tokens, email, emailVerified: true, createdAt: 1, updatedAt: 1 }),
  );
}

/** Signs in as the account with this id, which the provider gives this address. */
async function arrive(
  provider: string,
  uid: string,
  email: string,
  { verified = true, browser = world.browser(), tenant = shop } = {},
) {
  Object.assign(world.provider.person, { uid, email, verified });
  return claimsOf(await world.signIn(browser, tenant, provider));
}

describe.each(providers)("a second account of %s with an address that the first one had", (provider) => {
  test("is another user, with sessions of its own", async () => {
    const first = await arrive(provider, "1001", ana);
    const second = await arrive(provider, "2002", ana);
    expect(second.sub).not.toBe(first.sub);
    expect(second).toMatchObject({ email_verified: false });
    expect(String(second.email)).toEndWith(".invalid");
    expect(accounts(first)).toHaveLength(1);
    const answer = await world.ask(`GET /api/v1/sessions/search?query=user_id:${second.sub}`, {
      headers: withSecret(shop),
    });
    expect(answer.json).toHaveLength(1);
    expect(await arrive(provider, "2002", ana)).toMatchObject({ sub: second.sub });
    expect(await arrive(provider, "1001", ana)).toMatchObject({ sub: first.sub, email: ana });
  });

  test("gets the address as soon as the first one has said another", async () => {
    const first = await arrive(provider, "1001", ana);
    const second = await arrive(provider, "2002", ana);
    expect(await arrive(provider, "1001", "new@example.com")).toMatchObject({
      sub: first.sub,
      email: "new@example.com",
    });
    expect(await arrive(provider, "2002", ana)).toMatchObject({ sub: second.sub, email: ana, email_verified: true });
  });

  test("is a new user with the address when the first one has said another before", async () => {
    const first = await arrive(provider, "1001", ana);
    await arrive(provider, "1001", "new@example.com");
    const second = await arrive(provider, "2002", ana);
    expect(second.sub).not.toBe(first.sub);
    expect(second).toMatchObject({ email: ana, email_verified: true });
    for (const other of providers) expect(await arrive(other, "2002", ana)).toMatchObject({ sub: second.sub });
  });

  test("joins when the user brings it: in a browser that is signed in", async () => {
    const browser = world.browser();
    const first = await arrive(provider, "1001", ana, { browser });
    const second = await arrive(provider, "2002", ana, { browser });
    expect(second.sub).toBe(first.sub);
    expect(accounts(first)).toHaveLength(2);
    // Either of them alone keeps the address.
    expect(await arrive(provider, "1001", "new@example.com")).toMatchObject({ sub: first.sub, email: ana });
    expect(await arrive(provider, "2002", ana)).toMatchObject({ sub: first.sub, email: ana });
  });

  test("does not join in a browser that is signed in as somebody else, or was", async () => {
    const first = await arrive(provider, "1001", ana);
    const browser = world.browser();
    await arrive(provider, "3003", "bob@example.com", { browser });
    expect((await arrive(provider, "2002", ana, { browser })).sub).not.toBe(first.sub);
    const left = world.browser();
    const session = (await arrive(provider, "1001", ana, { browser: left })).session_id;
    await world.ask(`DELETE /api/v1/sessions/${session}`, { headers: withSecret(shop) });
    expect((await arrive(provider, "4004", ana, { browser: left })).sub).not.toBe(first.sub);
  });
});

describe("when a provider says another address", () => {
  const moved = "new@example.com";

  test("webhooks and the audit trail tell of it, and links to the old mailbox end", async () => {
    const claims = await arrive("google", "1001", ana);
    const browser = world.browser();
    const page = await browser.open(world.page(shop, "/forgot"));
    await browser.submit(page, "/forgot", { email: ana });
    const link = linkIn(world.mails()[0]);
    await arrive("google", "1001", moved);
    expect((await browser.open(link)).html).toContain("does not work any more");
    const trail = world.context.store.audit.list(shop.entry().instance.seq, { limit: 100 });
    expect(trail.find(({ action }) => action === "user.email")).toMatchObject({
      userId: claims.sub,
      email: moved,
      detail: { before: ana },
    });
  });

  test("one that somebody has, or that is not verified, leaves a placeholder, and the old one is free", async () => {
    const bob = await arrive("google", "3003", "bob@example.com");
    for (const said of [
      { email: "bob@example.com", verified: true },
      { email: moved, verified: false },
    ]) {
      const uid = said.email;
      const first = await arrive("google", uid, ana);
      const again = await arrive("google", uid, said.email, { verified: said.verified });
      expect(again).toMatchObject({ sub: first.sub, email_verified: false });
      expect(String(again.email)).toEndWith(".invalid");
      const next = await arrive("google", `${uid}-next`, ana);
      expect([next.sub === first.sub, next.email]).toEqual([false, ana]);
      await world.ask(`DELETE /api/v1/users/${next.sub}`, { headers: withSecret(shop) });
    }
    expect(userOf(bob)?.email).toBe("bob@example.com");
  });

  test("a sign-up of it that nobody has confirmed is not in the way", async () => {
    const first = await arrive("google", "1001", ana);
    const browser = world.browser();
    const page = await browser.open(world.page(shop, "/sign-up"));
    await browser.submit(page, "/sign-up", { name: "x", email: moved, password: "correct horse battery" });
    expect(await arrive("google", "1001", moved)).toMatchObject({ sub: first.sub, email: moved });
    expect((await browser.open(linkIn(world.mails()[0]))).html).toContain("does not work any more");
  });

  test("nor does a sign-up give away the mailbox of a user of an earlier version", async () => {
    const other = await world.user(shop, { email: "eve@münchen.de" });
    const mailbox = "eve@xn--mnchen-3ya.de";
    const browser = world.browser();
    const page = await browser.open(world.page(shop, "/sign-up"));
    await browser.submit(page, "/sign-up", { name: "x", email: mailbox, password: "correct horse battery" });
    await arrive("google", "1001", ana);
    const again = await arrive("google", "1001", mailbox);
    expect(String(again.email)).toEndWith(".invalid");
    expect(userOf({ sub: other.id })?.email).toBe("eve@münchen.de");
  });

  test("a user with a password keeps the address, and the mailbox decides", async () => {
    const known = await world.user(shop, { email: ana, emailVerifiedAt: 1, passwordHash: "x" });
    await arrive("google", "1001", ana);
    expect(await arrive("google", "1001", moved)).toMatchObject({ sub: known.id, email: ana });
    expect((await arrive("google", "2002", ana)).sub).not.toBe(known.id);
  });

  test("a second provider that proves the old one keeps it", async () => {
    const first = await arrive("google", "1001", ana);
    expect((await arrive("github", "1001", ana)).sub).toBe(first.sub);
    expect(await arrive("google", "1001", moved)).toMatchObject({ sub: first.sub, email: ana });
    expect(await arrive("github", "1001", moved)).toMatchObject({ sub: first.sub, email: moved });
  });

  test.each([
    ["the API or a command", { emailVerifiedAt: 1 }],
    [
      "an import, with a placeholder",
      { emailVerifiedAt: undefined, email: "7@users.noreply.invalid", placeholder: true },
    ],
  ])("a user of %s with the account's address follows too", async (_, fields) => {
    const known = await world.user(shop, { email: ana, ...fields });
    await account(known, { provider: "google", uid: "1001", email: ana });
    expect(await arrive("google", "1001", moved)).toMatchObject({ sub: known.id, email: moved });
  });

  test("a connection that has another issuer now is another provider: its accounts join by address", async () => {
    const known = await world.user(shop, { email: ana, emailVerifiedAt: 1 });
    await account(known, { provider: "acme", uid: "https://old.test|55", email: ana });
    expect((await arrive("acme", "1001", ana)).sub).toBe(known.id);
    expect((await arrive("acme", "2002", ana)).sub).not.toBe(known.id);
  });

  test("an address whose holder never proved it is taken over without the accounts that prove another one", async () => {
    const planted = await world.user(shop, { email: ana, emailVerifiedAt: undefined });
    await account(planted, { provider: "github", uid: "666", email: "mallory@example.com" });
    const owner = await arrive("google", "1001", ana);
    expect(owner.sub).toBe(planted.id);
    expect((await arrive("github", "666", "mallory@example.com")).sub).not.toBe(planted.id);
  });

  test("a banned user changes nothing", async () => {
    const first = await arrive("google", "1001", ana);
    const user = userOf(first);
    if (user === undefined) throw new Error("no user");
    await world.context.store.write(({ users }) => users.update({ ...user, bannedAt: 1 }));
    Object.assign(world.provider.person, { uid: "1001", email: moved });
    await world.signIn(world.browser(), shop, "google");
    expect(find(ana)?.id).toBe(user.id);
  });
});
