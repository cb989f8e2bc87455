import { hkdfSync } from "node:crypto";

/** A value that never prints: logs, JSON and inspection show `redacted`. `reveal` is the only way to it. */
export interface Secret<T = string> {
  reveal(): T;
  toString(): string;
  toJSON(): string;
}

export const redacted = "[redacted]";

export function secret<T>(value: T): Secret<T> {
  const print = () => redacted;
  const hidden = { reveal: () => value, toString: print, toJSON: print };
  Object.defineProperty(hidden, Symbol.for("nodejs.util.inspect.custom"), { value: print });
  return Object.freeze(hidden);
}

/** A key for one purpose alone, 32 bytes (HKDF-SHA256, RFC 5869): nothing more to keep or to lose. */
export function derivedKey(key: Secret<Uint8Array>, purpose: string): Secret<Uint8Array> {
  return secret(new Uint8Array(hkdfSync("sha256", key.reveal(), new Uint8Array(), purpose, 32)));
}
