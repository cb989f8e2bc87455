/** Names that never leave the machine: `localhost` and what is below it, 127.0.0.0/8, `[::1]`. As `URL.hostname` says them. */
export function isLoopbackHost(hostname: string): boolean {
  if (hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]") return true;
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
}

/**
 * Where browsers reach an instance, without a slash at the end: its own host (https, or http on the port of the base
 * where both are loopback), and without one a path below the base.
 */
export function instanceUrl(baseUrl: string, { id, host }: { id: string; host: string | undefined }): string {
  if (host === undefined) return `${baseUrl}/i/${id}`;
  const base = new URL(baseUrl);
  const local = base.protocol === "http:" && isLoopbackHost(host);
  return local ? `http://${host}${base.port === "" ? "" : `:${base.port}`}` : `https://${host}`;
}
