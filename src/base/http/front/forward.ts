import type { RequestHead } from "./request-head.ts";

/** Methods that the inner server's parser knows; it drops the connection on others without an answer. */
export const knownMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];

/** Meant for this hop only (RFC 9110 section 7.6.1), or replaced below. */
const notForwarded = new Set([
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
 * The request as the inner server gets it: written anew from what was understood, so that both always agree on where
 * it ends. The body arrives whole, so it always has a length. HTTP/1.0 stays: its answer may not be chunked. A header
 * that is added takes the place of the client's own of that name.
 */
export function forwardedRequest(
  head: RequestHead,
  body: Uint8Array[],
  added?: { name: string; value: string },
): Uint8Array {
  const length = body.reduce((sum, part) => sum + part.length, 0);
  let text = `${head.method} ${head.target} HTTP/${head.version}\r\nHost: localhost\r\n`;
  const replaced = added?.name.toLowerCase();
  for (const [name, value] of head.headers) {
    if (!notForwarded.has(name) && name !== replaced) text += `${name}: ${value}\r\n`;
  }
  if (added !== undefined) text += `${added.name}: ${added.value}\r\n`;
  if (head.framing.kind !== "none") text += `Content-Length: ${length}\r\n`;
  const bytes = Buffer.from(`${text}\r\n`, "latin1");
  return length === 0 ? bytes : Buffer.concat([bytes, ...body]);
}
