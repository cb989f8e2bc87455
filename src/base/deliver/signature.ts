import { createHmac, hkdfSync } from "node:crypto";
import { type Secret, secret } from "../words/secret.ts";

/**
 * What webhooks of an installation are signed with: 64 hex digits made from its key (HKDF, RFC 5869), so that there is
 * nothing more to keep or to lose. The text itself is the HMAC key.
 */
export function signingSecret(key: Secret<Uint8Array>): Secret<string> {
  const derived = hkdfSync("sha256", key.reveal(), new Uint8Array(), "webhook signature v1", 32);
  return secret(Buffer.from(derived).toString("hex"));
}

/** `sha256=<hex>` of HMAC-SHA256 over `<timestamp>.<body>`; the timestamp is in seconds, as it is sent. */
export function signature(signing: Secret<string>, timestamp: number, body: string): string {
  return `sha256=${createHmac("sha256", signing.reveal()).update(`${timestamp}.${body}`).digest("hex")}`;
}
