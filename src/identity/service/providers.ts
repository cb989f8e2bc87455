import { CodeChallengeMethod, OAuth2Client } from "arctic";
import { builtInProviders, type ProviderOptions } from "../api/providers.ts";
import { Failure } from "../../base/wire/failure.ts";
import { knownEndpoints, knownProviders, oidcScopes, type ProviderEndpoints } from "../core/endpoints.ts";
import { isIssuer } from "../core/id-token.ts";
import { effectiveProvider } from "../core/providers.ts";
import type { GuardedFetch } from "../../base/deliver/guarded-fetch.ts";
import { globalInstance } from "../store/providers.ts";
import type { OAuthState } from "../store/records.ts";
import {
  type ProviderAccount,
  type CodeExchange,
  exchangeCode,
  type ProviderButton,
  type ResolvedProvider,
} from "./code-exchange.ts";
import type { IdentityContext } from "./context.ts";
import type { Oidc } from "./oidc.ts";

interface Authorization {
  state: string;
  verifier: string | undefined;
  nonce: string | undefined;
  callback: string;
}

export interface Providers {
  /** The providers that an instance offers: those of docs/contract/identity.md, 1.3 first. */
  buttons(instance: number): ProviderButton[];
  /** Undefined when the instance does not offer it. */
  get(instance: number, name: string): ResolvedProvider | undefined;
  /** Fails `unavailable` or `invalid` when an issuer cannot be asked for its endpoints. */
  endpoints(provider: ResolvedProvider, signal: AbortSignal): Promise<ProviderEndpoints & { namesItself: boolean }>;
  /** Where the browser is sent. */
  authorizeUrl(provider: ResolvedProvider, endpoints: ProviderEndpoints, request: Authorization): string;
  /** Exchanges a code at the endpoint that its state names. Fails `unavailable` or `invalid`. */
  exchange(exchange: CodeExchange, signal: AbortSignal): Promise<ProviderAccount>;
}

type ProvidersContext = Pick<IdentityContext, "store" | "clock">;

export function createProviders(context: ProvidersContext, fetch: GuardedFetch, oidc: Oidc): Providers {
  const { providers } = context.store;
  const tools = { fetch, oidc, clock: context.clock };
  const get = (instance: number, name: string): ResolvedProvider | undefined => {
    const found = effectiveProvider(providers.get(instance, name), providers.get(globalInstance, name));
    if (found === undefined) return undefined;
    const kind = builtInProviders.find((known) => known === found.kind) ?? "oidc";
    const label = found.options.label ?? (kind === "oidc" ? name : knownProviders[kind].label);
    return { ...found, kind, label };
  };
  return {
    get,
    buttons(instance) {
      const names = [...providers.list(globalInstance), ...providers.list(instance)].map(({ name }) => name);
      const known: string[] = builtInProviders.filter((name) => names.includes(name));
      return [...new Set([...known, ...names.sort()])].flatMap((name) => {
        const provider = get(instance, name);
        return provider === undefined ? [] : [{ name, label: provider.label }];
      });
    },
    async endpoints({ kind, options }, signal) {
      if (kind !== "oidc") return { ...knownEndpoints(kind, options), namesItself: false };
      return connectionEndpoints(options, options.issuer && (await oidc.configuration(options.issuer, signal)));
    },
    authorizeUrl,
    exchange: (exchange, signal) => exchangeCode(tools, exchange, signal),
  };
}

interface Discovered {
  authorize: string;
  token: string;
  userinfo: string;
  jwks: string;
  auth: "basic" | "body";
  namesItself: boolean;
}

/** What an operator has written wins over what an issuer says of itself. */
function connectionEndpoints(options: ProviderOptions, found: Discovered | "" | undefined) {
  const authorize = options.authorize_url ?? (found ? found.authorize : undefined);
  const token = options.token_url ?? (found ? found.token : undefined);
  const userinfo = options.userinfo_url ?? (found ? found.userinfo : undefined);
  if (authorize === undefined || token === undefined || userinfo === undefined) {
    throw new Failure("invalid", "the connection has neither an issuer nor all endpoints; set one of them");
  }
  const discovered = found ? { jwks: found.jwks, auth: found.auth, namesItself: found.namesItself } : undefined;
  return {
    authorize,
    token,
    userinfo,
    emails: undefined,
    issuer: options.issuer,
    jwks: discovered?.jwks,
    auth: discovered?.auth ?? ("basic" as const),
    namesItself: discovered?.namesItself ?? false,
  };
}

/** Every provider that supports PKCE gets it (RFC 9700 section 2.1.1); twitter requires it (docs/contract/identity.md, 1.2). */
export function usesPkce({ kind, options }: ResolvedProvider): boolean {
  return kind === "twitter" || options.pkce !== false;
}

function authorizeUrl(
  provider: ResolvedProvider,
  endpoints: ProviderEndpoints,
  { state, verifier, nonce, callback }: Authorization,
): string {
  const client = new OAuth2Client(provider.clientId, provider.clientSecret, callback);
  const fallback = provider.kind === "oidc" ? oidcScopes : knownProviders[provider.kind].scopes;
  const scopes = provider.options.scopes ?? fallback;
  const url =
    verifier === undefined
      ? client.createAuthorizationURL(endpoints.authorize, state, scopes)
      : client.createAuthorizationURLWithPKCE(endpoints.authorize, state, CodeChallengeMethod.S256, verifier, scopes);
  if (nonce !== undefined) url.searchParams.set("nonce", nonce);
  if (provider.options.select_account === true) url.searchParams.set("prompt", "select_account");
  return url.href;
}

/** RFC 9207: what an answer says of its issuer must be true, and be there where the provider has promised it. */
export function isIssuerRight(state: OAuthState, iss: string | undefined): boolean {
  const { issuer } = state.endpoints;
  if (iss === undefined) return !state.endpoints.namesItself;
  return issuer === undefined || isIssuer(iss, issuer);
}
