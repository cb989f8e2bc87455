import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { identityLimits } from "../../../src/config/config.ts";
import { appUrl, baseUrl, claimsOf, linkIn, signInWorld, type SignInWorld } from "../../support/sign-in-world.ts";
import type { Tenant } from "../../support/identity.ts";
import type { Page, WebBrowser } from "../../support/web-browser.ts";
import { waitFor } from "../../support/wait.ts";

let world: SignInWorld;
let shop: Tenant;

beforeEach(async () => {
  world = await signInWorld({ behindProxy: true }, { statesKept: 400, passwordWorkers: 1, passwordsWaitingMax: 4 });
  shop = await world.shop();
});

afterEach(() => world.stop());

const from = (ip: string) => ({ "X-Forwarded-For": ip });

function begin(tenant: Tenant, ip: string, provider = "google"): Promise<Response> {
  const query = new URLSearchParams({ provider, redirect_uri: appUrl });
  return world.fetch(new Request(`${baseUrl}/i/${tenant.id}/oauth/authorize?${query}`, { headers: from(ip) }));
}

/** Counts those that were answered 503. */
function watched(pages: Promise<Page>[]) {
  let refused = 0;
  for (const page of pages) {
    void page.then(({ status }) => {
      if (status === 503) refused += 1;
    });
  }
  return { refused: () => refused, ended: Promise.all(pages) };
}

/** Password checks end only when told to. */
function holdPasswords() {
  const gate = Promise.withResolvers<void>();
  const { verify } = Bun.password;
  const spy = spyOn(Bun.password, "verify").mockImplementation(async (password, hash) => {
    await gate.promise;
    return verify(password, hash);
  });
  return {
    release() {
      gate.resolve();
      spy.mockRestore();
    },
  };
}

const statuses = (answers: Response[]) => answers.map(({ status }) => status);
const counts = (answers: Response[], status: number) => statuses(answers).filter((one) => one === status).length;

/** The address of a provider that a browser was sent to, and then its way back. */
async function goAway(tenant: Tenant, ip: string) {
  const browser = world.browser(from(ip));
  const there = await browser.open(
    `${baseUrl}/i/${tenant.id}/oauth/authorize?${new URLSearchParams({ provider: "google", redirect_uri: appUrl })}`,
  );
  return there;
}

describe("starts of sign-ins", () => {
  const { max } = identityLimits.rates.rates.start;

  test("one client gets so many a minute, and a page that says when to come back", async () => {
    await world.stop();
    world = await signInWorld({ behindProxy: true });
    shop = await world.shop();
    const answers = await Promise.all(Array.from({ length: max + 20 }, () => begin(shop, "198.51.100.1")));
    expect([counts(answers, 302), counts(answers, 429)]).toEqual([max, 20]);
    const late = await begin(shop, "198.51.100.1");
    expect(late.headers.get("retry-after")).toBe("60");
    expect(await late.text()).toContain("60");
    expect((await begin(shop, "198.51.100.2")).status).toBe(302);
  });

  test("all addresses of an IPv6 /64 are one client", async () => {
    await world.stop();
    world = await signInWorld({ behindProxy: true });
    shop = await world.shop();
    const answers = await Promise.all(
      Array.from({ length: max + 10 }, (_, n) => begin(shop, `2001:db8:1:2:${n.toString(16)}::7`)),
    );
    expect(counts(answers, 302)).toBe(max);
    expect((await begin(shop, "2001:db8:1:3::1")).status).toBe(302);
  });

  test.each([["198.51.100.1"], ["2001:db8:1:2::7"]])(
    "one of %s that comes back with a sign-in is given back",
    async (ip) => {
      await world.stop();
      world = await signInWorld({ behindProxy: true });
      shop = await world.shop();
      await Promise.all(Array.from({ length: max - 1 }, () => begin(shop, ip)));
      for (let n = 0; n < 3; n++) expect(claimsOf(await goAway(shop, ip)).email).toBe("ana@example.com");
      expect([(await begin(shop, ip)).status, (await begin(shop, ip)).status]).toEqual([302, 429]);
    },
  );

  test("a flood by many clients ends nobody's sign-in, here or in another instance", async () => {
    const other = await world.shop();
    const mine = await begin(shop, "198.51.100.9");
    const theirs = await begin(other, "198.51.100.9");
    const answers: Response[] = [];
    for (let n = 0; n < 300; n++) answers.push(await begin(shop, `203.0.113.${n % 200}`));
    expect(counts(answers, 302)).toBeLessThan(100);
    expect(counts(answers, 503) + counts(answers, 429)).toBeGreaterThan(200);
    for (const started of [mine, theirs]) {
      const state = new URL(started.headers.get("location") ?? "").searchParams.get("state") ?? "";
      const headers = { Cookie: started.headers.get("set-cookie")?.split(";")[0] ?? "" };
      const query = new URLSearchParams({ state, error: "access_denied" });
      const back = await world.fetch(new Request(`${baseUrl}/oauth/google/callback?${query}`, { headers }));
      expect(back.headers.get("location")).toBe(`${appUrl}?error=access_denied`);
    }
    expect((await begin(other, "198.51.100.8")).status).toBe(302);
  });

  test("one client of an instance leaves room for the others", async () => {
    const answers: Response[] = [];
    for (let n = 0; n < 40; n++) answers.push(await begin(shop, "198.51.100.1"));
    expect(counts(answers, 429)).toBeGreaterThan(30);
    expect(claimsOf(await goAway(shop, "198.51.100.2")).email).toBe("ana@example.com");
  });

  test("what ends makes room again", async () => {
    for (let n = 0; n < 10; n++) await begin(shop, "198.51.100.1");
    expect((await begin(shop, "198.51.100.1")).status).toBe(429);
    world.clock.moveTo(world.clock.now() + 11 * 60_000);
    await world.context.store.write(({ purge }) => purge.expired(world.clock.now(), 1_000));
    expect((await begin(shop, "198.51.100.1")).status).toBe(302);
  });
});

describe("passwords", () => {
  const email = "ana@example.com";
  const password = "correct horse battery";

  async function owner(tenant: Tenant) {
    const passwordHash = await Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 1_024, timeCost: 1 });
    return world.user(tenant, { email, passwordHash });
  }

  async function attempt(
    tenant: Tenant,
    ip: string,
    fields: Record<string, string> = {},
    browser = world.browser(from(ip)),
  ) {
    const page = await browser.open(world.page(tenant, "/sign-in"));
    return browser.submit(page, "/sign-in", { email, password, ...fields });
  }

  test("all addresses of an IPv6 /64 are one client, a /48 is worth 16 of them", async () => {
    await owner(shop);
    const wrong = (n: number, ip: string) => attempt(shop, ip, { email: `u${n}@example.com`, password: "wrong" });
    for (let n = 0; n < 10; n++) expect((await wrong(n, `2001:db8:1:2::${n + 1}`)).status).toBe(401);
    expect((await wrong(10, "2001:db8:1:2::ffff")).status).toBe(429);
    for (let net = 3; net < 18; net++) {
      for (let n = 0; n < 10; n++) expect((await wrong(100 * net + n, `2001:db8:1:${net}::1`)).status).toBe(401);
    }
    expect((await wrong(11, "2001:db8:1:99::1")).status).toBe(429);
    expect((await wrong(12, "2001:db8:2:99::1")).status).toBe(401);
  });

  test("a queue that one client has filled lets others of the instance, and other instances, through", async () => {
    const other = await world.shop();
    await Promise.all([owner(shop), owner(other)]);
    const hold = holdPasswords();
    const flood = watched(
      Array.from({ length: 9 }, (_, n) => attempt(shop, "198.51.100.1", { email: `u${n}@example.com` })),
    );
    await waitFor("the queue to be full", () => flood.refused() === 4);
    const others = [attempt(shop, "198.51.100.2"), attempt(other, "198.51.100.3")];
    await waitFor("two of the flood to make room", () => flood.refused() === 6);
    hold.release();
    expect((await Promise.all(others)).map(({ url }) => url.startsWith(`${appUrl}?token=`))).toEqual([true, true]);
    await flood.ended;
  });

  test("what found the server too busy is not counted, neither for the client nor for the account", async () => {
    await owner(shop);
    const hold = holdPasswords();
    const flood = watched(Array.from({ length: 10 }, () => attempt(shop, "198.51.100.1", { password: "wrong" })));
    await waitFor("the queue to be full", () => flood.refused() === 5);
    hold.release();
    await flood.ended;
    const wrong = (n: number) => attempt(shop, "198.51.100.1", { email: `u${n}@example.com`, password: "wrong" });
    for (let n = 0; n < 5; n++) expect((await wrong(n)).status).toBe(401);
    expect((await wrong(5)).status).toBe(429);
  });

  test("right ones are not counted, neither for the client nor for the account", async () => {
    await owner(shop);
    for (let n = 0; n < 25; n++) expect((await attempt(shop, "198.51.100.1")).url).toContain("token=");
    const all = await Promise.all(Array.from({ length: 4 }, () => attempt(shop, "198.51.100.1")));
    for (const { url } of all) expect(url).toContain("token=");
  });

  test("a browser that is known comes in beside strangers who try passwords behind the same address", async () => {
    await owner(shop);
    const browser = world.browser(from("198.51.100.1"));
    expect((await attempt(shop, "", {}, browser)).url).toContain("token=");
    for (let n = 0; n < 10; n++) await attempt(shop, "198.51.100.1", { email: `u${n}@example.com`, password: "wrong" });
    expect((await attempt(shop, "198.51.100.1")).status).toBe(429);
    expect((await attempt(shop, "", {}, browser)).url).toContain("token=");
  });

  test("one user gets so many new sessions a minute, by whichever way", async () => {
    await owner(shop);
    const { max } = identityLimits.rates.rates.signed_in;
    const user = world.context.store.users.byEmail(shop.entry().instance.seq, email);
    for (let n = 0; n < max; n++) world.context.rateLimits.take("signed_in", String(user?.seq));
    expect((await attempt(shop, "198.51.100.1")).status).toBe(429);
    expect((await goAway(shop, "198.51.100.1")).url).toContain("error=");
  });

  test("what is one too many for the client does not count for the account", async () => {
    await owner(shop);
    for (let n = 0; n < 10; n++) await attempt(shop, "198.51.100.1", { email: `u${n}@example.com`, password: "wrong" });
    for (let n = 0; n < 10; n++) expect((await attempt(shop, "198.51.100.1")).status).toBe(429);
    expect((await attempt(shop, "198.51.100.2")).url).toContain("token=");
  });

  test("strangers who try passwords do not lock the user out of a browser that is known", async () => {
    await owner(shop);
    const browser = world.browser(from("198.51.100.9"));
    expect((await attempt(shop, "", {}, browser)).url).toContain("token=");
    for (let n = 0; n < 12; n++) await attempt(shop, `198.51.100.${n % 3}`, { password: "wrong" });
    expect((await attempt(shop, "198.51.100.7")).status).toBe(429);
    expect((await attempt(shop, "", {}, browser)).url).toContain("token=");
  });
});

test("strangers who ask for mails do not keep the user's known browser from one", async () => {
  const password = "correct horse battery";
  const passwordHash = await Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 1_024, timeCost: 1 });
  const email = "ana@example.com";
  await world.user(shop, { email, passwordHash });
  const ask = async (browser: WebBrowser) =>
    (await browser.submit(await browser.open(world.page(shop, "/forgot")), "/forgot", { email })).status;
  const known = world.browser(from("198.51.100.9"));
  await known.submit(await known.open(world.page(shop, "/sign-in")), "/sign-in", { email, password });
  for (let n = 0; n < 3; n++) expect(await ask(world.browser(from(`203.0.113.${n}`)))).toBe(200);
  expect(await ask(world.browser(from("203.0.113.9")))).toBe(429);
  expect(await ask(known)).toBe(200);
});

test("a flood of sign-ups ends no pending one, and stays in its instance", async () => {
  await world.stop();
  world = await signInWorld({ behindProxy: true }, { linksKept: 40 });
  shop = await world.shop();
  const other = await world.shop();
  const signUp = async (n: number, tenant = shop, browser = world.browser(from(`198.51.100.${n}`))) => {
    const page = await browser.open(world.page(tenant, "/sign-up"));
    const fields = { name: "Ana", email: `u${n}@example.com`, password: "correct horse battery" };
    return (await browser.submit(page, "/sign-up", fields)).status;
  };
  const ana = world.browser(from("203.0.113.1"));
  expect(await signUp(0, shop, ana)).toBe(200);
  const statuses: number[] = [];
  for (let n = 1; n <= 15; n++) statuses.push(await signUp(n));
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(4);
  expect(await signUp(99, other)).toBe(200);
  const mail = world.mails().find(({ message }) => message.to === "u0@example.com");
  claimsOf(await ana.submit(await ana.open(linkIn(mail)), "/verify", {}));
});

test("strangers do not fill a mailbox with links, and the first of them go on working", async () => {
  await world.user(shop, { email: "ana@example.com" });
  for (let n = 0; n < 12; n++) {
    const browser = world.browser(from(`203.0.113.${n}`));
    const page = await browser.open(world.page(shop, "/forgot"));
    expect((await browser.submit(page, "/forgot", { email: "ana@example.com" })).html).toContain("Check your mail");
    world.clock.moveTo(world.clock.now() + 21_000);
  }
  expect(world.mails()).toHaveLength(5);
  const browser = world.browser();
  const form = await browser.open(linkIn(world.mails().at(-1)));
  const done = await browser.submit(form, "/reset", { password: "another horse battery" });
  expect(done.html).toContain("has been changed");
});

test("callbacks and wrong passwords of a stranger do not flood the audit trail", async () => {
  const trail = () => world.context.store.audit.list(shop.entry().instance.seq, { limit: 1_000 });
  const before = trail().length;
  for (let n = 0; n < 60; n++) {
    const started = await begin(shop, "198.51.100.1");
    if (started.status !== 302) continue;
    const state = new URL(started.headers.get("location") ?? "").searchParams.get("state") ?? "";
    const headers = { ...from("198.51.100.1"), Cookie: started.headers.get("set-cookie")?.split(";")[0] ?? "" };
    const query = new URLSearchParams({ state, error: "access_denied" });
    await world.fetch(new Request(`${baseUrl}/oauth/google/callback?${query}`, { headers }));
  }
  expect(trail().length).toBe(before + 1);
  expect(trail()[0]).toMatchObject({ action: "signin.fail", detail: { error: "access_denied", times: 60 } });
});

test("how long a request for a mail takes says nothing about the address", async () => {
  await world.stop();
  world = await signInWorld({}, { evenMs: 250 });
  shop = await world.shop();
  await world.user(shop, { email: "ana@example.com" });
  for (const [path, email] of [
    ["/forgot", "ana@example.com"],
    ["/forgot", "nobody@example.com"],
    ["/sign-up", "ana@example.com"],
    ["/sign-up", "new@example.com"],
  ] as const) {
    const browser = world.browser();
    const page = await browser.open(world.page(shop, path));
    const mails = world.mails().length;
    let answered = false;
    const answer = browser.submit(page, path, { email, name: "Ana", password: "correct horse battery" });
    void answer.then(() => {
      answered = true;
    });
    await waitFor("the answer to be held back", () => world.clock.sleepers > 0);
    if (email !== "nobody@example.com") await waitFor("the mail", () => world.mails().length > mails);
    world.clock.moveTo(world.clock.steady() + 249);
    for (let turn = 0; turn < 5; turn++) await new Promise((next) => setImmediate(next));
    expect([email, answered]).toEqual([email, false]);
    world.clock.moveTo(world.clock.steady() + 1);
    expect((await answer).status).toBe(200);
  }
});
