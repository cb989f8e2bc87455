import { type Parsed, parsed, unreadable } from "../../base/pure/parsed.ts";
import { decodePart } from "./jwt.ts";

/** Asymmetric ones alone: a token that is signed with something we share proves nothing about who made it. */
const idTokenAlgorithms = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"] as const;
type IdTokenAlgorithm = (typeof idTokenAlgorithms)[number];

export interface IdToken {
  algorithm: IdTokenAlgorithm;
  keyId: string | undefined;
  claims: Record<string, unknown>;
  /** What the signature is over. */
  signed: string;
  signature: Uint8Array;
}

const lengthMax = 16 * 1024;

/** Takes an ID token apart; nothing in it is believed yet. */
export function readIdToken(text: string): Parsed<IdToken> {
  const parts = text.length > lengthMax ? [] : text.split(".");
  const [head, body, signature] = parts;
  if (parts.length !== 3 || head === undefined || body === undefined || signature === undefined) {
    return unreadable("the id token is not a JWT");
  }
  const header = decodePart(head);
  const claims = decodePart(body);
  if (header === undefined || claims === undefined) return unreadable("the id token is not a JWT");
  const algorithm = idTokenAlgorithms.find((known) => known === header.alg);
  if (algorithm === undefined) return unreadable("the id token is signed with an algorithm that is not accepted");
  if (header.crit !== undefined) return unreadable("the id token needs something that is not known here");
  return parsed({
    algorithm,
    keyId: typeof header.kid === "string" ? header.kid : undefined,
    claims,
    signed: `${head}.${body}`,
    signature: new Uint8Array(Buffer.from(signature, "base64url")),
  });
}

export interface Expected {
  issuer: string;
  clientId: string;
  nonce: string | undefined;
  /** Epoch milliseconds. */
  now: number;
  /** How far clocks may be apart. */
  leewayMs: number;
}

/** OpenID Connect Core section 3.1.3.7; undefined when the claims say what they must. */
export function idTokenProblem(claims: Record<string, unknown>, expected: Expected): string | undefined {
  if (!isIssuer(claims.iss, expected.issuer)) return "the id token is of another issuer";
  const audiences: unknown[] = Array.isArray(claims.aud) ? claims.aud : [claims.aud];
  if (!audiences.includes(expected.clientId)) return "the id token is for another client";
  if (audiences.length > 1 && claims.azp !== expected.clientId) return "the id token is for another client";
  if (claims.azp !== undefined && claims.azp !== expected.clientId) return "the id token is for another client";
  const nowSeconds = expected.now / 1_000;
  const leeway = expected.leewayMs / 1_000;
  if (typeof claims.exp !== "number" || claims.exp + leeway <= nowSeconds) return "the id token has expired";
  if (typeof claims.iat !== "number" || claims.iat - leeway > nowSeconds) return "the id token is from the future";
  const { nbf } = claims;
  if (nbf !== undefined && (typeof nbf !== "number" || nbf - leeway > nowSeconds)) {
    return "the id token is not valid yet";
  }
  if (expected.nonce !== undefined && claims.nonce !== expected.nonce) return "the id token answers another request";
  if (typeof claims.sub !== "string" || claims.sub === "") return "the id token has no subject";
  return undefined;
}

/** Google writes its issuer with and without the scheme. */
export function isIssuer(given: unknown, issuer: string): boolean {
  return given === issuer || (issuer === "https://accounts.google.com" && given === "accounts.google.com");
}
