import { asciiDomain } from "../../base/pure/domain-names.ts";

/** RFC 5321 section 4.5.3.1. */
const addressLengthMax = 254;
const localLengthMax = 64;

/** What of an address may stand before the @ without quotes (RFC 5322), letters of other scripts too (RFC 6531). */
const local = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;

/**
 * An address as it is stored and compared, undefined when it is none: trimmed, the name NFC and lower case, the domain
 * as mail servers know it (`münchen.de` is `xn--mnchen-3ya.de`, as browsers send it). Nothing else is folded.
 */
export function normaliseEmail(text: string): string | undefined {
  const address = text.trim().normalize("NFC");
  const at = address.lastIndexOf("@");
  const name = address.slice(0, Math.max(0, at)).toLowerCase();
  const domain = asciiDomain(address.slice(at + 1));
  if (domain === undefined || !domain.includes(".") || name.length > localLengthMax || !local.test(name))
    return undefined;
  const email = `${name}@${domain}`;
  return email.length > addressLengthMax ? undefined : email;
}

/** The address that a search for exactly this text means. */
export function searchedEmail(text: string): string {
  return normaliseEmail(text) ?? text.toWellFormed().normalize("NFC").toLowerCase();
}

/** `ana+shop@example.com` */
export function isSubaddress(email: string): boolean {
  return email.slice(0, email.lastIndexOf("@")).includes("+");
}

/** Whether an address is one that we hand out ourselves: such an address never gets mail, and never joins anything. */
export function isPlaceholder(email: string, placeholderDomain: string): boolean {
  const domain = email.slice(email.lastIndexOf("@") + 1);
  const reserved = placeholderDomain.toLowerCase();
  return reserved !== "" && (domain === reserved || domain.endsWith(`.${reserved}`));
}
