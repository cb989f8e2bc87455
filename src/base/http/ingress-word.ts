import { timingSafeEqual } from "node:crypto";
import { derivedKey, secret, type Secret } from "../words/secret.ts";

/**
 * What our own ingress adds to each request to a part of this server, and no other program knows. A loopback address proves
 * nothing: every program of the machine has one.
 */
export interface IngressWord {
  /** `X-Berth-Ingress`. */
  header: string;
  word: Secret;
}

/** The same for each start, because the proxy outlives the server. `headerPrefix`: `X-Berth`. */
export function ingressWord(key: Secret<Uint8Array>, headerPrefix: string): IngressWord {
  const word = Buffer.from(derivedKey(key, "ingress to own services").reveal()).toString("base64url");
  return { header: `${headerPrefix}-Ingress`, word: secret(word) };
}

export function cameByIngress({ headers }: Request, { header, word }: IngressWord): boolean {
  const said = Buffer.from(headers.get(header) ?? "");
  const known = Buffer.from(word.reveal());
  return said.length === known.length && timingSafeEqual(said, known);
}
