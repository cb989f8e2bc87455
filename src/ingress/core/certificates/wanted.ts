import { canonicalJson, sha256Hex } from "../../../base/pure/digest.ts";
import { certificateId, covers } from "./names.ts";

/** What the manifests ask for: certificates for these names by this issuer. */
export interface WantedCertificate {
  /** Lower-case host names, wildcards included. */
  names: readonly string[];
  issuer: Issuer;
  /** Issued on demand: the address that decides whether the names get a certificate. */
  ask?: string;
}

export type Issuer = AcmeIssuer | { kind: "internal" } | FileIssuer;

/** A certificate authority that speaks ACME (RFC 8555). */
export interface AcmeIssuer {
  kind: "acme";
  /** URL of the directory. */
  directory: string;
  /** Contact of the account. */
  email: string | undefined;
  /** PEM of the certificates that the CA's own address is checked against; undefined: those of the machine. */
  root: string | undefined;
  /** Credentials of an account at the CA (external account binding), which some CAs require. */
  eab: { keyId: string; key: string } | undefined;
  /** Plugin that sets TXT records: DNS-01 in place of HTTP-01. Wildcards need it. */
  dnsPlugin: string | undefined;
  /** Ask the CA without looking first whether the name leads here. */
  skipChecks: boolean;
}

/** A certificate that the operator brings. */
export interface FileIssuer {
  kind: "file";
  /** PEM file of the certificate and its chain, as `readFile` of the certificates finds it. */
  certificate: string;
  /** PEM file of the key; may be the same file. */
  key: string;
}

/** One certificate to have. */
export interface Target {
  /** Id of the certificate. */
  id: string;
  /** Never empty. One name where we issue: a name that fails holds up no other. */
  names: readonly string[];
  issuer: Issuer;
  /** Identity of the issuer: a certificate is issued again when it changes. */
  issuerKey: string;
  /** Issued on demand: the address that decides whether the name gets a certificate. */
  ask?: string;
}

/** Directories by the name that manifests use. */
export const letsencrypt = "https://acme-v02.api.letsencrypt.org/directory";
export const letsencryptStaging = "https://acme-staging-v02.api.letsencrypt.org/directory";

/**
 * The certificates to have, in the order of their ids. A name that several ask for follows the first; a name that a
 * wanted wildcard of the same issuer covers needs none of its own.
 */
export function targetsOf(wanted: readonly WantedCertificate[]): Target[] {
  const byName = new Map<string, Issuer>();
  const asks = new Map<string, string>();
  const files = new Map<string, { issuer: FileIssuer; names: Set<string> }>();
  for (const { names, issuer, ask } of wanted) {
    for (const name of names) {
      if (byName.has(name)) continue;
      byName.set(name, issuer);
      if (ask !== undefined) asks.set(name, ask);
      if (issuer.kind !== "file") continue;
      const file = files.get(issuerKey(issuer)) ?? { issuer, names: new Set<string>() };
      files.set(issuerKey(issuer), { ...file, names: file.names.add(name) });
    }
  }
  const issued = [...byName].filter(([name, issuer]) => issuer.kind !== "file" && !hasWildcard(byName, name, issuer));
  const targets = [
    ...issued.map(([name, issuer]) => withAsk(targetOf([name], issuer), asks.get(name))),
    ...[...files.values()].map(({ issuer, names }) => fileTarget([...names].toSorted(), issuer)),
  ];
  return targets.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The id of a brought certificate follows from its files alone: hosts come and go without a new one. */
function fileTarget(names: readonly string[], issuer: FileIssuer): Target {
  const target = targetOf(names, issuer);
  return { ...target, id: certificateId(["file"], target.issuerKey) };
}

function withAsk(target: Target, ask: string | undefined): Target {
  return ask === undefined ? target : { ...target, ask };
}

function targetOf(names: readonly string[], issuer: Issuer): Target {
  const key = issuerKey(issuer);
  return { id: certificateId(names, key), names, issuer, issuerKey: key };
}

function hasWildcard(byName: ReadonlyMap<string, Issuer>, name: string, issuer: Issuer): boolean {
  const wildcard = `*${name.slice(name.indexOf("."))}`;
  const other = byName.get(wildcard);
  return other !== undefined && name !== wildcard && covers(wildcard, name) && issuerKey(other) === issuerKey(issuer);
}

/** Settings that do not change who issues, such as the contact or the challenge, are left out. */
export function issuerKey(issuer: Issuer): string {
  switch (issuer.kind) {
    case "acme":
      return `acme ${issuer.directory}`;
    case "internal":
      return "internal";
    case "file":
      return `file ${issuer.certificate} ${issuer.key}`;
  }
}

/** Names the account at a CA: one per directory, contact and external account. */
export function accountKey({ directory, email = "", eab }: AcmeIssuer): string {
  return sha256Hex(canonicalJson([directory, email, eab?.keyId ?? ""])).slice(0, 32);
}
