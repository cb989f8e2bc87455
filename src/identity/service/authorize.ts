import { Failure } from "../../base/wire/failure.ts";
import { clientNetwork } from "../../base/pure/client-network.ts";
import { stateLimitReached } from "../core/state-room.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { OAuthState } from "../store/records.ts";
import { deliverError } from "./token-delivery.ts";
import { callbackOf, complain, deadline, type AuthorizeOutcome, type FlowParts } from "./flow-parts.ts";
import type { ResolvedProvider } from "./code-exchange.ts";
import { usesPkce } from "./providers.ts";
import { hashOf, randomSecret, randomState } from "./random.ts";
import { allowedRedirect } from "./redirects.ts";
import type { Browser } from "./browser.ts";

export interface AuthorizeWish {
  browser: Browser;
  provider: string;
  redirectUri: string;
}

/**
 * Sends a browser to a provider: checks where it wants to go in the end, and keeps what must be true on its return.
 * Fails `too_many` for a client that has begun too many sign-ins, `unavailable` when its instance has.
 */
export async function authorize(parts: FlowParts, wish: AuthorizeWish, signal: AbortSignal): Promise<AuthorizeOutcome> {
  const { browser } = wish;
  const { entry } = browser;
  const redirectUri = allowedRedirect(parts.context, browser, wish.redirectUri);
  if (redirectUri === undefined) return { problem: "redirect" };
  const provider = parts.providers.get(entry.instance.seq, wish.provider);
  if (provider === undefined) return { problem: "provider" };
  const retryAfterSeconds = parts.context.rateLimits.takeClient("start", browser.ip);
  if (retryAfterSeconds !== undefined) throw tooMany(retryAfterSeconds);
  const endpoints = await endpointsOf(parts, { browser, provider }, signal);
  if ("shown" in endpoints) return { delivery: deliverError(redirectUri, endpoints.shown) };
  return { go: await authorizeUrl(parts, { browser, provider, redirectUri, endpoints }) };
}

type Endpoints = Awaited<ReturnType<FlowParts["providers"]["endpoints"]>>;

async function endpointsOf(
  parts: FlowParts,
  { browser, provider }: { browser: Browser; provider: ResolvedProvider },
  signal: AbortSignal,
): Promise<Endpoints | { shown: string }> {
  try {
    return await parts.providers.endpoints(provider, deadline(parts, signal));
  } catch (error) {
    return { shown: complain(parts, { entry: browser.entry, provider: provider.name, error }) };
  }
}

interface Authorizing {
  browser: Browser;
  provider: ResolvedProvider;
  redirectUri: string;
  endpoints: Endpoints;
}

async function authorizeUrl(parts: FlowParts, authorizing: Authorizing): Promise<string> {
  const { context, providers } = parts;
  const { store, clock, limits } = context;
  const { browser, provider, redirectUri } = authorizing;
  const { authorize, ...endpoints } = authorizing.endpoints;
  const value = randomState(context);
  const verifier = usesPkce(provider) ? randomSecret(context) : undefined;
  const nonce = endpoints.jwks === undefined ? undefined : randomSecret(context);
  const now = clock.now();
  const state: OAuthState = {
    hash: hashOf(value),
    instance: browser.entry.instance.seq,
    provider: provider.name,
    redirectUri,
    browser: hashOf(browser.flow),
    client: clientNetwork(browser.ip).near || "unknown",
    endpoints: { ...endpoints, clientId: provider.clientId },
    codeVerifier: verifier,
    nonce,
    createdAt: now,
    expiresAt: now + limits.signIn.stateMs,
  };
  // Lost in a crash of the machine it costs somebody a second try; nothing is worth a sync to disk here.
  await store.write((nouns) => putState(parts, nouns, state), { durable: false });
  const callback = callbackOf(parts, browser.entry, provider);
  return providers.authorizeUrl(provider, { ...endpoints, authorize }, { state: value, verifier, nonce, callback });
}

const fullRetrySeconds = 30;

function putState({ context }: FlowParts, { oauthStates }: IdentityNouns, state: OAuthState): void {
  const waiting = oauthStates.waiting(state.instance, state.client);
  const reached = stateLimitReached(waiting, context.limits.signIn);
  if (reached === "client") throw tooMany(fullRetrySeconds);
  if (reached === "instance") {
    throw new Failure("unavailable", "too many sign-ins are under way; try again in a few minutes", {
      retryAfterSeconds: fullRetrySeconds,
    });
  }
  oauthStates.put(state);
}

function tooMany(retryAfterSeconds: number): Failure {
  return new Failure("too_many", "this client has begun too many sign-ins; try again later", { retryAfterSeconds });
}
