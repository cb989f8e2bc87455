import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { Failure } from "../wire/failure.ts";
import type { Secret } from "../words/secret.ts";

/**
 * Values at rest: AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce. `place` names the table and row the value
 * belongs to and is authenticated with it, so that a value moved to another row does not open there.
 */
export interface Seal {
  seal(value: string, place: string): Uint8Array;
  /** Fails `internal` when the value was altered, moved, or sealed with another key. */
  open(sealed: Uint8Array, place: string): string;
}

/** Layout: version, key id, nonce, ciphertext, tag. */
const version = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 2 + nonceBytes;
const cipher = "aes-256-gcm";

const keyBytes = 32;

export function createSeal(key: Secret<Uint8Array>): Seal {
  const raw = key.reveal();
  if (raw.length !== keyBytes) throw new Failure("invalid", `the key must have ${keyBytes} bytes, got ${raw.length}`);
  const keyId = keyIdOf(raw);
  return {
    seal(value, place) {
      const nonce = randomBytes(nonceBytes);
      const encrypt = createCipheriv(cipher, raw, nonce).setAAD(Buffer.from(place));
      const text = encrypt.update(value, "utf8");
      return Buffer.concat([Buffer.of(version, keyId), nonce, text, encrypt.final(), encrypt.getAuthTag()]);
    },
    open(sealed, place) {
      if (sealed[0] !== version || sealed.length < headBytes + tagBytes) throw unopened(place, "unknown form");
      if (sealed[1] !== keyId) throw unopened(place, "sealed with another key");
      const decrypt = createDecipheriv(cipher, raw, sealed.subarray(2, headBytes)).setAAD(Buffer.from(place));
      decrypt.setAuthTag(sealed.subarray(-tagBytes));
      try {
        const text = decrypt.update(sealed.subarray(headBytes, -tagBytes));
        return Buffer.concat([text, decrypt.final()]).toString("utf8");
      } catch (error) {
        throw unopened(place, "altered or moved", error);
      }
    },
  };
}

/** One byte that tells keys apart without telling anything about them: for clear errors, not for safety. */
function keyIdOf(key: Uint8Array): number {
  return createHash("sha256").update("key id").update(key).digest()[0] ?? 0;
}

function unopened(place: string, why: string, cause?: unknown): Failure {
  const readable = place.replaceAll("\0", "/");
  const message = `sealed value "${readable}" cannot be opened (${why}): check the key file, or set the value again`;
  return new Failure("internal", message, { cause });
}
