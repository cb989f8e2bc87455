import { afterEach, beforeEach, expect, test } from "bun:test";
import { identityLimits } from "../../../src/config/config.ts";
import type { TokenPair } from "../../../src/identity/service/refresh.ts";
import { type Tenant, withPublishable } from "../../support/identity.ts";
import { linkIn, signInWorld, type SignInWorld, tokenOf } from "../../support/sign-in-world.ts";
import type { WebBrowser } from "../../support/web-browser.ts";

/** Many people behind one address, all within one minute: the clock of these tests stands still. */
let world: SignInWorld;
let shop: Tenant;

const people = 200;
const atOnce = 20;
const password = "correct horse battery";
const addressOf = (n: number) => `person${n}@example.com`;

beforeEach(async () => {
  world = await signInWorld();
  shop = await world.shop();
});

afterEach(() => world.stop());

async function everybody(count: number, does: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await does(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

const post = (path: string, body: object) =>
  world.ask(`POST /api/v1/sessions/${path}`, { headers: withPublishable(shop), body });

async function signIn(email: string, typed = password, browser = world.browser()) {
  return browser.submit(await browser.open(world.page(shop, "/sign-in")), "/sign-in", { email, password: typed });
}

async function hired(): Promise<void> {
  const passwordHash = await Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 1_024, timeCost: 1 });
  await Promise.all(Array.from({ length: people }, (_, n) => world.user(shop, { email: addressOf(n), passwordHash })));
}

test("200 people sign in, refresh and sign out, and the eleventh wrong password gets 429", async () => {
  await hired();
  const statuses = new Map<number, number>();
  const note = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  await everybody(people, async (n) => {
    const token = tokenOf(await signIn(addressOf(n)));
    const exchanged = await post("exchange", { token });
    note(exchanged.status);
    let { refresh_token } = exchanged.json as TokenPair;
    for (let times = 0; times < 3; times++) {
      const refreshed = await post("refresh", { refresh_token });
      note(refreshed.status);
      ({ refresh_token } = refreshed.json as TokenPair);
    }
    note((await post("revoke", { refresh_token })).status);
  });
  expect(Object.fromEntries(statuses)).toEqual({ 200: 4 * people, 204: people });
  for (let n = 0; n < 10; n++) expect((await signIn(`stranger${n}@example.com`, "wrong password")).status).toBe(401);
  expect((await signIn("stranger10@example.com", "wrong password")).status).toBe(429);
  expect((await signIn(addressOf(0))).status).toBe(429);
});

async function signUp(n: number, browser: WebBrowser): Promise<number> {
  const page = await browser.open(world.page(shop, "/sign-up"));
  return (await browser.submit(page, "/sign-up", { name: "Ana", email: addressOf(n), password })).status;
}

async function forgot(n: number, browser: WebBrowser): Promise<number> {
  return (await browser.submit(await browser.open(world.page(shop, "/forgot")), "/forgot", { email: addressOf(n) }))
    .status;
}

const lastLinkTo = (n: number) => linkIn(world.mails().find(({ message }) => message.to === addressOf(n)));

test("a hundred people sign up in ten minutes, and more where the addresses are proved", async () => {
  const { max } = identityLimits.rates.rates.sign_up;
  expect(max).toBe(100);
  const last = world.browser();
  await everybody(max - 1, async (n) => expect(await signUp(n, world.browser())).toBe(200));
  expect(await signUp(max, last)).toBe(200);
  expect(await signUp(max + 1, world.browser())).toBe(429);
  expect(tokenOf(await last.submit(await last.open(lastLinkTo(max)), "/verify", {}))).not.toBe("");
  expect([await signUp(max + 1, world.browser()), await signUp(max + 2, world.browser())]).toEqual([200, 429]);
});

test("a hundred people ask for a new password in ten minutes, and more where the links are used", async () => {
  const { max } = identityLimits.rates.rates.reset;
  expect(max).toBe(100);
  await world.user(shop, { email: addressOf(0) });
  expect(await forgot(0, world.browser())).toBe(200);
  // Whether there is such a user or not: else the limit would tell.
  await everybody(max - 1, async (n) => expect(await forgot(n + 1, world.browser())).toBe(200));
  expect(await forgot(max, world.browser())).toBe(429);
  const browser = world.browser();
  const form = await browser.open(lastLinkTo(0));
  expect((await browser.submit(form, "/reset", { password: "another horse battery" })).html).toContain(
    "has been changed",
  );
  expect([await forgot(max, world.browser()), await forgot(max + 1, world.browser())]).toEqual([200, 429]);
});

test("a link used after the window of its mail gives nobody else's place back", async () => {
  const { max, perMs } = identityLimits.rates.rates.sign_up;
  const early = world.browser();
  expect(await signUp(0, early)).toBe(200);
  world.clock.moveTo(world.clock.now() + perMs);
  await everybody(max, async (n) => expect(await signUp(n + 1, world.browser())).toBe(200));
  const link = linkIn(
    world.context.store.mails.list({ limit: 1_000 }).find(({ message }) => message.to === addressOf(0)),
  );
  expect(tokenOf(await early.submit(await early.open(link), "/verify", {}))).not.toBe("");
  expect(await signUp(max + 1, world.browser())).toBe(429);
});
