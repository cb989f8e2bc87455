import { sha256Hex } from "../../../base/pure/digest.ts";

/**
 * Whether a certificate for `name` is valid for `host` (RFC 6125, section 6.4.3): a wildcard stands for exactly one
 * label. A wildcard host is covered only by the same wildcard. Both are lower case.
 */
export function covers(name: string, host: string): boolean {
  if (name === host) return true;
  if (!name.startsWith("*.") || host.startsWith("*.")) return false;
  const dot = host.indexOf(".");
  return dot > 0 && host.slice(dot) === name.slice(1);
}

/** Labels that many countries use as the second level: `example.co.uk` is registered, `co.uk` is not. */
const secondLevels = new Set(["ac", "co", "com", "edu", "go", "gob", "gov", "mil", "ne", "net", "nom", "or", "org"]);

/**
 * The domain that a CA counts a name under, by rule of thumb and without the public suffix list: the last two labels,
 * or three under a country's second level. A guess that is too short makes the budget stricter, never looser.
 */
export function registeredDomain(name: string): string {
  const labels = name.replace(/^\*\./, "").split(".");
  const [second = "", top = ""] = labels.slice(-2);
  const isCountry = top.length === 2 && secondLevels.has(second);
  return labels.slice(isCountry ? -3 : -2).join(".");
}

/** Longest part of a name in an id: file names end at 255 bytes. */
const idNameMax = 80;

/**
 * Id of the certificate of `names` by one issuer, of `[a-z0-9._-]`: readable, the same through renewals, and different
 * for other names or another issuer.
 */
export function certificateId(names: readonly string[], issuer: string): string {
  const readable = (names[0] ?? "none").replace("*", "_").slice(0, idNameMax);
  const digest = sha256Hex([issuer, ...names.toSorted()].join("\n")).slice(0, 12);
  return `${readable.replace(/[^a-z0-9._-]/g, "_")}-${digest}`;
}
