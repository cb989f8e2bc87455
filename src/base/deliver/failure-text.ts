import { Failure } from "../wire/failure.ts";

const texts: Record<string, string> = {
  ConnectionRefused: "connection refused",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was cut off",
  ConnectionClosed: "the connection was cut off",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  CERT_HAS_EXPIRED: "the certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another host",
  ERR_PROXY_TUNNEL: "the proxy refuses to connect to it",
};

/**
 * Why an attempt failed, in a few words that are safe to show: the platform's own texts repeat the whole address,
 * which may hold a token.
 */
export function failureText(error: unknown, timeoutMs: number): string {
  if (error instanceof Failure) return error.message;
  if (error instanceof DOMException && error.name === "TimeoutError") return `no answer within ${timeoutMs / 1_000} s`;
  const code = codeOf(error);
  if (code === undefined) return "the request cannot be made as written";
  return texts[code] ?? `cannot be reached (${code})`;
}

/** Whether a connection ended while a request was under way: what it carried may be the reason. */
export function isCut(error: unknown): boolean {
  const cutCodes = ["ECONNRESET", "ConnectionClosed", "EPIPE"];
  return cutCodes.includes(codeOf(error instanceof Failure ? error.cause : error) ?? "");
}

/** Codes of a connection that ended before a request was sent on it. */
const unsentCodes = new Set([
  "ConnectionRefused",
  "ECONNREFUSED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "CERT_HAS_EXPIRED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "ERR_PROXY_TUNNEL",
]);

/** Whether the other side certainly got nothing of the request. */
export function isUnsent(error: unknown): boolean {
  return error instanceof Failure || unsentCodes.has(codeOf(error) ?? "");
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" && /^\w+$/.test(error.code) ? error.code : undefined;
}
