/** 168 bits: 28 characters of base64url, the first six of which name the token. */
export const tokenBytes = 21;
const idLength = 6;
const prefix = "pat_";
const pattern = /^pat_[A-Za-z0-9_-]{28}$/;

/**
 * The token of 21 random bytes. Undefined where its id would begin with `-` or `_`, which command lines take for a flag
 * and lists for a blank: ask again with other bytes.
 */
export function tokenOf(random: Uint8Array): string | undefined {
  if (random.length !== tokenBytes) throw new RangeError(`needs ${tokenBytes} random bytes, got ${random.length}`);
  const body = Buffer.from(random).toString("base64url");
  return /^[A-Za-z0-9]/.test(body) ? `${prefix}${body}` : undefined;
}

/** Checked before anything is looked up. */
export function isToken(text: string): boolean {
  return pattern.test(text);
}

/** The public part of a token. */
export function tokenId(token: string): string {
  return token.slice(prefix.length, prefix.length + idLength);
}

export function isTokenId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{5}$/.test(text);
}

/** The token of an `Authorization` header; undefined where it holds none. The scheme word is in any case. */
export function bearerOf(header: string | null): string | undefined {
  const match = /^bearer +(\S+) *$/i.exec(header ?? "");
  const token = match?.[1];
  return token !== undefined && isToken(token) ? token : undefined;
}
