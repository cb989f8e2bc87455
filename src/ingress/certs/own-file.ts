import { covers } from "../core/certificates/names.ts";
import type { FileIssuer } from "../core/certificates/wanted.ts";
import { Failure } from "../../base/wire/failure.ts";
import { type Pair, pemOf, readPair } from "./pem.ts";

interface OwnFileOptions {
  issuer: FileIssuer;
  /** Hosts that the certificate has to be valid for. */
  names: readonly string[];
  readFile: (reference: string) => Promise<string>;
  /** Epoch milliseconds. */
  now: number;
  /** Longest text that the proxy can take. */
  pemBytesMax: number;
}

/** Reads and checks a certificate that the operator brings. Fails `invalid` with what is wrong and in which file. */
export async function readOwnFile({ issuer, names, readFile, now, pemBytesMax }: OwnFileOptions): Promise<Pair> {
  const certificate = await readFile(issuer.certificate);
  const key = issuer.key === issuer.certificate ? certificate : await readFile(issuer.key);
  const pair = readNamed(issuer, { certificate, key });
  const fail = (text: string) => new Failure("invalid", `certificate "${issuer.certificate}": ${text}`);
  if (pair.notAfter <= now) throw fail(`expired on ${dayOf(pair.notAfter)}. Put a renewed one in its place`);
  if (pair.notBefore > now) throw fail(`not valid before ${dayOf(pair.notBefore)}`);
  const missing = names.filter((host) => !pair.names.some((name) => covers(name, host)));
  if (missing.length > 0) {
    throw fail(`not valid for ${missing.join(", ")}; it is for ${pair.names.join(", ") || "no host at all"}`);
  }
  const bytes = Buffer.byteLength(pemOf(pair));
  if (bytes > pemBytesMax) throw fail(`${bytes} bytes with its key; the most is ${pemBytesMax}`);
  return pair;
}

function readNamed(issuer: FileIssuer, texts: { certificate: string; key: string }): Pair {
  try {
    return readPair(texts);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const text = error.message
      .replace(/^certificate:/, `certificate "${issuer.certificate}":`)
      .replace(/^key:/, `key "${issuer.key}":`);
    throw new Failure(error.code, text, { cause: error });
  }
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
