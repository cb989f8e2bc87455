import { Failure } from "../../base/wire/failure.ts";
import { clientNetwork } from "../../base/pure/client-network.ts";
import { stateLimitReached } from "../core/state-room.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { OAuthState } from "../store/records.ts";
import { deliverError } from "./delivery.ts";
import { callbackOf, complain, deadline, type Departure, type FlowParts } from "./flow-parts.ts";
import type { ResolvedProvider } from "./code-exchange.ts";
import { usesPkce } from "./providers.ts";
import { hashOf, randomSecret, randomState } from "./random.ts";
import { allowedRedirect } from "./redirects.ts";
import type { Visit } from "./visit.ts";

interface Wish {
  visit: Visit;
  provider: string;
  redirectUri: string;
}

/**
 * Sends a browser to a provider: checks where it wants to go in the end, and keeps what must be true on its return.
 * Fails `too_many` for a client that has begun too many sign-ins, `unavailable` when its instance has.
 */
export async function depart(parts: FlowParts, wish: Wish, signal: AbortSignal): Promise<Departure> {
  const { visit } = wish;
  const { entry } = visit;
  const redirectUri = allowedRedirect(parts.context, visit, wish.redirectUri);
  if (redirectUri === undefined) return { problem: "redirect" };
  const provider = parts.providers.get(entry.instance.seq, wish.provider);
  if (provider === undefined) return { problem: "provider" };
  const retryAfterSeconds = parts.context.rateLimits.takeClient("start", visit.ip);
  if (retryAfterSeconds !== undefined) throw tooMany(retryAfterSeconds);
  const endpoints = await endpointsOf(parts, { visit, provider }, signal);
  if ("shown" in endpoints) return { delivery: deliverError(redirectUri, endpoints.shown) };
  return { go: await leave(parts, { visit, provider, redirectUri, endpoints }) };
}

type Endpoints = Awaited<ReturnType<FlowParts["providers"]["endpoints"]>>;

async function endpointsOf(
  parts: FlowParts,
  { visit, provider }: { visit: Visit; provider: ResolvedProvider },
  signal: AbortSignal,
): Promise<Endpoints | { shown: string }> {
  try {
    return await parts.providers.endpoints(provider, deadline(parts, signal));
  } catch (error) {
    return { shown: complain(parts, { entry: visit.entry, provider: provider.name, error }) };
  }
}

interface Leaving {
  visit: Visit;
  provider: ResolvedProvider;
  redirectUri: string;
  endpoints: Endpoints;
}

async function leave(parts: FlowParts, leaving: Leaving): Promise<string> {
  const { context, providers } = parts;
  const { store, clock, limits } = context;
  const { visit, provider, redirectUri } = leaving;
  const { authorize, ...endpoints } = leaving.endpoints;
  const value = randomState(context);
  const verifier = usesPkce(provider) ? randomSecret(context) : undefined;
  const nonce = endpoints.jwks === undefined ? undefined : randomSecret(context);
  const now = clock.now();
  const state: OAuthState = {
    hash: hashOf(value),
    instance: visit.entry.instance.seq,
    provider: provider.name,
    redirectUri,
    browser: hashOf(visit.flow),
    client: clientNetwork(visit.ip).near || "unknown",
    endpoints: { ...endpoints, clientId: provider.clientId },
    codeVerifier: verifier,
    nonce,
    createdAt: now,
    expiresAt: now + limits.signIn.stateMs,
  };
  // Lost in a crash of the machine it costs somebody a second try; nothing is worth a sync to disk here.
  await store.write((nouns) => putState(parts, nouns, state), { durable: false });
  const callback = callbackOf(parts, visit.entry, provider);
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
