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

/**
 * Reads and checks a certificate that the operator brings. Fails `invalid`: for a pair of PEM files with what is wrong
 * with it. For anything else the text is the same whatever the paths hold, because a manifest names them and its readers
 * see the text; the cause, which goes to the log of the server, says which file and why.
 */
export async function readOwnFile({ issuer, names, readFile, now, pemBytesMax }: OwnFileOptions): Promise<Pair> {
  const pair = await readPairOf(issuer, readFile);
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

async function readPairOf(issuer: FileIssuer, readFile: OwnFileOptions["readFile"]): Promise<Pair> {
  try {
    const certificate = await readFile(issuer.certificate);
    const key = issuer.key === issuer.certificate ? certificate : await readFile(issuer.key);
    return readPair({ certificate, key });
  } catch (cause) {
    const files = `certificate "${issuer.certificate}" and key "${issuer.key}"`;
    const message = `${files} are not PEM files that the server can read and that belong together; its log says which and why`;
    throw new Failure("invalid", message, { cause });
  }
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
