import type { BuiltInProvider, ProviderOptions } from "../api/providers.ts";
import { Failure } from "../../base/wire/failure.ts";
import { type Profile, readProfile } from "../core/profile.ts";
import type { GuardedFetch } from "../../base/deliver/guarded-fetch.ts";
import type { Clock } from "../../base/words/clock.ts";
import type { OAuthState } from "../store/records.ts";
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

/** What came of a code: whom the provider says the person is, and its tokens. */
export interface ProviderAccount {
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

/** GitHub wants to know who asks. */
const userAgent = "identity-service";

/** Takes a code to where its state says, and asks who the person is. Fails `unavailable` or `invalid`. */
export async function exchangeCode(
  tools: { fetch: GuardedFetch; oidc: Oidc; clock: Pick<Clock, "now"> },
  exchange: CodeExchange,
  signal: AbortSignal,
): Promise<ProviderAccount> {
  const tokens = await redeem(exchange, tools.fetch, signal);
  const claims = await idClaims(exchange, tokens.fields, { oidc: tools.oidc, signal });
  const profile = await profileOf(tools.fetch, { exchange, tokens, claims }, signal);
  const { refresh_token: refreshToken, expires_in: lifetime } = tokens.fields;
  return {
    profile,
    accessToken: tokens.accessToken,
    refreshToken: typeof refreshToken === "string" ? refreshToken : undefined,
    expiresAt: expiryOf(lifetime, tools.clock.now()),
  };
}

/** The time after the seconds that a provider names; undefined if that is not a time. */
function expiryOf(lifetime: unknown, now: number): number | undefined {
  const at = typeof lifetime === "number" ? Math.floor(now + lifetime * 1_000) : Number.NaN;
  return Number.isSafeInteger(at) && at >= now ? at : undefined;
}

interface Granted {
  accessToken: string;
  fields: Fields;
}

interface Asked {
  exchange: CodeExchange;
  tokens: Granted;
  claims: Fields | undefined;
}

async function profileOf(fetch: GuardedFetch, asked: Asked, signal: AbortSignal): Promise<Profile> {
  const { exchange, tokens, claims } = asked;
  const { provider, state } = exchange;
  const { userinfo: address, emails, issuer } = state.endpoints;
  const Authorization = `Bearer ${tokens.accessToken}`;
  const headers = { Authorization, Accept: "application/json", "User-Agent": userAgent };
  const read = (url: string) => fetch({ method: "GET", url, headers }, signal);
  const userinfo = fieldsOf(await read(address), "profile endpoint");
  if (claims !== undefined && userinfo.sub !== claims.sub) {
    throw new Failure("invalid", "profile and id token name different people");
  }
  const profile = readProfile({
    kind: provider.kind,
    userinfo: { ...claims, ...userinfo },
    emails: emails === undefined ? undefined : jsonOf(await read(emails), "listing of addresses"),
    issuer: issuer ?? new URL(address).origin,
    trusted: provider.options.trusted === true,
  });
  if (!profile.ok) throw new Failure("invalid", profile.error);
  return profile.value;
}

/** The exchange itself is ours: arctic's has no deadline, follows redirects, and misreads github's errors. */
async function redeem(exchange: CodeExchange, fetch: GuardedFetch, signal: AbortSignal): Promise<Granted> {
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
  return { accessToken: fields.access_token, fields };
}

/** Form-encoded first (RFC 6749 section 2.3.1): an id may hold a colon. */
function basic({ clientId, clientSecret }: ResolvedProvider): string {
  const encode = (text: string) => new URLSearchParams({ "": text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString("base64")}`;
}

/** GitHub answers 200 to a wrong code too. */
function isTokens(value: unknown): value is Fields & { access_token: string } {
  if (typeof value !== "object" || value === null || "error" in value) return false;
  return "access_token" in value && typeof value.access_token === "string" && value.access_token !== "";
}

function errorCode(value: unknown): string {
  const code = typeof value === "object" && value !== null && "error" in value ? value.error : undefined;
  return typeof code === "string" && /^[a-z_]{1,64}$/.test(code) ? `, ${code}` : "";
}

/** The checked claims of the ID token, where the provider has an issuer; only an oidc connection must send one. */
async function idClaims(
  { provider, state }: CodeExchange,
  fields: Fields,
  { oidc, signal }: { oidc: Oidc; signal: AbortSignal },
) {
  const { issuer, jwks, clientId } = state.endpoints;
  if (issuer === undefined || jwks === undefined) return undefined;
  const token = fields.id_token;
  if (typeof token === "string") {
    return oidc.claims({ token, jwks, expected: { issuer, clientId, nonce: state.nonce } }, signal);
  }
  if (provider.kind !== "oidc") return undefined;
  throw new Failure("invalid", "the token endpoint sent no id token");
}
