import { CodeChallengeMethod, OAuth2Client, OAuth2Tokens } from "arctic";
import { type BuiltInProvider, builtInProviders, type ProviderOptions } from "../api/identity/providers.ts";
import { Failure } from "../api/failure.ts";
import { knownEndpoints, knownProviders, oidcScopes, type ProviderEndpoints } from "../core/identity/endpoints.ts";
import { isIssuer } from "../core/identity/id-token.ts";
import { type Profile, readProfile } from "../core/identity/profile.ts";
import { effectiveProvider } from "../core/identity/providers.ts";
import type { GuardedFetch } from "../deliver/guarded-fetch.ts";
import { globalInstance } from "../store/identity/providers.ts";
import type { OAuthState, StateEndpoints } from "../store/identity/records.ts";
import type { IdentityContext } from "./context.ts";
import type { Oidc } from "./oidc.ts";
import { type Fields, fieldsOf, jsonOf } from "./provider-answer.ts";

/** What a hosted page needs for a button. */
export interface ProviderButton {
  name: string;
  label: string;
}

/** A provider as one instance uses it. */
export interface ResolvedProvider extends ProviderButton {
  kind: BuiltInProvider | "oidc";
  clientId: string;
  clientSecret: string;
  options: ProviderOptions;
  /** Whose credentials these are. */
  source: "own" | "global";
}

export interface Authorization {
  state: string;
  verifier: string | undefined;
  nonce: string | undefined;
  callback: string;
}

/** What came of a code: whom the provider says the person is, and its tokens. */
export interface Arrived {
  profile: Profile;
  accessToken: string;
  refreshToken: string | undefined;
  /** Epoch milliseconds. */
  expiresAt: number | undefined;
}

export interface CodeExchange {
  provider: ResolvedProvider;
  state: OAuthState;
  code: string;
  callback: string;
}

export interface Providers {
  /** Those that an instance offers, the contract's own first. */
  buttons(instance: number): ProviderButton[];
  /** Undefined when the instance does not offer it. */
  get(instance: number, name: string): ResolvedProvider | undefined;
  /** Fails `unavailable` or `invalid` when an issuer cannot be asked for its endpoints. */
  endpoints(provider: ResolvedProvider, signal: AbortSignal): Promise<ProviderEndpoints & { namesItself: boolean }>;
  /** Where the browser is sent. */
  authorizeUrl(provider: ResolvedProvider, endpoints: ProviderEndpoints, request: Authorization): string;
  /** Exchanges a code at the endpoint that its state names. Fails `unavailable` or `invalid`. */
  arrive(exchange: CodeExchange, signal: AbortSignal): Promise<Arrived>;
}

/** GitHub wants to know who asks. */
const userAgent = "identity-service";

type ProvidersContext = Pick<IdentityContext, "store" | "clock">;

export function createProviders(context: ProvidersContext, fetch: GuardedFetch, oidc: Oidc): Providers {
  const { providers } = context.store;
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
    async arrive(exchange, signal) {
      const fields = await redeem(exchange, fetch, signal);
      const tokens = new OAuth2Tokens(fields);
      const { provider, state } = exchange;
      const accessToken = tokens.accessToken();
      const claims = await idClaims(exchange, fields, { oidc, signal });
      const bearer = { Authorization: `Bearer ${accessToken}`, Accept: "application/json", "User-Agent": userAgent };
      const read = (url: string) => fetch({ method: "GET", url, headers: bearer }, signal);
      const userinfo = fieldsOf(await read(state.endpoints.userinfo), "profile endpoint");
      if (claims !== undefined && userinfo.sub !== claims.sub) {
        throw new Failure("invalid", "profile and id token name different people");
      }
      const { emails } = state.endpoints;
      const profile = readProfile({
        kind: provider.kind,
        userinfo: { ...claims, ...userinfo },
        emails: emails === undefined ? undefined : jsonOf(await read(emails), "listing of addresses"),
        issuer: state.endpoints.issuer ?? new URL(state.endpoints.userinfo).origin,
        trusted: provider.options.trusted === true,
      });
      if (!profile.ok) throw new Failure("invalid", profile.error);
      const lifetime: unknown = fields.expires_in;
      return {
        profile: profile.value,
        accessToken,
        refreshToken: tokens.hasRefreshToken() ? tokens.refreshToken() : undefined,
        expiresAt: typeof lifetime === "number" ? context.clock.now() + lifetime * 1_000 : undefined,
      };
    },
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

/** PKCE goes to every provider that takes it (RFC 9700 section 2.1.1); twitter insists (section 1 of the contract). */
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

/** The exchange itself is ours: arctic's has no deadline, follows redirects, and misreads github's errors. */
async function redeem(exchange: CodeExchange, fetch: GuardedFetch, signal: AbortSignal): Promise<Fields> {
  const { provider, state, code, callback } = exchange;
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: callback,
    client_id: provider.clientId,
  });
  if (state.codeVerifier !== undefined) form.set("code_verifier", state.codeVerifier);
  const isBasic = state.endpoints.auth === "basic" && provider.clientSecret !== "";
  if (!isBasic && provider.clientSecret !== "") form.set("client_secret", provider.clientSecret);
  const headers = {
    "Content-Type": "application/x-www-form-urlencoded",
    Accept: "application/json",
    "User-Agent": userAgent,
    ...(isBasic ? { Authorization: basic(provider) } : {}),
  };
  const answer = await fetch({ method: "POST", url: state.endpoints.token, headers, body: form.toString() }, signal);
  const fields = jsonOf(answer, "token endpoint");
  if (answer.status !== 200 || !isTokens(fields)) {
    throw new Failure("invalid", `the token endpoint refused the code (${answer.status}${errorCode(fields)})`);
  }
  return fields;
}

/** Form-encoded first (RFC 6749 section 2.3.1): an id may hold a colon. */
function basic({ clientId, clientSecret }: ResolvedProvider): string {
  const encode = (text: string) => new URLSearchParams({ "": text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString("base64")}`;
}

/** GitHub answers 200 to a wrong code too. */
function isTokens(value: unknown): value is Fields {
  if (typeof value !== "object" || value === null || "error" in value) return false;
  return "access_token" in value && typeof value.access_token === "string" && value.access_token !== "";
}

function errorCode(value: unknown): string {
  const code = typeof value === "object" && value !== null && "error" in value ? value.error : undefined;
  return typeof code === "string" && /^[a-z_]{1,64}$/.test(code) ? `, ${code}` : "";
}

interface IdClaimsTools {
  oidc: Oidc;
  signal: AbortSignal;
}

/** The checked claims of the ID token, where the provider has an issuer; only an oidc connection must send one. */
async function idClaims({ provider, state }: CodeExchange, fields: Fields, { oidc, signal }: IdClaimsTools) {
  const { issuer, jwks, clientId }: StateEndpoints = state.endpoints;
  if (issuer === undefined || jwks === undefined) return undefined;
  const token = fields.id_token;
  if (typeof token === "string") {
    return oidc.claims({ token, jwks, expected: { issuer, clientId, nonce: state.nonce } }, signal);
  }
  if (provider.kind !== "oidc") return undefined;
  throw new Failure("invalid", "the token endpoint sent no id token");
}

/** RFC 9207: what an answer says of its issuer must be true, and be there where the provider has promised it. */
export function isIssuerRight(state: OAuthState, iss: string | undefined): boolean {
  const { issuer } = state.endpoints;
  if (iss === undefined) return !state.endpoints.namesItself;
  return issuer === undefined || isIssuer(iss, issuer);
}
