import { isFields } from "../../base/pure/fields.ts";

/** A JSON Web Token in compact form, taken apart (RFC 7519, RFC 7515 section 7.1). */
export interface TokenParts {
  /** What is signed: header, dot, payload, as they were sent. */
  input: string;
  header: string;
  payload: string;
  signature: string;
}

/** Undefined for what has not exactly three parts, or an empty one. */
export function splitToken(token: string): TokenParts | undefined {
  const first = token.indexOf(".");
  const second = token.indexOf(".", first + 1);
  if (first < 1 || second < first + 2 || token.indexOf(".", second + 1) >= 0) return undefined;
  return {
    input: token.slice(0, second),
    header: token.slice(0, first),
    payload: token.slice(first + 1, second),
    signature: token.slice(second + 1),
  };
}

/** The JSON object in a header or payload; undefined where there is none. */
export function decodePart(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Base64url of JSON in ASCII alone: decoders in browsers often read `JSON.parse(atob(part))`, which takes each byte for
 * a character.
 */
export function encodePart(value: object): string {
  const text = JSON.stringify(value).replace(/[^\0-\x7f]/g, escaped);
  return Buffer.from(text, "latin1").toString("base64url");
}

/** One UTF-16 unit, as JSON writes it (RFC 8259 section 7). */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Headers that would lead to a key, or change what a signature means: none of them is ours (RFC 8725, section 3). */
const foreignHeaders = ["crit", "jku", "jwk", "x5u", "x5c", "b64"];

/** Whether a token's header names exactly the algorithm that its instance signs with, and nothing that misleads. */
export function headerFits(header: Record<string, unknown>, alg: "HS256" | "RS256"): boolean {
  return header.alg === alg && !foreignHeaders.some((name) => Object.hasOwn(header, name));
}

/** `JWT` is a sign-in token; `at+jwt` one that it was exchanged for (RFC 9068), which opens no further session. */
export type TokenType = "JWT" | "at+jwt";

/** Equal texts, in a time that tells nothing of where they differ. */
export function equalTexts(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let at = 0; at < a.length; at += 1) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}
