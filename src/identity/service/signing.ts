import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { Failure } from "../../base/wire/failure.ts";
import { decodePart, encodePart, equalTexts, headerFits, type TokenParts, type TokenType } from "../core/jwt.ts";
import type { SigningPair } from "../store/records.ts";
import type { InstanceEntry } from "./directory.ts";

/** Signatures of the tokens of one instance. The algorithm is what our record says, never what a token says. */
interface Signer {
  /** The whole token. Fails `internal` without a key, `unavailable` while the first pair is still being made. */
  sign(claims: object, type: TokenType): string;
  /** The type of a token whose signature is right, by any key that is accepted at `now`; undefined for any other. */
  check(token: TokenParts, now: number): TokenType | undefined;
}

const signers = new WeakMap<InstanceEntry, Signer>();

/** Made once per entry: keys are parsed, headers written, before the first token. */
export function signerOf(entry: InstanceEntry): Signer {
  const known = signers.get(entry);
  if (known !== undefined) return known;
  const made = entry.settings.algorithm === "RS256" ? rsaSigner(entry) : hmacSigner(entry);
  signers.set(entry, made);
  return made;
}

interface Accepted {
  id: string;
  expiresAt: number;
  matches(token: TokenParts): boolean;
}

interface Algorithm {
  alg: "HS256" | "RS256";
  accepted: readonly Accepted[];
  /** Id of the key that signs. */
  kid: string | undefined;
  signatureOf(input: string): string;
}

function hmacSigner({ keys }: InstanceEntry): Signer {
  const secrets = keys.filter(({ use }) => use === "secret");
  const signing = secrets.find(({ state }) => state === "signing");
  return signerFor({
    alg: "HS256",
    accepted: secrets.map(({ id, value, expiresAt }) => ({
      id,
      expiresAt: expiresAt ?? Number.POSITIVE_INFINITY,
      matches: ({ input, signature }) => equalTexts(hmac(value, input), signature),
    })),
    kid: signing?.id,
    signatureOf(input) {
      if (signing === undefined) throw new Failure("internal", "the instance has no key that signs, rotate its keys");
      return hmac(signing.value, input);
    },
  });
}

function rsaSigner({ pairs }: InstanceEntry): Signer {
  const signing = pairs.find(({ state }) => state === "signing");
  const key = signing && createPrivateKey(signing.privatePem);
  return signerFor({
    alg: "RS256",
    accepted: pairs.map(acceptedPair),
    kid: signing?.id,
    signatureOf(input) {
      if (key === undefined) {
        throw new Failure("unavailable", "the first key pair of the instance is being made", { retryAfterSeconds: 1 });
      }
      return sign("sha256", Buffer.from(input), key).toString("base64url");
    },
  });
}

function acceptedPair({ id, publicJwk, expiresAt }: SigningPair): Accepted {
  const key: KeyObject = createPublicKey({ key: { ...publicJwk }, format: "jwk" });
  return {
    id,
    expiresAt: expiresAt ?? Number.POSITIVE_INFINITY,
    matches({ input, signature }) {
      const bytes = Buffer.from(signature, "base64url");
      return bytes.toString("base64url") === signature && verify("sha256", Buffer.from(input), key, bytes);
    },
  };
}

const types: readonly TokenType[] = ["JWT", "at+jwt"];

function signerFor({ alg, accepted, kid, signatureOf }: Algorithm): Signer {
  const headerOf = (type: TokenType, id: string | undefined) => encodePart({ alg, typ: type, kid: id });
  const ours = { JWT: headerOf("JWT", kid), "at+jwt": headerOf("at+jwt", kid) };
  // The header of a token of ours is known letter by letter, so that it need not be parsed.
  const known = new Map(
    accepted.flatMap((one) => types.map((type) => [headerOf(type, one.id), { one, type }] as const)),
  );
  return {
    sign(claims, type) {
      const input = `${ours[type]}.${encodePart(claims)}`;
      return `${input}.${signatureOf(input)}`;
    },
    check(token, now) {
      const written = known.get(token.header);
      if (written !== undefined) return isRight(written.one, token, now) ? written.type : undefined;
      const header = decodePart(token.header);
      if (header === undefined || !headerFits(header, alg)) return undefined;
      // A kid that is none of ours leads nowhere: the instance's own keys are tried, and no other.
      if (!accepted.some((one) => isRight(one, token, now))) return undefined;
      return String(header.typ).toLowerCase() === "at+jwt" ? "at+jwt" : "JWT";
    },
  };
}

function isRight(one: Accepted, token: TokenParts, now: number): boolean {
  return one.expiresAt > now && one.matches(token);
}

/**
 * HMAC-SHA256 as base64url, what HS256 puts into a token (RFC 7518, section 3.2). Bun's own hasher takes half the time
 * of node:crypto's, and it is on the way of every verification.
 */
export function hmac(key: string | Uint8Array, input: string): string {
  return new Bun.CryptoHasher("sha256", key).update(input).digest("base64url");
}
