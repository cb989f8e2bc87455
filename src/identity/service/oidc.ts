import { createPublicKey, type JsonWebKey, verify } from "node:crypto";
import { Failure } from "../../base/wire/failure.ts";
import { type Expected, type IdToken, idTokenProblem, readIdToken } from "../core/id-token.ts";
import type { GuardedFetch } from "../../base/deliver/guarded-fetch.ts";
import type { Clock } from "../../base/words/clock.ts";
import { fieldsOf } from "./provider-answer.ts";

/** What an issuer says about itself (OpenID Connect Discovery section 3). */
interface OidcConfiguration {
  authorize: string;
  token: string;
  userinfo: string;
  jwks: string;
  auth: "basic" | "body";
  /** It names itself in its answers (RFC 9207): an answer without that is not its own. */
  namesItself: boolean;
}

interface OidcLimits {
  /** How long what issuers say is remembered. */
  oidcCacheMs: number;
  oidcCacheMax: number;
  /** An unknown key is asked for at most this often. */
  oidcRefetchMs: number;
  clockLeewayMs: number;
}

export interface Oidc {
  /** Fails `unavailable` when the issuer does not answer, `invalid` when it does not answer as one. */
  configuration(issuer: string, signal: AbortSignal): Promise<OidcConfiguration>;
  /** The claims of an ID token whose signature and content are right. Fails `invalid` otherwise. */
  claims(
    request: { token: string; jwks: string; expected: Omit<Expected, "now" | "leewayMs"> },
    signal: AbortSignal,
  ): Promise<Record<string, unknown>>;
}

interface Cached<T> {
  value: Promise<T>;
  at: number;
}

export function createOidc({
  fetch,
  clock,
  limits,
}: {
  fetch: GuardedFetch;
  clock: Pick<Clock, "now">;
  limits: OidcLimits;
}): Oidc {
  const configurations = new Map<string, Cached<OidcConfiguration>>();
  const keySets = new Map<string, Cached<JsonWebKey[]>>();

  /** Keys are rotated before their time is over here, and some providers give the new one the name of the old one. */
  async function requireSigned(token: IdToken, jwks: string, signal: AbortSignal): Promise<void> {
    const load = () => readKeys(fetch, jwks, signal);
    let key: JsonWebKey | undefined;
    for (const maxAgeMs of [limits.oidcCacheMs, limits.oidcRefetchMs]) {
      key = pick(await remembered(keySets, jwks, { load, maxAgeMs }), token);
      if (key !== undefined && isSigned(token, key)) return;
    }
    const text =
      key === undefined
        ? "the id token is signed with a key that is not published"
        : "the signature of the id token is wrong";
    throw new Failure("invalid", text);
  }

  /** One look-up at a time per address; what failed is not remembered. */
  function remembered<T>(
    cache: Map<string, Cached<T>>,
    address: string,
    { load, maxAgeMs }: { load: () => Promise<T>; maxAgeMs: number },
  ): Promise<T> {
    const known = cache.get(address);
    if (known !== undefined && clock.now() - known.at < maxAgeMs) return known.value;
    const entry = { value: load(), at: clock.now() };
    cache.delete(address);
    cache.set(address, entry);
    entry.value.catch(() => cache.get(address) === entry && cache.delete(address));
    const [oldest] = cache.keys();
    if (cache.size > limits.oidcCacheMax && oldest !== undefined) cache.delete(oldest);
    return entry.value;
  }

  return {
    configuration: (issuer, signal) =>
      remembered(configurations, issuer, {
        load: () => readConfiguration(fetch, issuer, signal),
        maxAgeMs: limits.oidcCacheMs,
      }),
    async claims({ token: text, jwks, expected }, signal) {
      const token = readIdToken(text);
      if (!token.ok) throw new Failure("invalid", token.error);
      await requireSigned(token.value, jwks, signal);
      const { claims } = token.value;
      const problem = idTokenProblem(claims, { ...expected, now: clock.now(), leewayMs: limits.clockLeewayMs });
      if (problem !== undefined) throw new Failure("invalid", problem);
      return claims;
    },
  };
}

async function readConfiguration(fetch: GuardedFetch, issuer: string, signal: AbortSignal): Promise<OidcConfiguration> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const fields = await getJson(fetch, url, signal);
  // Anyone could publish a document that speaks for somebody else.
  if (fields.issuer !== issuer) throw new Failure("invalid", "the discovery document is of another issuer");
  const methods: unknown = fields.token_endpoint_auth_methods_supported;
  const wantsBody = Array.isArray(methods) && !methods.includes("client_secret_basic");
  return {
    authorize: endpoint(fields, "authorization_endpoint"),
    token: endpoint(fields, "token_endpoint"),
    userinfo: endpoint(fields, "userinfo_endpoint"),
    jwks: endpoint(fields, "jwks_uri"),
    auth: wantsBody ? "body" : "basic",
    namesItself: fields.authorization_response_iss_parameter_supported === true,
  };
}

function endpoint(fields: Record<string, unknown>, name: string): string {
  const value = fields[name];
  if (typeof value === "string" && value.length <= 2_048 && URL.canParse(value)) {
    if (/^https?:$/.test(new URL(value).protocol)) return value;
  }
  throw new Failure("invalid", `the discovery document has no usable ${name}`);
}

async function readKeys(fetch: GuardedFetch, url: string, signal: AbortSignal): Promise<JsonWebKey[]> {
  const { keys } = await getJson(fetch, url, signal);
  const listed: unknown[] = Array.isArray(keys) ? keys : [];
  return listed.filter((key): key is JsonWebKey => typeof key === "object" && key !== null);
}

async function getJson(fetch: GuardedFetch, url: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  return fieldsOf(await fetch({ method: "GET", url, headers: { Accept: "application/json" } }, signal), "provider");
}

const keyTypes: Record<string, string> = { RS: "RSA", PS: "RSA", ES: "EC", Ed: "OKP" };

function pick(keys: readonly JsonWebKey[], { keyId, algorithm }: IdToken): JsonWebKey | undefined {
  const fitting = keys.filter(
    ({ kty, alg, use }) =>
      kty === keyTypes[algorithm.slice(0, 2)] && (alg === undefined || alg === algorithm) && use !== "enc",
  );
  return keyId === undefined && fitting.length === 1 ? fitting[0] : fitting.find(({ kid }) => kid === keyId);
}

function isSigned({ algorithm, signed, signature }: IdToken, jwk: JsonWebKey): boolean {
  try {
    const key = createPublicKey({ key: jwk, format: "jwk" });
    const digest = algorithm === "EdDSA" ? null : `sha${algorithm.slice(2)}`;
    const data = Buffer.from(signed);
    if (algorithm.startsWith("ES")) return verify(digest, data, { key, dsaEncoding: "ieee-p1363" }, signature);
    // RFC 8017: salt as long as the digest.
    const padding = algorithm.startsWith("PS") ? { padding: 6, saltLength: Number(algorithm.slice(2)) / 8 } : {};
    return verify(digest, data, { key, ...padding }, signature);
  } catch {
    return false;
  }
}
