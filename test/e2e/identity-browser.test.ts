import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Chromium, startChromium, type Tab } from "../support/chromium.ts";
import { berth, serve, type Server } from "../support/executable.ts";
import { clientId, clientSecret, type LoopbackProvider, startLoopbackProvider } from "../support/loopback-provider.ts";
import { freePort } from "../support/ports.ts";
import { waitFor } from "../support/wait.ts";

/** The executable, its client, a provider and an app on loopback, and a real browser. */
let server: Server;
let provider: LoopbackProvider;
let app: Bun.Server<undefined>;
/** Where the app sends people on to: another origin, as it often is. */
let home: Bun.Server<undefined>;
let chromium: Chromium;
let folder: string;
let endpoint: string;
let shop: { instance_id: string; secret_key: string; sign_in_url: string };
let callback: string;
let base: string;

const password = "correct horse battery";

async function client<T>(...args: string[]): Promise<T> {
  const run = await berth(["identity", ...args, "-o", "json"], { env: { BERTH_ENDPOINT: endpoint } });
  if (run.exitCode !== 0) throw new Error(`berth identity ${args.join(" ")}: ${run.stderr}${run.stdout}`);
  return (JSON.parse(run.stdout) as { data: T }).data;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "identity-browser-"));
  const [port, plane] = [await freePort(), await freePort()];
  base = `http://127.0.0.1:${port}`;
  endpoint = `http://127.0.0.1:${plane}`;
  home = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("<title>home</title><p>welcome home", { headers: { "Content-Type": "text/html" } }),
  });
  app = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      const { pathname, searchParams } = new URL(url);
      if (pathname === "/onward") return Response.redirect(`http://127.0.0.1:${home.port}/`, 302);
      const text = `<title>app</title><p>back in the app: ${searchParams.get("error") ?? "signed in"}`;
      return new Response(text, { headers: { "Content-Type": "text/html" } });
    },
  });
  callback = `http://127.0.0.1:${app.port}/callback`;
  provider = await startLoopbackProvider();
  provider.asks = true;
  server = await serve([
    ...["--root", folder, "--addr", `127.0.0.1:${plane}`, "--docker-host", "unix:///nonexistent.sock"],
    ...["--identity-addr", `127.0.0.1:${port}`, "--identity-allow-private-endpoints", "--observability-addr", ""],
  ]);
  shop = await client("quickstart", "--redirect", callback);
  const endpointsOf = (name: string, profile: string) => [
    ...["--client-id", clientId, "--client-secret", clientSecret],
    ...["--authorize-url", `${provider.url}/${name}/authorize`, "--token-url", `${provider.url}/${name}/token`],
    ...["--userinfo-url", `${provider.url}/${name}/${profile}`],
  ];
  const instance = ["--instance", shop.instance_id];
  await client("provider", "set", ...instance, "google", ...endpointsOf("google", "userinfo"));
  const emails = ["--emails-url", `${provider.url}/github/user/emails`];
  await client("provider", "set", ...instance, "github", ...endpointsOf("github", "user"), ...emails);
  await client("provider", "set", ...instance, "twitter", ...endpointsOf("twitter", "users/me"));
  chromium = await startChromium();
});

afterAll(async () => {
  await chromium?.close();
  await server?.stop();
  await provider?.stop();
  await app?.stop(true);
  await home?.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

const signInUrl = (query: Record<string, string> = {}) =>
  `${base}/i/${shop.instance_id}/sign-in?${new URLSearchParams({ redirect_uri: callback, ...query })}`;

async function tokenIn(tab: Tab): Promise<string> {
  const href = await tab.at(/\/callback\?.*token=/);
  return new URL(href).searchParams.get("token") ?? "";
}

async function verify(token: string) {
  const response = await fetch(`${base}/api/v1/tokens/verify`, {
    method: "POST",
    headers: { "X-Service-Secret-Key": shop.secret_key, "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: Record<string, unknown> }).data;
}

interface ShownMail {
  id: string;
  to: string;
  text: string;
}

async function lastLink(to: string): Promise<string> {
  const { mails } = await client<{ mails: ShownMail[] }>("mail", "list");
  const id = mails.find((mail) => mail.to === to)?.id ?? "";
  const shown = await client<ShownMail>("mail", "show", id);
  return /https?:\/\/\S+/.exec(shown.text)?.[0] ?? "";
}

describe("signing in with a real browser", () => {
  test("the sign-in URL of the quickstart works", async () => {
    const tab = await chromium.tab();
    await tab.open(shop.sign_in_url);
    await tab.shows("Continue with Google");
  });

  for (const [name, label] of [
    ["google", "Google"],
    ["github", "GitHub"],
    ["twitter", "X"],
  ] as const) {
    test(`with ${label}`, async () => {
      const tab = await chromium.tab();
      await tab.open(signInUrl());
      await tab.press(`Continue with ${label}`);
      await tab.press("allow");
      expect(await verify(await tokenIn(tab))).toMatchObject({ valid: true, provider: name, name: "Ana Silva" });
      await tab.shows("signed in");
    });
  }

  test("denied at the provider, the app gets to know", async () => {
    const tab = await chromium.tab();
    await tab.open(signInUrl({ provider: "google" }));
    await tab.press("deny");
    await tab.at(/\/callback\?error=access_denied$/);
    await tab.shows("access_denied");
  });

  test("the back button: an answer that was used is over, and one can begin anew", async () => {
    const tab = await chromium.tab();
    await tab.open(signInUrl({ provider: "google" }));
    await tab.shows("google");
    const allow = await tab.read<string>("document.querySelector('#allow').href");
    await tab.press("allow");
    await tokenIn(tab);
    await tab.back();
    await tab.shows("google");
    expect(await tab.read<string>("document.querySelector('#allow').href")).toBe(allow);
    await tab.press("allow");
    await tab.shows("This sign-in is over");
    await tab.open(signInUrl());
    await tab.press("Continue as Ana Silva");
    await tokenIn(tab);
  });

  test("two tabs at the same time", async () => {
    const one = await chromium.tab();
    const two = await one.another();
    await one.open(signInUrl({ provider: "google" }));
    await two.open(signInUrl({ provider: "github" }));
    await one.press("allow");
    await two.press("allow");
    const [first, second] = [await verify(await tokenIn(one)), await verify(await tokenIn(two))];
    expect([first.provider, second.provider]).toEqual(["google", "github"]);
  });

  test("sign up, open the mail, confirm, sign out, sign in", async () => {
    const tab = await chromium.tab();
    await tab.open(signInUrl());
    await tab.press("Create account");
    await tab.fill("#name", "Bea");
    await tab.fill("#email", "bea@example.com");
    await tab.fill("#password", password);
    await tab.click("form[action$='/sign-up'] button");
    await tab.shows("Check your mail");
    await tab.open(await lastLink("bea@example.com"));
    await tab.press("Confirm");
    expect(await verify(await tokenIn(tab))).toMatchObject({ email: "bea@example.com", provider: "email" });
    await tab.open(signInUrl().replace("/sign-in?", "/sign-out?"));
    await tab.press("Sign out");
    await tab.at(/\/callback$/);
    await tab.open(signInUrl());
    expect(await tab.shows("Sign in to")).not.toContain("Continue as");
    await tab.fill("#email", "bea@example.com");
    await tab.fill("#password", "wrong password");
    await tab.click("form[action$='/sign-in'] button");
    await tab.shows("Email or password is wrong");
    await tab.fill("#password", password);
    await tab.click("form[action$='/sign-in'] button");
    expect(await verify(await tokenIn(tab))).toMatchObject({ email: "bea@example.com" });
  });

  test("a new password by mail, all with the keyboard", async () => {
    const tab = await chromium.tab();
    await tab.open(signInUrl());
    await tab.press("Forgot your password?");
    // Both pages have the field.
    await tab.at(/\/forgot\?/);
    await tab.fill("#email", "bea@example.com");
    await tab.key("Enter");
    await tab.shows("Check your mail");
    await tab.open(await lastLink("bea@example.com"));
    await tab.fill("#password", "another long password");
    await tab.key("Enter");
    await tab.shows("has been changed");
    await tab.press("Sign in");
    await tab.fill("#email", "bea@example.com");
    await tab.fill("#password", "another long password");
    await tab.key("Tab");
    await tab.key("Enter");
    await tokenIn(tab);
  });

  test("an app that sends people on to another origin after a form", async () => {
    const onward = `http://127.0.0.1:${app.port}/onward`;
    await client("instance", "set", shop.instance_id, "--redirect", callback, "--redirect", onward);
    const tab = await chromium.tab();
    await tab.open(signInUrl({ redirect_uri: onward }));
    await tab.fill("#email", "bea@example.com");
    await tab.fill("#password", "another long password");
    await tab.click("form[action$='/sign-in'] button");
    await tab.shows("welcome home");
  });

  test("without JavaScript", async () => {
    const tab = await chromium.tab();
    await tab.withoutScripts();
    await tab.open(signInUrl());
    await tab.press("Continue with Google");
    await tab.press("allow");
    await tokenIn(tab);
  });

  test("a token in the body of a request goes there by itself", async () => {
    await client("instance", "set", shop.instance_id, "delivery=form_post");
    const tab = await chromium.tab();
    await tab.open(signInUrl({ provider: "google" }));
    await tab.press("allow");
    await tab.at(/\/callback$/);
    await client("instance", "set", shop.instance_id, "delivery=query");
  });

  test("cookies off: the page says what is wrong", async () => {
    const tab = await chromium.tab();
    await tab.withoutCookies();
    await tab.open(signInUrl({ provider: "google" }));
    await tab.press("allow");
    await tab.shows("does not keep cookies");
    await tab.open(signInUrl());
    await tab.fill("#email", "bea@example.com");
    await tab.fill("#password", password);
    await tab.click("form[action$='/sign-in'] button");
    await tab.shows("does not keep cookies");
  });

  test("every field has a label, the page a main part, a language and a title; focus is seen", async () => {
    const tab = await chromium.tab();
    for (const path of ["/sign-in", "/sign-up", "/forgot"]) {
      await tab.open(signInUrl().replace("/sign-in?", `${path}?`));
      const bare =
        "[...document.querySelectorAll('input:not([type=hidden])')].filter((one) => one.labels.length === 0).length";
      expect(await tab.read<number>(bare)).toBe(0);
      expect(await tab.read<number>("document.querySelectorAll('main').length")).toBe(1);
      expect(await tab.read<string>("document.documentElement.lang")).toBe("en");
      expect(await tab.read<string>("document.title")).not.toBe("");
      await tab.key("Tab");
      expect(await tab.read<string>("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    }
  });

  test("no page has broken its own policy, and the server no rule of its log", async () => {
    expect(chromium.complaints).toEqual([]);
    await waitFor("the log", () => server.output().includes("/sign-in"));
    for (const secret of [password, clientSecret, shop.secret_key, "token="])
      expect(server.output()).not.toContain(secret);
  });
});
