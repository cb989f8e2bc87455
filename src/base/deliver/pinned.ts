import { isIP } from "node:net";

/** The same address with the host replaced by one of its IP addresses: nothing is left to resolve. */
export function pinnedUrl(url: URL, address: string): string {
  const host = isIP(address) === 6 ? `[${address}]` : address;
  return `${url.protocol}//${host}${url.port === "" ? "" : `:${url.port}`}${url.pathname}${url.search}`;
}

/** What the certificate behind a pinned address must be for: the name that was asked for. */
export function pinnedTls(url: URL): { tls?: { serverName: string } } {
  const isNamed = url.protocol === "https:" && isIP(url.hostname.replace(/^\[|\]$/g, "")) === 0;
  return isNamed ? { tls: { serverName: url.hostname } } : {};
}
