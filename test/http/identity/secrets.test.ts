import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { createHookOutbox } from "../../../src/identity/service/webhook-outbox.ts";
import type { WebhookCall } from "../../../src/base/deliver/webhook.ts";
import { type Tenant, withPublishable, withSecret } from "../../support/identity.ts";
import { managePlane } from "../../support/identity-plane.ts";
import { clientSecret } from "../../support/loopback-provider.ts";
import { linkIn, signInWorld, type SignInWorld, tokenOf } from "../../support/sign-in-world.ts";
import { waitFor } from "../../support/wait.ts";

/**
 * Goes through everything that has to do with a secret, right and wrong, and then looks for each one of them in all
 * that was written: the log, the audit trail, webhook calls, answers about errors, and every byte of the files.
 */
let world: SignInWorld;
let shop: Tenant;
const told: WebhookCall[] = [];
const secrets = new Map<string, string>();
const stopping = new AbortController();

beforeEach(async () => {
  world = await signInWorld();
  shop = await world.shop();
});
afterEach(async () => {
  stopping.abort();
  await world.stop();
});

function remember(name: string, value: unknown): string {
  if (typeof value !== "string" || value.length < 9) throw new Error(`${name} is no secret: ${String(value)}`);
  secrets.set(value, name);
  return value;
}

const linkToken = (link: string) => new URL(link).searchParams.get("token");

async function passwords(): Promise<void> {
  const browser = world.browser();
  const [email, password] = ["ana@shop.test", remember("password", "correct horse battery 8213")];
  const wrong = remember("wrong password", "wrong horse battery 9911");
  const form = await browser.open(world.page(shop, "/sign-up"));
  await browser.submit(form, "/sign-up", { name: "Ana", email, password });
  const link = linkIn(world.mails()[0]);
  remember("verify link", linkToken(link));
  remember("sign-up token", tokenOf(await browser.submit(await browser.open(link), "/verify", {})));
  const again = world.browser();
  await again.submit(await again.open(world.page(shop, "/sign-in")), "/sign-in", { email, password: wrong });
  const signedIn = await again.submit(await again.open(world.page(shop, "/sign-in")), "/sign-in", { email, password });
  const token = remember("sign-in token", tokenOf(signedIn));
  const pair = await world.ask("POST /api/v1/sessions/exchange", { headers: withPublishable(shop), body: { token } });
  const { access_token, refresh_token } = pair.json as Record<string, string>;
  remember("access token", access_token);
  const spent = remember("refresh token", refresh_token);
  const refresh = () =>
    world.ask("POST /api/v1/sessions/refresh", { headers: withPublishable(shop), body: { refresh_token: spent } });
  remember("next refresh token", ((await refresh()).json as Record<string, string>).refresh_token);
  world.clock.moveTo(world.clock.now() + 60_000);
  expect((await refresh()).status).toBe(401);
  for (const one of [token, `${token}x`, "x".repeat(9_000)]) {
    await world.ask("POST /api/v1/tokens/verify", { headers: withSecret(shop), body: { token: one } });
  }
  for (const cookie of [...browser.setCookies, ...again.setCookies]) {
    const value = /=([^;]{12,})/.exec(cookie)?.[1];
    if (value !== undefined) remember("cookie", value);
  }
}

async function providers(): Promise<void> {
  // Its access token is made from it.
  world.provider.person = { ...world.provider.person, uid: "1000200030004000" };
  remember("provider's refresh token", "rt-secret");
  for (const name of ["google", "github", "twitter", "acme"]) {
    const browser = world.browser();
    const page = await world.signIn(browser, shop, name);
    remember(`token by ${name}`, tokenOf(page));
  }
  world.provider.mode = "status_500";
  await world.signIn(world.browser(), shop, "google");
  world.provider.mode = "garbage_token";
  await world.signIn(world.browser(), shop, "github");
  remember("client secret", clientSecret);
  for (const { query, form, headers } of world.provider.seen) {
    // A nonce opens nothing: it stands in the open in the ID token.
    for (const name of ["state", "code", "code_verifier"]) {
      const value = form[name] ?? query[name];
      if (value !== undefined && value.length >= 12) remember(`provider's ${name}`, value);
    }
    const bearer = /^Bearer (.{12,})$/.exec(headers.get("authorization") ?? "")?.[1];
    if (bearer !== undefined) remember("provider's token", bearer);
  }
}

async function operator(): Promise<void> {
  const manage = managePlane(world.running.identity.manage, world.context.log);
  remember("secret key", shop.secretKey);
  const rotated = await manage(`POST /identity/instances/${shop.id}/keys/rotate`, {});
  remember("next secret key", rotated.data.secret_key);
  const { data } = await manage(`POST /identity/hooks?instance=${shop.id}`, { url: "https://hooks.test/in" });
  remember("webhook secret", data.secret);
  const password = remember("operator's password", "made by the operator 55");
  await manage(`POST /identity/users?instance=${shop.id}`, { email: "bo@shop.test", password });
  const wrong = remember("wrong key", "sk_live_0123456789012345678901234567890123456789012");
  await world.ask("GET /api/v1/users", { headers: { "X-Service-Secret-Key": wrong } });
  await world.ask(`GET /api/v1/users/search?query=${wrong}&strict=1`, {
    headers: { Authorization: `Bearer ${wrong}` },
  });
}

test("no secret, token, code or password stands in anything that was written", async () => {
  const send = async (call: WebhookCall) => {
    told.push(call);
    return { outcome: "failed" as const, result: "status 500" };
  };
  void createHookOutbox(world.context, send).run(stopping.signal);
  await operator();
  await passwords();
  await providers();
  await waitFor("calls of webhooks", () => told.length >= 4);
  await world.ask("GET /api/v1/users/search?query=email:*shop*", { headers: withSecret(shop) });

  const written = new Map<string, Buffer | string>();
  written.set("the log", world.logged.join(""));
  written.set("webhook calls", JSON.stringify(told.map(({ url, headers, body }) => ({ url, headers, body }))));
  const { seq } = shop.entry().instance;
  written.set("the audit trail", JSON.stringify(world.context.store.audit.list(seq, { limit: 1_000 })));
  for (const end of ["", "-wal", ".search", ".search-wal"]) {
    if (existsSync(world.path + end)) written.set(`identity.db${end}`, readFileSync(world.path + end));
  }
  const found: string[] = [];
  for (const [secret, name] of secrets) {
    for (const [where, content] of written) {
      const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
      if (forms.some((form) => content.includes(form))) found.push(`${name} in ${where}`);
    }
  }
  expect(found).toEqual([]);
  // It would find them: what may be there is found by the same way, and there were secrets of every kind.
  expect([...written.values()].filter((content) => content.includes("ana@shop.test")).length).toBeGreaterThanOrEqual(3);
  const kinds = new Set([...secrets.values()].map((name) => name.replace(/ by .*/, "")));
  expect([...kinds].sort()).toEqual(
    [
      ...["password", "wrong password", "verify link", "sign-up token", "sign-in token", "access token", "token"],
      ...["refresh token", "next refresh token", "cookie", "client secret", "provider's state", "provider's code"],
      ...["provider's code_verifier", "provider's token", "provider's refresh token", "secret key", "next secret key"],
      ...["webhook secret", "operator's password", "wrong key"],
    ].sort(),
  );
});
