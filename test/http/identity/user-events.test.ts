import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { purge } from "../../../src/identity/service/purge.ts";
import { type Tenant, withSecret } from "../../support/identity.ts";
import { claimsOf, linkIn, signInWorld, type SignInWorld } from "../../support/sign-in-world.ts";
import type { WebBrowser } from "../../support/web-browser.ts";

let world: SignInWorld;
let shop: Tenant;
let hook: number;

beforeEach(async () => {
  world = await signInWorld();
  shop = await world.shop();
  const { seq: instance } = shop.entry().instance;
  const events = ["user.created", "user.updated", "user.deleted", "user.banned"];
  const row = { id: "hook_a", instance, url: "https://h.test", secret: "s", events, enabled: true, createdAt: 1 };
  hook = (await world.context.store.write(({ webhooks: hooks }) => hooks.add(row))).seq;
});

afterEach(() => world.stop());

const email = "ana@example.com";
const password = "correct horse battery";

/** What the webhook heard, oldest first. */
function heard(): [string, unknown][] {
  const calls = world.context.store.webhookDeliveries.list(hook, 100);
  return calls.reverse().map(({ event, body }) => {
    const { data } = JSON.parse(body) as { data: { data?: { providers: string[]; email_verified: boolean } } };
    return [event, data.data && [data.data.providers, data.data.email_verified]];
  });
}

async function signUp(browser: WebBrowser, fields: Record<string, string> = {}) {
  const page = await browser.open(world.page(shop, "/sign-up"));
  return browser.submit(page, "/sign-up", { name: "Ana", email, password, ...fields });
}

describe("webhooks hear of a user", () => {
  test("at the first sign-in through a provider, with the provider; later ones are told when they join", async () => {
    claimsOf(await world.signIn(world.browser(), shop, "google"));
    expect(heard()).toEqual([["user.created", [["google"], true]]]);
    claimsOf(await world.signIn(world.browser(), shop, "google"));
    claimsOf(await world.signIn(world.browser(), shop, "github"));
    expect(heard().slice(1)).toEqual([["user.updated", [["google", "github"], true]]]);
  });

  test("once a sign-up is confirmed, not when somebody filled in a form", async () => {
    const browser = world.browser();
    await signUp(browser);
    expect(heard()).toEqual([]);
    const page = await browser.open(linkIn(world.mails()[0]));
    claimsOf(await browser.submit(page, "/verify", {}));
    expect(heard()).toEqual([["user.created", [["password"], true]]]);
  });

  test("once, when the owner of the address comes another way", async () => {
    await signUp(world.browser());
    claimsOf(await world.signIn(world.browser(), shop, "google"));
    expect(heard()).toEqual([["user.created", [["google"], true]]]);
  });

  test("once, when the address is proved by a new password", async () => {
    const browser = world.browser();
    await signUp(browser);
    const asked = await browser.open(world.page(shop, "/forgot"));
    await browser.submit(asked, "/forgot", { email });
    const link = linkIn(world.mails().find(({ purpose }) => purpose === "reset_password"));
    await browser.submit(await browser.open(link), "/reset", { password: "another horse battery" });
    expect(heard()).toEqual([["user.created", [["password"], true]]]);
  });

  test("never, when nobody confirms: neither of its coming nor of its going", async () => {
    await signUp(world.browser());
    world.clock.moveTo(world.clock.now() + 25 * 3_600_000);
    await purge(world.context, world.clock.now(), new AbortController().signal);
    await signUp(world.browser(), { email: "bob@example.com" });
    const bob = world.context.store.users.byEmail(shop.entry().instance.seq, "bob@example.com");
    expect((await world.ask(`DELETE /api/v1/users/${bob?.id}`, { headers: withSecret(shop) })).status).toBe(200);
    expect(world.context.store.users.list(shop.entry().instance.seq, { limit: 10 })).toEqual([]);
    expect(heard()).toEqual([]);
  });

  test("before anything else, when an operator changes one that is not confirmed", async () => {
    await signUp(world.browser());
    const by = { actor: "operator" };
    const { users } = world.running.identity.manage;
    await users.ban({ instance: shop.id, user: email }, by);
    await users.unban({ instance: shop.id, user: email }, by);
    await users.remove({ instance: shop.id, user: email }, by);
    expect(heard().map(([event]) => event)).toEqual(["user.created", "user.banned", "user.deleted"]);
  });
});

describe("passwords that guessers try first", () => {
  test("are refused in a sign-up and in a reset", async () => {
    for (const common of ["password", "        ", "P@ssw0rd!", "12345678"]) {
      const page = await signUp(world.browser(), { password: common });
      expect([common, page.status, page.html.includes("tried first")]).toEqual([common, 400, true]);
    }
    await world.user(shop, { email });
    const browser = world.browser();
    await browser.submit(await browser.open(world.page(shop, "/forgot")), "/forgot", { email });
    const form = await browser.open(linkIn(world.mails()[0]));
    expect((await browser.submit(form, "/reset", { password: "Qwertyuiop1" })).html).toContain("tried first");
  });

  test("still open the accounts that have one", async () => {
    const cost = { algorithm: "argon2id", memoryCost: 1_024, timeCost: 1 } as const;
    await world.user(shop, { email, passwordHash: await Bun.password.hash("password", cost) });
    const browser = world.browser();
    const page = await browser.open(world.page(shop, "/sign-in"));
    claimsOf(await browser.submit(page, "/sign-in", { email, password: "password" }));
  });
});
