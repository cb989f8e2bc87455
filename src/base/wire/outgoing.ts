import { type ProxyVariables, proxyFor } from "../pure/proxy-choice.ts";
import { Failure } from "./failure.ts";

/** The platform's `fetch`, with one of the ways of this file. */
export type Fetch = (url: string, init?: BunFetchRequestInit) => Promise<Response>;

/**
 * Straight to the host: for loopback, containers, tunnels and checked addresses. The platform would send also those to
 * the proxy that the environment names.
 */
export const direct: Fetch = (url, init) => fetch(url, { ...init, proxy: false });

/** Out of this machine: through the proxy that the environment names for a URL, if any. */
export function createOutside(variables: ProxyVariables): Fetch {
  return async (url, init) => through(proxyAddress(new URL(url), variables), url, init);
}

/** Through a proxy of `proxyAddress`; directly where that is undefined. */
export function through(proxy: string | undefined, url: string, init?: BunFetchRequestInit): Promise<Response> {
  return proxy === undefined ? direct(url, init) : fetch(url, { ...init, proxy });
}

/**
 * The address of the proxy that the environment names for a URL; undefined for none. Fails `invalid` where it is not an
 * HTTP proxy, in words without the address, which may hold a password.
 */
export function proxyAddress(url: URL, variables: ProxyVariables): string | undefined {
  const found = proxyFor(url, variables);
  if (found === undefined) return undefined;
  const address = found.value.includes("://") ? found.value : `http://${found.value}`;
  const protocol = URL.parse(address)?.protocol;
  if (protocol === "http:" || protocol === "https:") return address;
  const what = protocol === undefined ? "is not an address" : `names a proxy for "${protocol.slice(0, -1)}"`;
  throw new Failure("invalid", `the variable ${found.variable} ${what}; write http://HOST:PORT`);
}
