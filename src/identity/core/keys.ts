/** Where a key belongs: `live` in production, `test` elsewhere, so that the two are not confused. */
export type Environment = "production" | "development";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const base32 = "abcdefghijklmnopqrstuvwxyz234567";

/** 256 bits fit into 43 base62 digits (RFC 7518 section 3.2 wants that much for HS256). */
export const secretBytes = 32;
const secretDigits = 43;
/** A little more than 24 digits hold, so that each of them is evenly spread. */
export const publishableBytes = 24;
const publishableDigits = 24;
export const idBytes = 20;
/** What of a key may be shown: enough to tell two apart, far too little to guess the rest. */
const shownLength = 12;

/** `sk_live_` or `sk_test_` and 43 base62 digits, from 32 random bytes. */
export function secretKey(environment: Environment, random: Uint8Array): string {
  return `sk_${mode(environment)}_${base62(random, secretBytes, secretDigits)}`;
}

/** `ak_live_` or `ak_test_`: accepted by the API, never signs. */
export function apiKey(environment: Environment, random: Uint8Array): string {
  return `ak_${mode(environment)}_${base62(random, secretBytes, secretDigits)}`;
}

/** `pk_live_` or `pk_test_` and 24 base62 digits, from 24 random bytes. No secret. */
export function publishableKey(environment: Environment, random: Uint8Array): string {
  return `pk_${mode(environment)}_${base62(random, publishableBytes, publishableDigits)}`;
}

/** `app_`, `inst_`, `key_`, … and 20 base32 characters, from 20 random bytes. */
export function opaqueId(noun: string, random: Uint8Array): string {
  need(random, idBytes);
  return `${noun}_${Array.from(random, (byte) => base32.charAt(byte % 32)).join("")}`;
}

export function shownPrefix(key: string): string {
  return key.slice(0, shownLength);
}

function mode(environment: Environment): string {
  return environment === "production" ? "live" : "test";
}

function base62(random: Uint8Array, bytes: number, length: number): string {
  need(random, bytes);
  let rest = random.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
  let text = "";
  while (text.length < length) {
    text = digits.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

function need(random: Uint8Array, bytes: number): void {
  if (random.length !== bytes) throw new RangeError(`needs ${bytes} random bytes, got ${random.length}`);
}
