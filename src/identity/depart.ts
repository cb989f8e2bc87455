import { checkRedirect } from "../core/identity/redirect.ts";
import type { OAuthState } from "../store/identity/records.ts";
import { deliverError } from "./delivery.ts";
import { callbackOf, complain, deadline, type Departure, type FlowParts } from "./flow-parts.ts";
import type { ResolvedProvider } from "./code-exchange.ts";
import { usesPkce } from "./providers.ts";
import { hashOf, randomSecret, randomState } from "./random.ts";
import type { Visit } from "./visit.ts";

export interface Wish {
  visit: Visit;
  provider: string;
  redirectUri: string;
}

/** Sends a browser to a provider: checks where it wants to go in the end, and keeps what must be true on its return. */
export async function depart(parts: FlowParts, wish: Wish, signal: AbortSignal): Promise<Departure> {
  const { entry } = wish.visit;
  const redirect = checkRedirect(wish.redirectUri, entry.settings);
  if (!redirect.ok) return { problem: "redirect" };
  const provider = parts.providers.get(entry.instance.seq, wish.provider);
  if (provider === undefined) return { problem: "provider" };
  try {
    const leaving = { visit: wish.visit, provider, redirectUri: redirect.value };
    return { go: await leave(parts, leaving, deadline(parts, signal)) };
  } catch (error) {
    const shown = complain(parts, { entry, provider: provider.name, error });
    return { delivery: deliverError(redirect.value, shown) };
  }
}

interface Leaving {
  visit: Visit;
  provider: ResolvedProvider;
  redirectUri: string;
}

async function leave(
  parts: FlowParts,
  { visit, provider, redirectUri }: Leaving,
  signal: AbortSignal,
): Promise<string> {
  const { context, providers } = parts;
  const { store, clock, limits } = context;
  const { authorize, ...endpoints } = await providers.endpoints(provider, signal);
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
    endpoints: { ...endpoints, clientId: provider.clientId },
    codeVerifier: verifier,
    nonce,
    createdAt: now,
    expiresAt: now + limits.signIn.stateMs,
  };
  // Lost in a crash of the machine it costs somebody a second try; nothing is worth a sync to disk here.
  await store.write((nouns) => nouns.oauthStates.put(state, limits.signIn.statesKept), { durable: false });
  const callback = callbackOf(parts, visit.entry, provider);
  return providers.authorizeUrl(provider, { ...endpoints, authorize }, { state: value, verifier, nonce, callback });
}
