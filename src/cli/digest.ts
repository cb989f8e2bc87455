/** `#` and the first 8 hex digits of a value's SHA-256: tells values apart without showing them. */
export function digestOf(value: string | Uint8Array): string {
  return `#${new Bun.CryptoHasher("sha256").update(value).digest("hex").slice(0, 8)}`;
}
