import { hostOk } from "../hosts.ts";

/** RFC 5321 section 4.5.3.1: of the part before the @, and of the whole address. */
const localMax = 64;
const addressMax = 254;

/** Nothing that a mail header, a log line or a search query could take for something else. */
const localPattern = /^[^\s\p{C}@<>()[\]\\,;:"]+$/u;

/**
 * The one spelling of an address: trimmed, NFC, lower case; plus signs and dots stay. Undefined where it is none. A
 * domain in another script is written in its xn-- form.
 */
export function normalEmail(text: string): string | undefined {
  if (text.length > 4 * addressMax) return undefined;
  const address = text.trim().normalize("NFC").toLowerCase();
  const at = address.lastIndexOf("@");
  const local = address.slice(0, at);
  const fits = at > 0 && bytes(local) <= localMax && bytes(address) <= addressMax;
  return fits && localPattern.test(local) && hostOk(address.slice(at + 1)) ? address : undefined;
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

/** Of a domain that is reserved for addresses made by us, or below it: such an address is nobody's. */
export function isPlaceholderAddress(address: string, placeholderDomain: string): boolean {
  const domain = domainOf(address).toLowerCase();
  const reserved = placeholderDomain.toLowerCase();
  return domain === reserved || domain.endsWith(`.${reserved}`);
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
