import type { Refusal } from "./refusal.ts";
import { headerOf, type RequestHead } from "./request-head.ts";

/** `peers`: a listener that knows its clients by their addresses, and that no browser has business with. */
export type Transport = "tcp" | "unix" | "peers";

/** The rules of one listener. */
interface GuardRules {
  transport: Transport;
  /** Names and addresses that front the plane: lower case, without a port, IPv6 in brackets. */
  allowedHosts: readonly string[];
}

/**
 * Keeps web pages away from a plane that has no sign-in of its own. A page can make the operator's browser send
 * requests to loopback (CSRF), or point a name of its own there (DNS rebinding): the first shows in `Origin` and
 * `Sec-Fetch-Site`, the second in `Host`. No browser reaches a unix socket under a name, so there `Host` counts only
 * for requests that look like a browser's. A proxy in front may pass on a listed name in both, and speak https.
 */
export function guard(head: RequestHead, { transport, allowedHosts }: GuardRules): Refusal | undefined {
  const origin = headerOf(head, "origin");
  const site = headerOf(head, "sec-fetch-site");
  const browser = origin !== undefined || site !== undefined;
  const isListed = (host: string) => allowedHosts.includes(nameOf(host));
  if (transport === "peers" && browser) return forbidden("this listener answers no web pages");
  if ((transport === "tcp" || browser) && head.host !== undefined && !isLoopbackHost(head.host)) {
    if (!isListed(head.host)) return forbidden(hostText(head.host));
  }
  if (origin !== undefined && !isOwnOrigin(origin.toLowerCase(), head.host ?? "", isListed)) {
    return forbidden(
      `origin ${JSON.stringify(origin)} is another site, this listener answers no web pages; use the command line, ` +
        "or a reverse proxy with its own sign-in whose name berth serve knows by --allowed-hosts",
    );
  }
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    return forbidden(
      `the browser says this request comes from another site (Sec-Fetch-Site ${JSON.stringify(site)}), this listener answers no web pages; use the command line`,
    );
  }
  return undefined;
}

/** The listener itself, or a listed name: a proxy may have put its own `Host` in place of the browser's. */
function isOwnOrigin(origin: string, host: string, isListed: (host: string) => boolean): boolean {
  if (origin === `http://${host.toLowerCase()}`) return true;
  const [, named = ""] = /^https?:\/\/([^/]+)$/.exec(origin) ?? [];
  return named !== "" && isListed(named);
}

function hostText(host: string): string {
  const name = nameOf(host);
  const list = name === "" ? "" : `; if a proxy of yours has this name, start berth serve with --allowed-hosts ${name}`;
  return `host ${JSON.stringify(host)} is not a loopback name, connect to localhost or 127.0.0.1 (this keeps web pages out)${list}`;
}

/** Without the port, in lower case; empty where it is not a host. */
function nameOf(host: string): string {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/.exec(host.toLowerCase())?.[1] ?? "";
}

/** `localhost`, 127.0.0.0/8 or `[::1]`, with any port or none. */
export function isLoopbackHost(host: string): boolean {
  const [, name = ""] = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(host.toLowerCase()) ?? [];
  if (name === "localhost" || name === "localhost." || name === "[::1]") return true;
  const [, ...rest] = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(name) ?? [];
  return rest.length === 3 && rest.every((part) => Number(part) <= 255);
}

function forbidden(message: string): Refusal {
  return { status: 403, message };
}
