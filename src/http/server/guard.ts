import type { Refusal } from "./refusal.ts";
import { headerOf, type RequestHead } from "./request-head.ts";

/** `peers`: a listener that knows its clients by their addresses, and that no browser has business with. */
export type Transport = "tcp" | "unix" | "peers";

/**
 * Keeps web pages away from a plane that has no sign-in of its own. A page can make the operator's browser send
 * requests to loopback (CSRF), or point a name of its own there (DNS rebinding): the first shows in `Origin` and
 * `Sec-Fetch-Site`, the second in `Host`. No browser reaches a unix socket under a name, so there `Host` counts only
 * for requests that look like a browser's.
 */
export function guard(head: RequestHead, transport: Transport): Refusal | undefined {
  const origin = headerOf(head, "origin");
  const site = headerOf(head, "sec-fetch-site");
  const browser = origin !== undefined || site !== undefined;
  if (transport === "peers" && browser) return forbidden("this listener answers no web pages");
  if ((transport === "tcp" || browser) && head.host !== undefined && !isLoopbackHost(head.host)) {
    return forbidden(
      `host ${JSON.stringify(head.host)} is not a loopback name, connect to localhost or 127.0.0.1 (this keeps web pages out)`,
    );
  }
  if (origin !== undefined && origin.toLowerCase() !== `http://${head.host ?? ""}`.toLowerCase()) {
    return forbidden(
      `origin ${JSON.stringify(origin)} is another site, this listener answers no web pages; use the command line or a reverse proxy with its own sign-in`,
    );
  }
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    return forbidden(
      `the browser says this request comes from another site (Sec-Fetch-Site ${JSON.stringify(site)}), this listener answers no web pages; use the command line`,
    );
  }
  return undefined;
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
