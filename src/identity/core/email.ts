/** RFC 5321 section 4.5.3.1. */
const addressLengthMax = 254;
const localLengthMax = 64;

/** What of an address may stand before the @ without quotes (RFC 5322), letters of other scripts too (RFC 6531). */
const local = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const label = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u;

/** An address as it is kept and compared: trimmed, NFC, lower case, nothing folded; undefined when it is none. */
export function normaliseEmail(text: string): string | undefined {
  const address = text.trim().normalize("NFC").toLowerCase();
  const at = address.lastIndexOf("@");
  if (at < 1 || address.length > addressLengthMax || at > localLengthMax) return undefined;
  const labels = address.slice(at + 1).split(".");
  const isDomain = labels.length > 1 && labels.every((part) => label.test(part));
  return isDomain && local.test(address.slice(0, at)) ? address : undefined;
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
