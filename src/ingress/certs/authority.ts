import type { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

/** Certificate and key of our own certificate authority, PEM. */
export interface Authority {
  certificate: string;
  key: string;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const dayMs = 86_400_000;
/** Ten years. */
const rootLifeMs = 3_652 * dayMs;
/** It stays in trust stores, so one that was made while the clock was a year ahead must be valid today. */
const rootBackdatedMs = 1_461 * dayMs;
export const leafLifeMs = 90 * dayMs;
/** Machines whose clocks are a little behind accept a certificate at once. */
const backdatedMs = 3_600_000;
/** Longest common name that X.509 allows. */
const commonNameMax = 64;

export interface AuthorityOptions {
  /** Shown by browsers and by the trust store of a machine. */
  commonName: string;
  /** Epoch milliseconds. */
  now: number;
}

/** Makes a root certificate (P-256) that can sign certificates of servers and nothing else below it. */
export async function createAuthority({ commonName, now }: AuthorityOptions): Promise<Authority> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const usages = x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign;
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: [{ CN: [commonName.slice(0, commonNameMax)] }],
    notBefore: new Date(now - rootBackdatedMs),
    notAfter: new Date(now + rootLifeMs),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(usages, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${root.toString("pem")}\n`, key: await keyPem(keys.privateKey) };
}

export interface LeafOptions {
  names: readonly string[];
  now: number;
}

/** Issues a certificate for `names` with a new key. It never outlives its root. */
export async function issueLeaf(
  authority: Authority,
  { names, now }: LeafOptions,
): Promise<{ certificate: string; key: string }> {
  const root = new x509.X509Certificate(authority.certificate);
  const signingKey = await importKey(authority.key);
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const notAfter = Math.min(now + leafLifeMs, root.notAfter.getTime());
  const leaf = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: subjectOf(names),
    issuer: root.subjectName,
    notBefore: new Date(now - backdatedMs),
    notAfter: new Date(notAfter),
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: "dns" as const, value }))),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(root),
    ],
  });
  return { certificate: `${leaf.toString("pem")}\n`, key: await keyPem(keys.privateKey) };
}

/** Longer ones are refused by some clients. */
const selfSignedLifeMs = 825 * dayMs;

/** A certificate of a server that only the server itself signed, for clients that know its fingerprint. */
export async function selfSigned({
  names,
  addresses,
  now,
}: LeafOptions & { addresses: readonly string[] }): Promise<{ certificate: string; key: string }> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const alternatives = [
    ...names.map((value) => ({ type: "dns" as const, value })),
    ...addresses.map((value) => ({ type: "ip" as const, value })),
  ];
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: subjectOf(names.toReversed()),
    notBefore: new Date(now - backdatedMs),
    notAfter: new Date(now + selfSignedLifeMs),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(alternatives),
    ],
  });
  return { certificate: `${made.toString("pem")}\n`, key: await keyPem(keys.privateKey) };
}

/** Clients read the alternative names; the subject is for people. */
function subjectOf(names: readonly string[]): x509.JsonName {
  const name = names.find(({ length }) => length <= commonNameMax);
  return [{ CN: [name ?? "certificate"] }];
}

/** 127 random bits: positive, and never the same twice. */
function serial(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return Buffer.from(bytes).toString("hex");
}

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  return `${x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY")}\n`;
}

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const [der] = x509.PemConverter.decode(pem);
  if (der === undefined) throw new TypeError("the key of the certificate authority is empty");
  return crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
}

const authorityKeyIdentifier = "2.5.29.35";

/** Hexadecimal key identifier of who issued the first certificate of a chain; undefined where it is not named. */
export function keyIdentifierOf(chain: string): string | undefined {
  // By number: the class of an extension is another one when `acme-client` has loaded the package for itself.
  const extension = new x509.X509Certificate(chain).getExtension(authorityKeyIdentifier);
  return extension === null ? undefined : new x509.AuthorityKeyIdentifierExtension(extension.rawData).keyId;
}
