import { identityLimits } from "../../src/config/config.ts";
import { settleAccount } from "../../src/identity/service/accounts.ts";
import { createCompleteSignIn } from "../../src/identity/service/complete-sign-in.ts";
import { hashOf, randomSecret } from "../../src/identity/service/random.ts";
import type { Browser } from "../../src/identity/service/browser.ts";
import type { OAuthState } from "../../src/identity/store/records.ts";
import { type IdentityWorld, identityWorld, type Tenant } from "../support/identity.ts";
import { addProvider, appUrl, baseUrl } from "../support/sign-in-world.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./row.ts";

const rounds = 5;
const roundMs = 2_000;

/**
 * Whole sign-ins through a provider on loopback: authorize, the provider's page, callback with exchange and profile,
 * session and token. The limit is what the disk commits: the same rows written without HTTP, provider and tokens.
 */
export async function run(): Promise<BenchRow[]> {
  // One person signs in all the time, from one address.
  const open = { max: 1e9, perMs: 60_000 };
  const rates = { ...identityLimits.rates, rates: { ...identityLimits.rates.rates, start: open, signed_in: open } };
  const world = identityWorld({ signIn: { ...identityLimits.signIn }, rates });
  const worker = new Worker(new URL("./provider-worker.ts", import.meta.url).href);
  try {
    const url = await new Promise<string>((resolve) => {
      worker.onmessage = ({ data }) => resolve(String(data));
    });
    const shop = await world.tenant({ redirect_uris: [appUrl], max_concurrent_sessions: null });
    await addProvider(world, shop, { name: "google", provider: { url } });
    const rows: BenchRow[] = [];
    for (const atOnce of [1, 32]) rows.push(await measure(world, shop, atOnce));
    return rows;
  } finally {
    worker.terminate();
    world.close();
  }
}

async function measure(world: IdentityWorld, shop: Tenant, atOnce: number): Promise<BenchRow> {
  const flow = () => signIn(world, shop);
  const writes = bareWrites(world, shop);
  await rate(flow, atOnce);
  await writes();
  const pairs: [number, number][] = [];
  // In turn, so that a machine that is busy meanwhile is so for both.
  for (let round = 0; round < rounds; round++) pairs.push([await rate(flow, atOnce), await rate(writes, atOnce)]);
  const value = median(pairs.map(([flows]) => flows));
  const baseline = median(pairs.map(([, bare]) => bare));
  const name = `identity: sign-ins through a provider, ${atOnce} at once`;
  return { name, value, unit: "sign-ins/s", baseline, ratio: value / baseline, wanted: "the commit rate is the limit" };
}

/** How often per second `work` ends, with so many under way at the same time. */
async function rate(work: () => Promise<void>, atOnce: number): Promise<number> {
  const startedAt = performance.now();
  let done = 0;
  const lane = async () => {
    while (performance.now() - startedAt < roundMs) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return (done * 1_000) / (performance.now() - startedAt);
}

/** One person, from the link on the page to the app with a token. */
async function signIn(world: IdentityWorld, { id }: Tenant): Promise<void> {
  const query = new URLSearchParams({ provider: "google", redirect_uri: appUrl });
  const leaving = await world.fetch(new Request(`${baseUrl}/i/${id}/oauth/authorize?${query}`));
  const [cookie = ""] = leaving.headers.getSetCookie().map((text) => text.split(";")[0]);
  const consent = await fetch(leaving.headers.get("location") ?? "", { redirect: "manual" });
  const callback = new Request(consent.headers.get("location") ?? "", { headers: { Cookie: cookie } });
  const back = await world.fetch(callback);
  if (!back.headers.get("location")?.includes("token=")) throw new Error(`no token: ${await back.text()}`);
}

/** The rows of one sign-in, in the same three writes. */
function bareWrites(world: IdentityWorld, shop: Tenant): () => Promise<void> {
  const { context } = world;
  const { store, clock } = context;
  const entry = shop.entry();
  const endpoints: OAuthState["endpoints"] = {
    clientId: "c",
    token: "https://p.test/token",
    userinfo: "https://p.test/userinfo",
    emails: undefined,
    issuer: undefined,
    jwks: undefined,
    auth: "body",
    namesItself: false,
  };
  const profile = {
    ...{ uid: "1001", handle: "1001", email: "ana@example.com", emailVerified: true, authoritative: false },
    ...{ name: "Ana Silva", avatarUrl: "https://img.test/a.png" },
  };
  const account = { profile, accessToken: "at-1001", refreshToken: undefined, expiresAt: undefined };
  const completeSignIn = createCompleteSignIn(context, { issue: () => "" });
  return async () => {
    const now = clock.now();
    const hash = hashOf(randomSecret(context));
    const state: OAuthState = {
      ...{
        hash,
        instance: entry.instance.seq,
        provider: "google",
        redirectUri: appUrl,
        browser: hash,
        client: "203.0.113.7",
        endpoints,
      },
      ...{ codeVerifier: randomSecret(context), nonce: undefined, createdAt: now, expiresAt: now + 600_000 },
    };
    await store.write(({ oauthStates }) => oauthStates.put(state), { durable: false });
    const taken = await store.write(({ oauthStates }) => oauthStates.take(hash));
    if (taken === undefined) throw new Error("the state was not stored");
    const browser: Browser = {
      ...{ entry, ip: "203.0.113.7", userAgent: "bench", language: "en" as const, pagesUrl: "", flow: "" },
      device: undefined,
    };
    await store.write((nouns) => {
      const settled = settleAccount(nouns, {
        entry,
        provider: "google",
        account,
        signedInAs: undefined,
        ip: browser.ip,
        now,
      });
      if ("refused" in settled) throw new Error(settled.refused);
      completeSignIn(nouns, { browser, user: settled.user, provider: "google", redirectUri: appUrl, now });
    });
  };
}
