/**
 * Whether a page of `origin` belongs to an app that browsers are sent back to: scheme, host and port of one of its
 * addresses, on `127.0.0.1` and `[::1]` any port (RFC 8252, section 7.3).
 */
export function allowsOrigin(redirectUris: readonly string[], origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const asked = new URL(origin);
  if (asked.origin !== origin) return false;
  return redirectUris.some((uri) => URL.canParse(uri) && sameOrigin(new URL(uri), asked));
}

function sameOrigin(listed: URL, asked: URL): boolean {
  if (listed.origin === asked.origin) return listed.origin !== "null";
  const anyPort = listed.hostname === "127.0.0.1" || listed.hostname === "[::1]";
  return anyPort && listed.hostname === asked.hostname && listed.protocol === asked.protocol;
}
