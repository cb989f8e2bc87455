import { afterEach, describe, expect, test } from "bun:test";
import type { InstanceSettings } from "../../../src/identity/api/settings.ts";
import { addProvider, appUrl, claimsOf, signInWorld, type SignInWorld } from "../../support/sign-in-world.ts";
import { linkOf, type Page } from "../../support/web-browser.ts";

let world: SignInWorld;

afterEach(() => world.stop());

async function signInPage(settings: InstanceSettings = {}, headers: Record<string, string> = {}): Promise<Page> {
  world = await signInWorld();
  return world.browser(headers).open(world.page(await world.shop(settings), "/sign-in"));
}

describe("headers", () => {
  test("nothing but ours is loaded, nothing is kept or told, nobody frames it", async () => {
    const { headers, html } = await signInPage({ logo_url: "https://cdn.test/logo.svg" });
    const policy = headers.get("content-security-policy") ?? "";
    const nonce = /<style nonce="([^"]+)">/.exec(html)?.[1];
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      `style-src 'nonce-${nonce}'`,
      "img-src https://cdn.test",
      "form-action 'self' https:",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(html).not.toMatch(/<script|\son[a-z]+=|style="/);
  });

  test("over https browsers are told to come by TLS alone, also by redirects and errors", async () => {
    world = await signInWorld({ baseUrl: "https://id.test" });
    const shop = await world.shop();
    // TLS ends before us.
    const at = (path: string) => `http://id.test/i/${shop.id}${path}?redirect_uri=${encodeURIComponent(appUrl)}`;
    const urls = [
      ...["/sign-in", "/forgot", "/sign-out", "/nothing"].map(at),
      `${at("/oauth/authorize")}&provider=google`,
      "http://id.test/oauth/google/callback?state=x",
    ];
    const heard = await Promise.all(urls.map((url) => world.fetch(new Request(url))));
    const sent = heard.map(({ headers }) => headers.get("strict-transport-security"));
    expect(sent).toEqual(urls.map((url) => (url.includes("/nothing") ? null : "max-age=31536000")));
    const plain = await signInWorld();
    const page = await plain.fetch(new Request(plain.page(await plain.shop(), "/sign-in")));
    expect(page.headers.get("strict-transport-security")).toBeNull();
    await plain.stop();
  });

  test("each page has a nonce of its own", async () => {
    const { headers } = await signInPage();
    const shop = await world.shop();
    const other = await world.browser().open(world.page(shop, "/sign-in"));
    expect(other.headers.get("content-security-policy")).not.toBe(headers.get("content-security-policy"));
  });

  test("redirects say no more than they must", async () => {
    world = await signInWorld();
    const shop = await world.shop();
    const response = await world.fetch(new Request(world.page(shop, "/oauth/authorize", { provider: "google" })));
    expect(response.status).toBe(302);
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  test("an app on loopback may be the end of a form", async () => {
    world = await signInWorld();
    const shop = await world.shop({ redirect_uris: ["http://127.0.0.1:4000/cb"] });
    const page = await world
      .browser()
      .open(world.page(shop, "/sign-in", { redirect_uri: "http://127.0.0.1:50123/cb" }));
    expect(page.headers.get("content-security-policy")).toContain("form-action 'self' http:;");
  });
});

describe("look", () => {
  test("title, logo and colour of the instance", async () => {
    const { html } = await signInPage({ title: "Kaffee & <b>", logo_url: "https://cdn.test/l.svg", accent: "#FFCC00" });
    expect(html).toContain("Sign in to Kaffee &amp; &lt;b&gt;");
    expect(html).toContain('<img src="https://cdn.test/l.svg" alt="Kaffee &amp; &lt;b&gt;"');
    expect(html).toContain("--accent:#ffcc00;--on-accent:#14161a");
  });

  test("language of the browser, or of the instance", async () => {
    expect((await signInPage({}, { "Accept-Language": "fr, de-AT;q=0.8, en;q=0.5" })).html).toContain('lang="de"');
    await world.stop();
    expect((await signInPage({}, { "Accept-Language": "fr" })).html).toContain('lang="en"');
    await world.stop();
    expect((await signInPage({ language: "de" }, { "Accept-Language": "en" })).html).toContain("Bei Shop anmelden");
  });

  test("only what is on offer", async () => {
    const page = await signInPage({ password_signin: false });
    expect(page.html).not.toContain('type="password"');
    expect(page.html).not.toContain("Create account");
    const bare = await world.tenant({ redirect_uris: [appUrl], email_signin: false });
    expect((await world.browser().open(world.page(bare, "/sign-in"))).html).toContain("No way to sign in");
  });
});

describe("addresses", () => {
  test("on a host of its own there is no path in front, and cookies stay there", async () => {
    world = await signInWorld();
    const hosted = await world.shop({}, "id.shop.test");
    const browser = world.browser();
    const query = new URLSearchParams({ redirect_uri: appUrl });
    const page = await browser.open(`http://id.shop.test/sign-in?${query}`);
    expect(linkOf(page, "Create account")).toBe(`http://id.shop.test/sign-up?${query}`);
    await world.user(hosted, {
      email: "ana@example.com",
      passwordHash: await Bun.password.hash("long enough", { algorithm: "argon2id", memoryCost: 1_024, timeCost: 1 }),
    });
    const done = await browser.submit(page, "/sign-in", { email: "ana@example.com", password: "long enough" });
    expect(claimsOf(done).instance_id).toBe(hosted.id);
    expect(browser.cookies("127.0.0.1:8688")).toBe("");
  });

  test("the pages of one instance do not show on the host of another", async () => {
    world = await signInWorld();
    await world.shop({}, "id.shop.test");
    const other = await world.shop();
    const page = await world.browser().open(`http://id.shop.test/i/${other.id}/sign-in?redirect_uri=${appUrl}`);
    expect(page.status).toBe(404);
  });

  test("over https, cookies are of this host alone", async () => {
    world = await signInWorld({ baseUrl: "https://id.example.test" });
    const shop = await world.shop();
    const browser = world.browser();
    claimsOf(await world.signIn(browser, shop, "google"));
    expect(browser.setCookies.length).toBeGreaterThan(1);
    for (const cookie of browser.setCookies) expect(cookie).toMatch(/^__Host-id_(flow|device)_inst_\w+=.*; Secure$/);
  });
});

test("without the flag, a provider inside the machine is not asked", async () => {
  world = await signInWorld({ allowPrivate: false });
  const shop = await world.shop();
  const page = await world.signIn(world.browser(), shop, "google");
  expect(page.url).toBe(`${appUrl}?error=server_error`);
  const https = { token_url: "https://127.0.0.1:1/token", authorize_url: `${world.provider.url}/google/authorize` };
  await addProvider(world, shop, { name: "google", provider: world.provider, options: https });
  expect((await world.signIn(world.browser(), shop, "google")).url).toBe(`${appUrl}?error=server_error`);
  expect(world.provider.seen.filter(({ path }) => path.endsWith("/token"))).toEqual([]);
});
