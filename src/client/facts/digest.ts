/** Made for this run alone, so that the value behind a digest cannot be found by trying likely ones. */
const salt = crypto.getRandomValues(new Uint8Array(32));

/**
 * `#` and 8 hex digits that stand for a value without showing it: equal values look equal within one run of the
 * client, and they cannot be compared with those of another run.
 */
export function digestOf(value: string | Uint8Array): string {
  return `#${new Bun.CryptoHasher("sha256", salt).update(value).digest("hex").slice(0, 8)}`;
}
