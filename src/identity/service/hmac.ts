/**
 * HMAC-SHA256 as base64url, what HS256 puts into a token (RFC 7518, section 3.2). Bun's own hasher takes half the time
 * of node:crypto's, and it is on the way of every verification.
 */
export function hmac(key: string | Uint8Array, input: string): string {
  return new Bun.CryptoHasher("sha256", key).update(input).digest("base64url");
}
