import type { RequestHead } from "./request-head.ts";

/** Methods that a request of the app can have; the app answers 405 to those that it does not serve. */
export const knownMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];

/** Meant for this hop only (RFC 9110 section 7.6.1), or replaced below. */
const notPassedOn = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Whether the URL of a request would have another path than the client sent: the URL parser takes `.` and `..` out,
 * turns backslashes into slashes and cuts at `#`. Such paths are refused, so that what was checked is what is served.
 */
export function isRewrittenPath(path: string): boolean {
  return /[\\#]/.test(path) || (path.includes(".") || path.includes("%") ? hasDotSegment(path) : false);
}

function hasDotSegment(path: string): boolean {
  return path.split("/").some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

/**
 * The request as the app gets it. The client's `Host` stays outside: the guard has judged it. A header that is added
 * takes the place of the client's own of that name.
 */
export function appRequest(
  head: RequestHead,
  body: Uint8Array[],
  { added, signal }: { added: { name: string; value: string } | undefined; signal: AbortSignal },
): Request {
  const headers = new Headers({ host: "localhost" });
  const replaced = added?.name.toLowerCase();
  for (const [name, value] of head.headers) {
    if (!notPassedOn.has(name) && name !== replaced) headers.append(name, value);
  }
  if (added !== undefined) headers.set(added.name, added.value);
  const url = `http://localhost${head.target}`;
  const { method } = head;
  if (method === "GET" || method === "HEAD" || head.framing.kind === "none") {
    return new Request(url, { method, headers, signal });
  }
  const whole = body.length === 1 && body[0] !== undefined ? body[0] : Buffer.concat(body);
  headers.set("content-length", String(whole.length));
  return new Request(url, { method, headers, signal, body: whole });
}

/** Whether the answer may be sent in chunks, which HTTP/1.0 does not know. */
export function knowsChunks(head: RequestHead): boolean {
  return head.version === "1.1";
}
