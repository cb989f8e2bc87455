import { isIP, isIPv6 } from "node:net";
import type { ProxyVariables } from "../pure/proxy-choice.ts";
import { proxyAddress, through } from "../wire/outgoing.ts";
import { isPublicAddress } from "./address-guard.ts";

/**
 * Sends a request to an address that was checked. `pinned` is the URL with this address as its host, `asked` the URL with
 * the name that was looked up.
 */
export type PinnedFetch = (pinned: string, init: BunFetchRequestInit, asked: URL) => Promise<Response>;

/**
 * Straight to the checked address, or through the proxy that the environment names for the host. The proxy is asked for a
 * tunnel to the checked address and never for the name: it would look the name up again, in its own network. Addresses
 * that are not public and plain http, which has no tunnel, never go through a proxy.
 */
export function createPinned(variables: ProxyVariables): PinnedFetch {
  return async (pinned, init, asked) => {
    const address = new URL(pinned).hostname.replace(/^\[|\]$/g, "");
    const mayUse = asked.protocol === "https:" && isPublicAddress(address);
    return through(mayUse ? proxyAddress(asked, variables) : undefined, pinned, init);
  };
}

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

/**
 * Settings that hold git to one address of a URL (http or https), and to no other by a redirect or a proxy. Without
 * `http.curloptResolve`, which git has from 2.37 on, it would resolve the name again.
 */
export function pinnedGit(url: URL, address: string): [string, string][] {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? (url.protocol === "http:" ? "80" : "443") : url.port;
  const target = isIPv6(address) ? `[${address}]` : address;
  return [
    ["http.followRedirects", "false"],
    ["http.proxy", ""],
    ...(isIP(host) > 0 ? [] : [["http.curloptResolve", `${host}:${port}:${target}`] satisfies [string, string]]),
  ];
}
