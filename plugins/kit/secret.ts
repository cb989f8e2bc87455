/** A password of 256 bits that needs no escaping in URLs, SQL or configuration files. */
export function newPassword(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toHex();
}
