import { createClientAddress, createTrust, type Proxies } from "../../base/http/client-address.ts";

/** How a request came. */
export interface ClientConnection {
  /** Address of the client itself, behind proxies that are trusted. */
  ip: string;
  /** TLS, here or at a trusted proxy. */
  tls: boolean;
  /** No one on a network can read along: TLS, or a client on this machine (also the end of an ssh tunnel). */
  isPrivate: boolean;
}

export function createClientConnection(options: Proxies): (request: Request) => ClientConnection {
  const clientIp = createClientAddress(options);
  const isTrusted = createTrust(options);
  return (request) => {
    const ip = clientIp(request);
    // Only a proxy whose word about the client counts is believed about the scheme.
    const isProxied = request.headers.has("x-forwarded-for") && isTrusted(request);
    const scheme = isProxied ? request.headers.get("x-forwarded-proto") : undefined;
    const tls = request.url.startsWith("https:") || scheme?.trim().toLowerCase() === "https";
    // A proxy of this machine connects from loopback as well, and its clients may be anywhere.
    const isHere = isLoopback(options.peerOf(request)) && !proxyHeaders.some((name) => request.headers.has(name));
    return { ip, tls, isPrivate: tls || isHere };
  };
}

const proxyHeaders = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip", "forwarded", "via"];

function isLoopback(ip: string): boolean {
  return ip === "::1" || /^127\.\d+\.\d+\.\d+$/.test(ip);
}

/** Whether a page of another site sent a request, as far as the browser tells. */
export function isCrossSite(headers: Headers): boolean {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return true;
  if (origin === null) return false;
  const host = headers.get("host");
  return !URL.canParse(origin) || new URL(origin).host !== host;
}

/** Whether a page of this very plane sent a request: a browser adds the origin of the page to each WebSocket. */
export function isOwnOrigin(headers: Headers, { tls }: Pick<ClientConnection, "tls">): boolean {
  const origin = headers.get("origin");
  if (origin === null || !URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  return protocol === (tls ? "https:" : "http:") && host === headers.get("host");
}
