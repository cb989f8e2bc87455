import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { hostOk } from "../../base/pure/hosts.ts";
import { Failure } from "../../base/wire/failure.ts";

/** A certificate with its key, both checked: the key belongs to the first certificate of the chain. */
export interface Pair {
  /** PEM of the certificate and what comes between it and its root, without blank lines. */
  chain: string;
  /** PEM (PKCS #8) of the key. */
  key: string;
  /** Lower-case DNS names that the certificate is valid for. */
  names: string[];
  /** Epoch milliseconds. */
  notBefore: number;
  notAfter: number;
  /** Common name or organization of who issued it. */
  issuedBy: string;
  /** Hexadecimal. */
  serial: string;
}

/** Certificate, chain and key as one text, as the proxy reads it. */
export function pemOf({ chain, key }: Pick<Pair, "chain" | "key">): string {
  return `${chain}${key}`;
}

/** Most certificates of one chain: more is not a chain but a collection. */
const chainMax = 10;

export interface PairTexts {
  /** PEM; blocks of other kinds are passed over. */
  certificate: string;
  key: string;
}

/** Fails `invalid` with a text that says what is wrong with which of the two. */
export function readPair({ certificate, key }: PairTexts): Pair {
  const found = certificatesOf(certificate);
  const privateKey = readKey(key);
  const leaf = found.find((one) => one.checkPrivateKey(privateKey));
  if (leaf === undefined) throw new Failure("invalid", "key: does not belong to the certificate");
  const chain = chainOf(leaf, found);
  return {
    chain: chain.map((one) => plain(one.toString())).join(""),
    key: plain(privateKey.export({ type: "pkcs8", format: "pem" }).toString()),
    ...factsOf(leaf),
  };
}

/**
 * Each certificate is followed by the one that issued it, as TLS asks for, in whatever order the file has them. Those that
 * are not part of that way, such as a second root, come last.
 */
function chainOf(leaf: X509Certificate, found: readonly X509Certificate[]): X509Certificate[] {
  const chain = [leaf];
  let left = found.filter((one) => one !== leaf);
  for (let last = leaf; ;) {
    const issuer = left.find((one) => last.checkIssued(one));
    if (issuer === undefined) return [...chain, ...left];
    chain.push(issuer);
    left = left.filter((one) => one !== issuer);
    last = issuer;
  }
}

function factsOf(leaf: X509Certificate): Omit<Pair, "chain" | "key"> {
  return {
    names: dnsNames(leaf.subjectAltName),
    notBefore: Date.parse(leaf.validFrom),
    notAfter: Date.parse(leaf.validTo),
    issuedBy: issuerName(leaf.issuer),
    serial: leaf.serialNumber.toLowerCase(),
  };
}

function certificatesOf(text: string): X509Certificate[] {
  const blocks = blocksOf(text).filter(({ label }) => label === "CERTIFICATE" || label === "X509 CERTIFICATE");
  if (blocks.length === 0) {
    throw new Failure("invalid", "certificate: none found. Use a PEM file that has -----BEGIN CERTIFICATE-----");
  }
  if (blocks.length > chainMax) {
    throw new Failure("invalid", `certificate: ${blocks.length} certificates in one chain; the most is ${chainMax}`);
  }
  return blocks.map(({ pem }) => {
    try {
      return new X509Certificate(pem);
    } catch (error) {
      throw new Failure("invalid", "certificate: the PEM text is damaged", { cause: error });
    }
  });
}

function readKey(text: string): KeyObject {
  const block = blocksOf(text).find(({ label }) => label.endsWith("PRIVATE KEY"));
  if (block === undefined) {
    throw new Failure("invalid", "key: none found. Use a PEM file that has -----BEGIN PRIVATE KEY-----");
  }
  if (block.label.startsWith("ENCRYPTED") || block.pem.includes("Proc-Type: 4,ENCRYPTED")) {
    throw new Failure("invalid", "key: protected with a passphrase. Remove it: openssl pkey -in KEY -out NEWKEY");
  }
  try {
    return createPrivateKey(block.pem);
  } catch (error) {
    throw new Failure("invalid", "key: the PEM text is damaged or of an unknown kind", { cause: error });
  }
}

/** Older locked keys have a head, with dashes in it: `DEK-Info: AES-256-CBC,…`. */
const blockPattern = /-----BEGIN ([A-Z0-9 ]{1,40})-----(?:\r?\n[A-Z][A-Za-z-]{1,30}: [^\r\n]*)*[^-]*-----END \1-----/g;

function blocksOf(text: string): { label: string; pem: string }[] {
  return [...text.matchAll(blockPattern)].map(([pem, label = ""]) => ({ label, pem }));
}

/** One line break at the end, no blank lines: the proxy's socket ends a text at the first blank line. */
function plain(pem: string): string {
  const lines = pem.split(/\r?\n/).filter((line) => line.trim() !== "");
  return `${lines.join("\n")}\n`;
}

function dnsNames(subjectAltName: string | undefined): string[] {
  const entries = (subjectAltName ?? "").split(", ");
  const names = entries.flatMap((entry) => (entry.startsWith("DNS:") ? [entry.slice(4).toLowerCase()] : []));
  return [...new Set(names)].filter(hostOk);
}

function issuerName(issuer: string): string {
  const fields = new Map(issuer.split("\n").map((line): [string, string] => fieldOf(line)));
  return fields.get("CN") ?? fields.get("O") ?? "unknown";
}

function fieldOf(line: string): [string, string] {
  const at = line.indexOf("=");
  return [line.slice(0, at), line.slice(at + 1)];
}
