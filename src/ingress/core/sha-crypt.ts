import { textBytes } from "../../base/pure/bytes.ts";
import { sha256Bytes } from "../../base/pure/digest.ts";

/** The least that crypt(3) takes: the proxy computes the hash with every request. */
const rounds = 1_000;
const digits = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * The hash of a password as crypt(3) knows it: SHA-256 by Ulrich Drepper's "Unix crypt using SHA-256 and SHA-512".
 * The salt follows from `seed`, so that the same input gives the same hash, and the proxy sees no change.
 */
export function hashPassword(password: string, seed: string): string {
  const key = textBytes(password);
  const salt = [...sha256Bytes([textBytes(seed)])]
    .slice(0, 16)
    .map((byte) => digits[byte % 64])
    .join("");
  const saltBytes = textBytes(salt);
  const first = firstDigest(key, saltBytes);
  const keyDigest = repeated(sha256Bytes(Array.from(key, () => key)), key.length);
  const saltCount = 16 + (first[0] ?? 0);
  const saltDigest = repeated(sha256Bytes(Array.from({ length: saltCount }, () => saltBytes)), saltBytes.length);
  let digest = first;
  for (let round = 0; round < rounds; round++) {
    const isOdd = round % 2 === 1;
    digest = sha256Bytes([
      isOdd ? keyDigest : digest,
      ...(round % 3 === 0 ? [] : [saltDigest]),
      ...(round % 7 === 0 ? [] : [keyDigest]),
      isOdd ? digest : keyDigest,
    ]);
  }
  return `$5$rounds=${rounds}$${salt}$${encoded(digest)}`;
}

function firstDigest(key: Uint8Array, salt: Uint8Array): Uint8Array {
  const other = sha256Bytes([key, salt, key]);
  const bits: Uint8Array[] = [];
  for (let length = key.length; length > 0; length >>= 1) bits.push(length % 2 === 1 ? other : key);
  return sha256Bytes([key, salt, repeated(other, key.length), ...bits]);
}

function repeated(bytes: Uint8Array, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => bytes[index % bytes.length] ?? 0);
}

/** Three bytes become four digits, in an order of their own: each row is the row above, turned by one. */
function encoded(digest: Uint8Array): string {
  const at = (index: number) => digest[index] ?? 0;
  let text = "";
  for (let row = 0; row < 10; row++) {
    const turned = [row, row + 10, row + 20];
    const [high, middle, low] = [0, 1, 2].map((place) => at(turned[(place + 2 * (row % 3)) % 3] ?? 0));
    text += asDigits(((high ?? 0) << 16) | ((middle ?? 0) << 8) | (low ?? 0), 4);
  }
  return text + asDigits((at(31) << 8) | at(30), 3);
}

function asDigits(value: number, count: number): string {
  return Array.from({ length: count }, (_, index) => digits[(value >> (6 * index)) & 63]).join("");
}
