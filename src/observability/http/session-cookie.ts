import { jwt } from "@elysiajs/jwt";
import type { Secret } from "../../base/words/secret.ts";

/**
 * The cookie of a session: a token that this installation has signed, with one secret and HS256 alone. It names the
 * session; what that may do is asked for with every request.
 */
export interface SessionCookie {
  /** The id of the session; undefined without a cookie, and for one that is not ours, was altered or is over. */
  read(request: Request, secure: boolean): Promise<string | undefined>;
  /** Value of a `Set-Cookie` header. `expiresAt` in epoch milliseconds. */
  write(session: { id: string; expiresAt: number }, secure: boolean): Promise<string>;
  clear(secure: boolean): string;
  /** The secret that binds a sign-in which is under way to this browser. */
  readPending(request: Request, secure: boolean): string | undefined;
  writePending(secret: string, maxAgeMs: number, secure: boolean): string;
  clearPending(secure: boolean): string;
}

interface CookieOptions {
  /** 32 bytes, for nothing else. */
  key: Secret<Uint8Array>;
  /** Tells servers on one host apart, since a browser sends a cookie to every port. */
  installation: string;
  now: () => number;
}

const algorithm = "HS256";
/**
 * A browser sends a cookie without `Secure` to every port of its host, also to an app behind a forwarded port. One that
 * was made for plain HTTP on this machine is therefore worth nothing over TLS, which other machines can use.
 */
const audienceOf = (secure: boolean) => (secure ? "web-ui" : "web-ui-plain");

export function createSessionCookie({ key, installation, now }: CookieOptions): SessionCookie {
  const { sign, verify } = jwt({ name: "session", secret: key.reveal(), alg: algorithm }).decorator.session;
  const ours = installation.replaceAll(/[^a-zA-Z0-9]/g, "").slice(0, 8);
  // The prefix makes browsers refuse a cookie that another host of the domain has set (RFC 6265bis).
  const named = (plain: string) => (secure: boolean) => (secure ? `__Host-${plain}` : plain);
  const nameOf = named(`berth_session_${ours}`);
  const pendingOf = named(`berth_sign_in_${ours}`);
  const lineOf = (name: string, value: string, { maxAgeSeconds, secure }: { maxAgeSeconds: number; secure: boolean }) =>
    `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  const line = (value: string, maxAgeSeconds: number, secure: boolean) =>
    lineOf(nameOf(secure), value, { maxAgeSeconds, secure });
  return {
    async read(request, secure) {
      const token = cookieOf(request, nameOf(secure));
      if (token === undefined) return undefined;
      const claims = await verify(token, {
        algorithms: [algorithm],
        audience: audienceOf(secure),
        currentDate: new Date(now()),
      });
      return claims === false || typeof claims.jti !== "string" ? undefined : claims.jti;
    },
    async write({ id, expiresAt }, secure) {
      const seconds = Math.floor(expiresAt / 1_000);
      const token = await sign({ jti: id, aud: audienceOf(secure), exp: seconds, iat: false });
      return line(token, Math.max(0, seconds - Math.floor(now() / 1_000)), secure);
    },
    clear: (secure) => line("", 0, secure),
    readPending: (request, secure) => cookieOf(request, pendingOf(secure)),
    writePending: (secret, maxAgeMs, secure) =>
      lineOf(pendingOf(secure), secret, { maxAgeSeconds: Math.floor(maxAgeMs / 1_000), secure }),
    clearPending: (secure) => lineOf(pendingOf(secure), "", { maxAgeSeconds: 0, secure }),
  };
}

function cookieOf(request: Request, name: string): string | undefined {
  const start = `${name}=`;
  const found = (request.headers.get("cookie") ?? "").split(";").map((part) => part.trim());
  return found.find((part) => part.startsWith(start))?.slice(start.length) || undefined;
}
