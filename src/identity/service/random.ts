import { createHash } from "node:crypto";
import type { IdentityContext } from "./context.ts";

type Random = Pick<IdentityContext, "randomBytes">;

const secretBytes = 32;

/** 256 bits as 43 base64url characters: cookies, values in links, PKCE verifiers. */
export function randomSecret({ randomBytes }: Random): string {
  return Buffer.from(randomBytes(secretBytes)).toString("base64url");
}

/** 256 bits as 64 hex characters, the form of a state (docs/contract/identity.md, 1.2). */
export function randomState({ randomBytes }: Random): string {
  return Buffer.from(randomBytes(secretBytes)).toString("hex");
}

/** What of a random value is stored. */
export function hashOf(value: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(value).digest());
}

export function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString("hex");
}
